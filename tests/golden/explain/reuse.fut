-- A result that is mostly a copy of an array that dies: one row of it changes.
-- ==
-- input { 5i64 240i64 }

entry main (steps: i64) (n: i64): [n][n]i64 =
  let start = tabulate_2d n n (\i j -> i * j)
  in loop a = start for k < steps do
       tabulate_2d n n (\i j -> if i == k + 1 then a[i, j] + a[0, j] else a[i, j])
