-- A stencil needs two blocks in turn; a row in a kernel is made where it becomes part of the result.
-- ==
-- input { 3i64 [1f64, 2f64, 3f64, 4f64] }

entry main [n] (steps: i64) (xs: [n]f64): [n][2]f64 =
  let ys =
    loop ys = copy xs for _t < steps do
      tabulate n (\i -> ys[i64.max 0 (i - 1)] + ys[i])
  in map (\y -> let pair = replicate 2 y in pair with [1] = y + 1) ys
