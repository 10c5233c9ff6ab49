entry main [n] (a: [n][n]f32): [n][n]f32 =
  loop a = copy a for k < n - 1 do
    let below = map (/ a[k, k]) a[k + 1:, k]
    let a = a with [k + 1:, k] = below
    let rest = map2 (\row l -> map2 (\x u -> x - l * u) row a[k, k + 1:]) a[k + 1:, k + 1:] below
    in a with [k + 1:, k + 1:] = rest
