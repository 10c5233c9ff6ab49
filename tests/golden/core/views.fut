-- Maps whose rows are views are views of the whole.
entry flat [n] [k] [l] (a: [n][k][l]i32) = (map flatten a, map transpose a, map (map reverse) a)

-- The view is changed, the array stays what it was.
entry kept [n] [k] [l] (a: [n][k][l]i32) =
  let b = map flatten (copy a)
  let c = copy b with [0, 0] = 9
  in (b, c)
entry own (a: *[2][2][2]i32) = let b = map transpose a in (b with [0, 0, 1] = 7)

-- Rows come once, rows that nobody looks at do not come, and sums that nobody asks for are not made.
entry once [n] (a: [n]i32) (b: [n]i32) = (map3 (\x _ y -> x * y) a b a, (reduce (\(x, y) (z, v) -> (x + z, y + v)) (0, 0) (zip (map (* 2) a) b)).0)
entry first [n] (a: [n]i32) (b: [n]i32) = (reduce (\(x, y) (z, v) -> (x + z, i32.max y v)) (0, i32.lowest) (zip a b)).0

-- These stay: one sum needs the other, and what can fail is asked for each row.
entry both [n] (a: [n]i32) (b: [n]i32) = (reduce (\(x, y) (z, v) -> (x + z * i32.sgn y, y * v)) (0, 1) (zip a b)).0
entry parts [n] (k: i64) (a: [n][]i32) = map (\row -> sized k row) a
