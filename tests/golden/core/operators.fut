entry dot [n] (xs: [n]f32) (ys: [n]f32) : f32 = reduce (+) 0 (map2 (*) xs ys)
entry argmax [n] (xs: [n]f32) =
  reduce (\(a, i) (b, j) -> if a > b then (a, i) else (b, j)) (f32.lowest, -1) (zip xs (indices xs))
entry rows [n][m] (xss: [n][m]i32) = (map i32.sum xss, map (reduce i32.max i32.lowest) (transpose xss))
entry prefix (xs: []i64) = scan (+) 0 xs
entry nested (n: i64) = tabulate_2d n 3 (\i j -> f32.i64 (i * j))
entry kept (xs: []i32) = filter (\x -> x % 2 == 0) xs
entry sections (xs: [](i32, f32)) = (map (.0) xs, map (2 -) (map (.0) xs), map (/ 2) (map (.1) xs))
entry composed = map (f32.sqrt >-> (+ 1)) >-> f32.sum
