-- A new array has memory of its own, and so have the elements of an array of arrays.
def rows (xs: *[3]i32) =
  let xss = [xs, xs]
  let xs[0] = 1
  in (xss, xs)

def strings = "abc" with [0] = 'x'

def range (n: i64) = (0..<n) with [0] = 1
