-- The product of two matrices.
--
--   echo '[[1f32, 2f32], [3f32, 4f32]] [[5f32, 6f32], [7f32, 8f32]]' | galopvm run examples/matmul.fut

entry main [n][m][p] (a: [n][m]f32) (b: [m][p]f32): [n][p]f32 =
  map (\row ->
         map (\column -> reduce (+) 0 (map2 (*) row column))
             (transpose b))
      a
