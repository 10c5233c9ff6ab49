-- An operator that combines arrays as wholes, in a function that is inlined.
-- ==
-- input { 3000i64 }

def product [k] (a: [k][k]f64) (b: [k][k]f64): [k][k]f64 =
  map (\row -> map (\column -> f64.sum (map2 (*) row column)) (transpose b)) a

def running [n][k] (steps: [n][k][k]f64): [n][k][k]f64 =
  scan product (tabulate_2d k k (\i j -> f64.bool (i == j))) steps

entry main (n: i64): f64 =
  let steps = replicate n [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]
  in f64.sum (flatten (last (running steps)))
