entry main [n][m] (sweeps: i64) (a: [n][m]f64): [n][m]f64 =
  loop a for _s < sweeps do
    tabulate_2d n m (\i j ->
      if i == 0 || i == n - 1 || j == 0 || j == m - 1
      then a[i, j]
      else 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i - 1, j] + a[i + 1, j]))
