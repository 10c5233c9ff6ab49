-- Products of matrices by a loop for each element, with either operand as it is or transposed.
--
-- Exercises: layout with two arrays and two parallel indices. Which index should vary over neighbouring lanes is asked
-- by each access: b[k, j] wants j, b[j, k] wants j and another layout, a[k, i] wants i. The transpositions are views,
-- so all four products are one program text on different strides; the answers are choices of lane and of copies.
-- ==
-- entry: plain
-- input { [[1f32, 2f32], [3f32, 4f32], [5f32, 6f32]] [[1f32, 2f32, 3f32], [4f32, 5f32, 6f32]] }
-- output { [[9f32, 12f32, 15f32], [19f32, 26f32, 33f32], [29f32, 40f32, 51f32]] }

-- ==
-- entry: second_transposed
-- input { [[1f32, 2f32], [3f32, 4f32]] [[1f32, 4f32], [2f32, 5f32], [3f32, 6f32]] }
-- output { [[9f32, 12f32, 15f32], [19f32, 26f32, 33f32]] }

-- ==
-- entry: first_transposed
-- input { [[1f32, 3f32, 5f32], [2f32, 4f32, 6f32]] [[1f32, 2f32, 3f32], [4f32, 5f32, 6f32]] }
-- output { [[9f32, 12f32, 15f32], [19f32, 26f32, 33f32], [29f32, 40f32, 51f32]] }

-- ==
-- entry: both_transposed
-- input { [[1f32, 3f32], [2f32, 4f32]] [[1f32, 4f32], [2f32, 5f32], [3f32, 6f32]] }
-- output { [[9f32, 12f32, 15f32], [19f32, 26f32, 33f32]] }

-- ==
-- entry: large
-- input { 7i64 } output { 8.3278348766f64 8.12526423303f64 8.2028466985f64 8.13690517556f64 }
-- input { 64i64 } output { 64.5728166222f64 64.6021024108f64 64.5570545083f64 64.5449534866f64 }

import "lib/inputs"

def product [n][m][p] (a: [n][m]f32) (b: [m][p]f32): [n][p]f32 =
  tabulate_2d n p (\i j -> loop s = 0 for k < m do s + a[i, k] * b[k, j])

entry plain [n][m][p] (a: [n][m]f32) (b: [m][p]f32): [n][p]f32 = product a b

entry second_transposed [n][m][p] (a: [n][m]f32) (b: [p][m]f32): [n][p]f32 = product a (transpose b)

entry first_transposed [n][m][p] (a: [m][n]f32) (b: [m][p]f32): [n][p]f32 = product (transpose a) b

entry both_transposed [n][m][p] (a: [m][n]f32) (b: [p][m]f32): [n][p]f32 = product (transpose a) (transpose b)

-- Means of the four products of two n by n matrices.
entry large (n: i64): (f64, f64, f64, f64) =
  let (a, b) = (matrix 3 n n, matrix 4 n n)
  let of (a: [n][n]f32) (b: [n][n]f32): f64 = mean (flatten (product a b))
  in (of a b, of a (transpose b), of (transpose a) b, of (transpose a) (transpose b))
