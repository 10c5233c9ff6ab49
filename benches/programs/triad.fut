entry main [n] (b: [n]f64) (c: [n]f64): [n]f64 =
  map2 (\x y -> x + 3 * y) b c
