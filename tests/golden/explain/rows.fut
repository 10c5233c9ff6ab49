-- Sums along rows and along columns: one array wanted in two layouts.
-- ==
-- entry: main
-- input { [[1f32, 2f32, 3f32], [4f32, 5f32, 6f32]] }

entry main [n][m] (xss: [n][m]f32): ([n]f32, [m]f32) =
  (map (reduce (+) 0) xss, map (reduce (+) 0) (transpose xss))
