entry main [n][m][p] (a: [n][m][p]f32): [n][p][m]f32 =
  copy (map transpose a)
