==== assigning without let
def main (x: i32) =
  y = x + 1
  in y
==== a definition without def
x = 3
==== and
def main (x: bool) (y: bool) = x and y
==== or
def main (x: bool) (y: bool) = x or y
==== not
def main (x: bool) = not x
==== for in
def main (n: i64) = for i in 0..n do i
==== while
def main (n: i64) = while n > 0 do n - 1
==== sum
def main (xs: []f64) = sum xs
==== print
def main (x: i32) = print x
==== range
def main (n: i64) = map (+ 1) (range n)
==== len
def main (xs: []i32) = len xs
==== power with two stars
def main (x: i32) = x ** 2
==== a power of a float by an integer
def main (x: f64) = x ** 2
==== floor division
def main (x: i32) = x // 2
==== equality with a single sign
def main (x: i32) = if x = 1 then 2 else 3
==== no else
def main (x: i32) = if x == 1 then 2
==== elif
def main (x: i32) = if x == 1 then 2 elif x == 2 then 3 else 4
==== else if with a colon
def main (x: i32) = if x == 1: 2 else: 3
==== a conditional expression
def main (x: i32) = x if x > 0 else -x
==== True
def main = True
==== None
def main = None
==== a comment with a hash
# doubles
def main (x: i32) = x * 2
==== lambda
def main (xs: []i32) = map (lambda x: x + 1) xs
==== a list comprehension
def main (xs: []i32) = [x + 1 for x in xs]
==== return
def main (x: i32) = return x
==== def with a colon
def main(x): x + 1
==== a call with commas
def f (x: i32) (y: i32) = x + y
def main (x: i32) = f(x, 2)
==== a method
def main (xs: []i32) = xs.map (\x -> x + 1)
==== length as a field
def main (xs: []i32) = xs.length
==== np
def main (n: i64) = np.zeros n
==== an f-string
def main (x: i32) = f"{x}"
==== a slice with a stride in the middle
def main (xs: []i32) = xs[1:10:2]
==== a negative index
def main (xs: []i32) = xs[-1]
==== two indices
def main (xs: [][]i32) = xs[1][2]
==== a matrix product
def main (a: [][]f64) (b: [][]f64) = a @ b
==== plus equals
def main (x: i32) = let y += x in y
==== is
def main (x: i32) = x is 3
==== a tuple by brackets
def main (x: (i32, i32)) = x[0]
==== max of two
def main (x: i32) (y: i32) = max x y
==== abs
def main (x: i32) = abs x
==== sqrt
def main (x: f64) = sqrt x
==== zeros
def main (n: i64) = zeros n
==== sort
def main (xs: []i32) = sort xs
==== pass
def main (x: i32) = pass
==== import
import math
def main (x: f64) = math.sqrt x
==== string
def main: string = "hello"
==== append
def main (xs: []i32) = append xs 1
==== concatenation by plus
def main (xs: []i32) (ys: []i32) = xs + ys
==== an array times a number
def main (xs: []f64) = xs * 2
==== a lambda with a fat arrow
def main (xs: []i32) = map (x => x + 1) xs
==== a for loop behind a let
def main (n: i64) =
  let s = 0
  for i < n do s + i
==== a method of a number
def main (x: f64) = x.sqrt()
==== append as a method
def main (xs: []i32) = xs.append(3)
==== reduce as a method
def main (xs: []i32) = xs.reduce((+), 0)
