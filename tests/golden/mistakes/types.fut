==== an integer and a float
def main (x: i32) (y: f64) = x + y
==== an index of i32
def main (xs: []i32) (i: i32) = xs[i]
==== iota of i32
def main (n: i32) = iota n
==== replicate of i32
def main (n: i32) = replicate n 0
==== a float literal for an integer
def main (x: i32) = x + 1.5
==== length as i32
def main (xs: []i32): i32 = length xs
==== mean
def main (xs: []f64) = f64.sum xs / length xs
==== i32 to f32 by the wrong module
def main (x: i32) = f32.i64 x
==== a truth value as number
def main (x: bool) = x + 1
==== a number as truth value
def main (x: i32) = if x then 1 else 2
==== branches differ
def main (x: i32) = if x > 0 then 1 else 2.0
==== branches of arrays differ
def main (x: i32) = if x > 0 then [1, 2] else [1]
==== too many arguments
def f (x: i32) = x
def main (x: i32) = f x 2
==== too few arguments
def f (x: i32) (y: i32) = x
def main (x: i32): i32 = f x
==== map with its arguments turned
def main (xs: []i32) = map xs (+ 1)
==== map over two arrays
def main (xs: []i32) (ys: []i32) = map (\x y -> x + y) xs ys
==== map2 of two sizes
def main (xs: []i32) (ys: []i32) = map2 (+) xs ys
==== zip of two sizes
def main (xs: []i32) (ys: []i32) = zip xs ys
==== reduce without neutral element
def main (xs: []i32) = reduce (+) xs
==== reduce with a function of another type
def main (xs: []i32) = reduce (\a x -> a + f64.i32 x) 0.0 xs
==== filter by a number
def main (xs: []i32) = filter (\x -> x % 2) xs
==== a result of another type
def main (x: i32): f64 = x
==== an array of two types
def main = [1, 2.5, true]
==== rows of different lengths
def main = [[1, 2], [3]]
==== a field that is not there
def main (p: {x: f64}) = p.y
==== a record with a field missing
def f (p: {x: f64, y: f64}) = p.x
def main = f {x = 1.0}
==== a tuple of another length
def main (p: (i32, i32)) = let (a, b, c) = p in a
==== a negative unsigned number
def main: u8 = -1
==== a literal too large
def main: i8 = 300
==== a shift by a float
def main (x: i32) = x << 2.0
==== bitwise xor of floats
def main (x: f32) = x ^ 2
==== the power of two integers
def main (x: i32) (n: i64) = x ** n
==== a comparison of different types
def main (x: i32) (y: i64) = x == y
==== a comparison of functions
def f (x: i32) = x
def main = f == f
==== an ambiguous function
def main x = x + 1
==== a loop of another type
def main (n: i64) = loop x = 0 for i < n do x + f64.i64 i
==== a loop whose array grows
def main (n: i64) = loop xs = [0] for i < n do xs ++ [i]
==== a loop over an i32 bound
def main (n: i32) = loop x = 0i64 for i < n do x + i
==== missing match case
type t = #a | #b | #c
def main (x: t) = match x case #a -> 1 case #b -> 2
==== an unknown constructor
type t = #a | #b
def main: t = #d
==== an unknown type
def main (x: foo) = x
==== a size that is not known
def main (xs: [n]i32) = n
==== a size that is a type
def main [n] (xs: [n]i32) = n + 1i32
==== a type for a value
def main = i32
==== a value for a type
def n = 3
def main (x: n) = x
==== consumed twice
def main (xs: *[]i32) = (xs with [0] = 1, xs)
==== an update of an argument that is not unique
def main (xs: []i32) = xs with [0] = 1
==== an update of another type
def main (xs: *[]i32) = xs with [0] = 1.5
==== assigning to an element
def main (xs: *[]i32) = let xs[0] = 1.5 in xs
==== scatter with i32 indices
def main (xs: *[]i32) (is: []i32) (vs: []i32) = scatter xs is vs
==== a partial section
def main (xs: []i32) = map (+) xs
==== a function in an array
def main = [\x -> x + 1]
==== a shape that does not fit
def main (xs: [3]i32): [4]i32 = xs
==== append with a known size
def f [n] (xs: [n]i32) (ys: [n]i32) = xs
def main [n] [m] (xs: [n]i32) (ys: [m]i32) = f xs ys
==== transpose of a vector
def main (xs: []i32) = transpose xs
==== a misspelt name
def main (xs: []i32) = lenght xs
==== a misspelt member
def main (x: f64) = f64.sqr x
==== a misspelt local name
def main (value: i32) = vaule + 1
==== a misspelt field
def main (p: {width: f64}) = p.widht
==== a name used before it is defined
def main = later
def later = 1
==== a module for a value
def main = f64
==== a value of a module without its name
def main (x: f64) = pi * x
==== a hole
def main (x: i32): i32 = ???
==== unused result of a let
def main (x: i32) = let y = x
==== two sizes of one name
def main [n] (xs: [n]i32) (m: i64) =
  let n = m
  in map2 (+) xs (replicate n 1)
==== a size hidden by a definition in the function
def dot [n] (xs: [n]f64) (ys: [n]f64) = f64.sum (map2 (*) xs ys)
def main [n] (xs: [n]f64) (m: i64) =
  let f [n] (zs: [n]f64) = dot xs zs
  in f (replicate m 1)
==== a number that got its type by default
def k = 3
def main (y: f32) = y + k
==== such a number on the left
def k = 3
def main (y: f32) = (k) * y
==== an error does not bring others about sizes
def main [n] (xs: [n]i32): i32 = reduce (+) 0 (mpa (+1) xs)
==== an operator and an array
def main [n] (xs: [n]f64) = xs * 2
==== the array on the right
def main [n] (xs: [n]f64) = 2 * xs
==== two arrays
def main [n] (xs: [n]f64) (ys: [n]f64) = xs + ys
==== arguments for a tuple
def f (a: i32, b: i32) = a + b
def main = f 1 2
==== a tuple for arguments
def f (a: i32) (b: i32) = a + b
def main: i32 = f (1, 2)
