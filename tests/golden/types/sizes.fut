def dot [n] (xs: [n]f32) (ys: [n]f32) : f32 = f32.sum (map2 (*) xs ys)
def matmul [n] [m] [p] (a: [n][m]f32) (b: [m][p]f32) : [n][p]f32 =
  map (\r -> map (dot r) (transpose b)) a
def square (n: i64) = tabulate_2d n n (\i j -> i * j)
def flat (n: i64) (m: i64) = flatten (square n) ++ iota m
def back (n: i64) (m: i64) = unflatten (iota (n * m))
def some xs = filter (\x -> x > 0) xs
def part [n] (xs: [n]i32) = (xs[:n], xs[1:], take 3 xs)
def choose (c: bool) = if c then iota 3 else iota 4
type vec [n] 'a = [n]a
def add [n] (a: vec [n] i32) (b: vec [n] i32) : vec [n] i32 = map2 (+) a b
def literal = [[1, 2], [3, 4i8]]
def growing (n: i32) = loop xs = [] for i < n do xs ++ [i]
