-- A scatter and a sum with the maps that feed them as one kernel each; a histogram and a filter with kernels of their own.
-- ==
-- input { 600i64 }

entry main (n: i64): (i64, [10]i32, i64, i64) =
  let is = map (\i -> (i * 7) % n) (iota n)
  let placed = scatter (replicate n 0i64) is (map (* 2) (iota n))
  let counts = hist (+) 0 10 (map (% 10) placed) (replicate n 1i32)
  in (i64.sum (map (\i -> i * i) placed), counts, length (filter (> 100) placed), placed[3])
