entry main [n][m] (a: [n][m]f32): [m]f32 =
  map (\column -> reduce (+) 0 column) (transpose a)
