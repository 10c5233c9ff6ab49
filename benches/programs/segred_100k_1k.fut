entry main [n][m] (a: [n][m]i32): [n]i32 =
  map (\row -> reduce (+) 0 row) a
