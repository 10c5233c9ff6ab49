-- Sums of the rows and of the columns of a matrix; the transpose is a view and costs nothing.
--
--   echo '[[1i32, 2i32, 3i32], [4i32, 5i32, 6i32]]' | galopvm run examples/sums.fut

entry rows [n][m] (a: [n][m]i32): [n]i32 =
  map (\row -> reduce (+) 0 row) a

entry columns [n][m] (a: [n][m]i32): [m]i32 =
  map (\column -> reduce (+) 0 column) (transpose a)

entry main [n][m] (a: [n][m]i32): ([n]i32, [m]i32) =
  (rows a, columns a)
