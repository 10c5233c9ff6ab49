-- Three pieces that are made where the whole will be.
-- ==
-- input { [1f32, 2f32, 3f32] [4f32, 5f32] }

entry main [n][m] (xs: [n]f32) (ys: [m]f32): []f32 =
  let twice = map (* 2) xs
  let half = map (/ 2) ys
  in twice ++ half ++ [0]
