-- A part is replaced by what was made for it: once the places are apart, once they are not.
-- ==
-- entry: apart meet
-- input { [1i32, 2i32, 3i32, 4i32, 5i32, 6i32] }

entry apart [n] (xs: *[n]i32): *[n]i32 =
  let left = map (+ 1) xs[3:6]
  in xs with [0:3] = left

entry meet [n] (xs: *[n]i32): *[n]i32 =
  let left = map2 (+) xs[0:3] (xs[1:4] :> [3]i32)
  in xs with [0:3] = left
