entry main [n][m] (a: [n][m]f32): [n]f32 =
  map (\row -> reduce (+) 0 row) a
