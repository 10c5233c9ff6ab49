==== a signature
main :: i32 -> i32
main x = x + 1
==== let in several lines without in
def main (x: i32) =
  let y = x + 1
  let z = y * 2
==== where
def main (x: i32) = y + 1 where y = x
==== case of
def main (x: i32) = case x of 1 -> 2
==== dollar
def main (xs: []i32) = map (+ 1) $ filter (> 0) xs
==== composition
def main (xs: []i32) = (map (+ 1) . filter (> 0)) xs
==== cons
def main (xs: []i32) = 1 : xs
==== a list type
def main (xs: [i32]) = xs
==== a guard
def main (x: i32) | x > 0 = 1
==== data
data colour = red | green
==== Just
def main (x: i32) = Just x
==== fst
def main (x: (i32, i32)) = fst x
==== a prefix operator
def main (xs: []i32) = foldl (+) 0 xs
==== a section with minus
def main (xs: []i32) = map (- 1) xs
==== mod
def main (x: i32) = mod x 2
==== infix mod
def main (x: i32) = x `mod` 2
==== div
def main (x: i32) = div x 2
==== a range with dots
def main (n: i64) = [0..n]
==== fromIntegral
def main (x: i32) = fromIntegral x
==== inequality
def main (x: i32) = x /= 2
==== otherwise
def main (x: i32) = otherwise
==== do
def main (x: i32) = do x
==== replicate reversed
def main (n: i64) = replicate 0.0 n
==== head of a function
def main (xs: []i32) = head
==== type class
def sum (Num a) (xs: []a) = xs
==== a type variable without quote
def id (x: t) = x
==== a constructor without hash
type colour = red | green
==== two equations
def f 0 = 1
def f n = n
==== type application
def main = length ([] : []i32)
==== recursion
def fact (n: i64): i64 = if n == 0 then 1 else n * fact (n - 1)
==== zipWith
def main (xs: []i32) = zipWith (+) xs xs
==== flip
def main (xs: []i32) = map (flip (-) 1) xs
==== elem
def main (xs: []i32) = elem 1 xs
==== show
def main (x: i32) = show x
==== unit
def main () = 1
==== an arrow in front of the result type
def main (x: i32) -> i32 = x
