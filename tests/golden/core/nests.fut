-- Nests of maps leave no rows between them.
entry sums [n] [m] (a: [n][m]f64) (b: [n][m]f64) (c: [n][m]f64) =
  map2 (map2 (+)) a (map2 (map2 (*)) b c)

-- What a short product adds to.
entry added [n] [m] (a: [n][m]f64) (b: [n][4]f64) (c: [m][4]f64) =
  map2 (map2 (+)) a (map (\row -> map (\col -> f64.sum (map2 (*) row col)) c) b)

-- Columns of arithmetic are read in a product, and so made there.
entry columns [n] [m] (a: [n][4]f64) (w: [m]f64) (b: [4][m]f64) =
  let p = map (map2 (*) w) b
  in map (\row -> map (\col -> f64.sum (map2 (*) row col)) (transpose p)) a

-- These stay: the rows are read twice, or in another order.
entry twice [n] [m] (a: [n][m]f64) (b: [n][m]f64) =
  let c = map2 (map2 (*)) a b
  in (map (map (+ 1)) c, c)
entry turned [n] [m] (a: [n][m]f64) (b: [n][m]f64) =
  map (\row -> map2 (+) row (reverse row)) (map2 (map2 (*)) a b)
