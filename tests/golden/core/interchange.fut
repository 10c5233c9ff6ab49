-- What combines rows becomes a map over columns; rows of rows are interchanged twice.

entry sums [n] [k] (xss: [n][k]f32) = reduce (map2 (+)) (replicate k 0) xss

entry prefixes [n] [k] [l] (xss: [n][k][l]i64) = scan (map2 (map2 (+))) (replicate k (replicate l 0)) xss

-- Several arrays, a neutral row of different elements, a row from outside.
entry pairs [n] [k] (w: [k]i64) (xss: [n][k]i64) (yss: [n][k]i64) =
  reduce (\(a, b) (c, d) -> unzip (map5 (\x y z v u -> (i64.max x z, y + v * u)) a b c d w)) (w, replicate k 1) (zip xss yss)

-- These stay: a row is used as a whole, the operator can fail, and it is more than one map.
entry whole [n] [k] (xss: [n][k]i64) = reduce (\a b -> map2 (\x y -> x + y * a[0]) a b) (replicate k 0) xss

entry failing [n] [k] (xss: [n][k]i64) = reduce (map2 (/)) (replicate k 1) xss

entry more [n] [k] (xss: [n][k]i64) = reduce (\a b -> let s = i64.sum b in map2 (\x y -> x + y * s) a b) (replicate k 0) xss
