-- LU decomposition with whole arrays: in step k the matrix is replaced twice, by one with a new column k and by one
-- with a new lower right part. The result holds U, and below its diagonal L, whose diagonal is all ones. There is no
-- pivoting.
--
-- Exercises: reuse of the operand's memory for the result. The first kernel reads a[k, k] and changes a[i, k] below it;
-- the second one reads column k and row k and changes what is right of and below them. In both, the elements that are
-- read through other indices are not among those that change, so the memory is updated in place.
-- ==
-- entry: main
-- input { [[2f64, 1f64, 1f64], [4f64, 3f64, 3f64], [8f64, 7f64, 9f64]] }
-- output { [[2f64, 1f64, 1f64], [2f64, 1f64, 1f64], [4f64, 3f64, 2f64]] }
-- input { [[4f64, -1.5f64, 0f64, 2f64, -0.25f64], [1.25f64, 7.75f64, 1.25f64, 0.5f64, -0.25f64],
--   [0f64, -1f64, 6f64, -0.5f64, -1f64], [2f64, -2f64, -1.75f64, 4.75f64, 2f64],
--   [0.75f64, 1.5f64, -1.25f64, 1f64, 5.5f64]] }
-- output { [[4f64, -1.5f64, 0f64, 2f64, -0.25f64], [0.3125f64, 8.21875f64, 1.25f64, -0.125f64, -0.171875f64],
--   [0f64, -0.121673003802f64, 6.15209125475f64, -0.515209125475f64, -1.02091254753f64],
--   [0.5f64, -0.152091254753f64, -0.253553770087f64, 3.60035537701f64, 1.84000309023f64],
--   [0.1875f64, 0.216730038023f64, -0.247218788628f64, 0.145741690449f64, 5.06357155119f64]] }
-- input { [[7f64]] }
-- output { [[7f64]] }

-- ==
-- entry: difference
-- input { 1i64 } output { 0f64 }
-- input { 50i64 } output { 0f64 }

-- ==
-- entry: large
-- input { 5i64 } output { 8.40613412516f64 1.32316659534f64 }
-- input { 64i64 } output { 266.607079652f64 13.369666033f64 }

import "lib/inputs"

def decompose [n] (a: *[n][n]f64): *[n][n]f64 =
  loop a for k < n - 1 do
    let a =
      tabulate_2d n n (\i j -> if i > k && j == k then a[i, j] / a[k, k] else a[i, j])
    in tabulate_2d n n (\i j -> if i > k && j > k then a[i, j] - a[i, k] * a[k, j] else a[i, j])

def wide (n: i64): *[n][n]f64 = unflatten (map f64.f32 (flatten (dominant n)))

entry main [n] (a: *[n][n]f64): *[n][n]f64 =
  decompose a

-- How far the product of L and U is from the n by n matrix, at most.
entry difference (n: i64): f64 =
  let lu = decompose (wide n)
  let product (i: i64) (j: i64): f64 =
    reduce (+) 0 (tabulate n (\k -> if k > i || k > j then 0
                                    else (if k == i then 1 else lu[i, k]) * lu[k, j]))
  let differences = tabulate_2d n n (\i j -> product i j)
                    |> map2 (map2 (\x y -> f64.abs (x - y))) (wide n)
  in f64.maximum (flatten differences)

-- An n by n matrix: the logarithm of its determinant, and the sum of what is below the diagonal of L.
entry large (n: i64): (f64, f64) =
  let lu = decompose (wide n)
  in (f64.sum (tabulate n (\i -> f64.log lu[i, i])),
      f64.sum (flatten (grid n n (\i j -> if i > j then lu[i, j] else 0))))
