-- Maps that become part of the reduction that reads them.
entry dot [n] (xs: [n]f32) (ys: [n]f32) : f32 = reduce (+) 0 (map2 (*) xs ys)
entry chain [n] (xs: [n]i32) : i32 = reduce (+) 0 (map (+ 1) (map (* 2) xs))
entry range (n: i64) : i64 = reduce (+) 0 (map (\i -> i * i) (iota n))
entry passed_through [n] (xs: [n]i32) : (i32, i64) =
  reduce (\(a, i) (b, j) -> if a > b then (a, i) else (b, j)) (i32.lowest, -1) (zip (map i32.abs xs) (iota n))
entry two_maps [n] (xs: [n]i32) (ys: [n]i32) : (i32, i32) =
  reduce (\(a, b) (c, d) -> (a + c, b * d)) (0, 1) (zip (map (+ 1) xs) (map (+ 2) ys))
entry row_sums [n][m] (xss: [n][m]f32) : [n]f32 = map (\xs -> f32.sum (map f32.sqrt xs)) xss

-- Maps that stay.
entry used_again [n] (xs: [n]i32) : (i32, [n]i32) =
  let ys = map (+ 1) xs in (reduce (+) 0 ys, ys)
entry inner_loop [n][m] (xss: [n][m]i32) : i32 = reduce (+) 0 (map (reduce (+) 0) xss)
entry updated [n] (xs: *[n]i32) : (i32, [n]i32) =
  let s = map (+ 1) xs
  let zs = copy xs with [0] = 7
  in (reduce (+) 0 s, zs)
entry order_of_errors [n] (xs: [n]i32) (i: i64) : i32 =
  let ys = map (10 /) xs
  let first = xs[i]
  in reduce (+) first ys
