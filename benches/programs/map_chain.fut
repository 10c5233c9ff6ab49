entry main [n] (xs: [n]f32) (ys: [n]f32): [n]f32 =
  map2 (\x y -> f32.sqrt (2 * x * x + 3 * y) - x * 0.5) xs ys
