type number = i32
type pair = (number, f32)

def no_array (x: *number) (y: *pair) (z: *#a | #b i32) : *i32 = x + y.0 + (match z case #a -> 1 case #b i -> i)
def array (x: *[]number) : *([]i32, i32) = (x, 1)

def plus x y = x + y
def half x = x / 2.5
def five = 5

def equal (a: []i32) (b: []i32) : bool = a == b && a != b
def equal_numbers (a: i32) (b: i32) : bool = a == b

def nothing (n: i64) : []i64 = n..n..<10
def neither : []i32 = 3..3...4

def size [n] (_: [n]i64) : []i64 = iota (let m = n + 2 in m * m)
def range (n: i64) : []i64 = 0..<(if n > 2 then let m = n in m else n)
def slice (xs: []i32) : []i32 = xs[:let m = 2 in m]

def unrolled (n: i32) (x: i32) : i32 =
  let a = #[unroll] loop x for _i < n do x + 1
  let b = #[unroll] loop x for _i < 10i32 do x + 1
  in #[unroll] loop c = a + b while c < 10 do c + 1

def inner (xs: []i32) (i: i64) : i32 = xs[i]
def asked (xs: []i32) (is: []i64) : []i32 = #[warn(safety_checks)] map (inner xs) is
def not_asked (xs: []i32) (is: []i64) : []i32 = #[inline] map (\i -> xs[i]) is
