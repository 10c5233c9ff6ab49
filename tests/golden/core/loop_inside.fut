-- Rounds of elements are rounds inside of a map.
entry powers [n] (xs: [n]f64) (k: i64) = loop ys = xs for i < k do map2 (\x y -> x * y + f64.i64 i) xs ys

-- Two levels, and rows of each round.
entry weighted [n] [k] [m] (a: [k][n][4]f64) (b: [k][m][4]f64) =
  loop acc = replicate n (replicate m 0) for i < k do
    map2 (map2 (+)) acc (map (\row -> map (\col -> f64.sum (map2 (*) row col)) b[i]) a[i])

-- These stay: elements are made of others, something can fail, and the rounds end by what they made.
entry neighbours [n] (xs: [n]f64) (k: i64) =
  loop ys = xs for _i < k do map2 (+) ys (rotate 1 ys)
entry checked [n] (xs: [n]i64) (k: i64) = loop ys = xs for i < k do map (\y -> y / i) ys
entry until [n] (xs: [n]f64) = loop ys = xs while f64.sum ys < 10 do map (* 2) ys
