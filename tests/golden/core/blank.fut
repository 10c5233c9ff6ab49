-- What `#[blank]` and `#[scratch]` stand in front of is not evaluated: nothing of it can fail.
entry numbers (n: i64) : [n]i32 = #[blank] map (\i -> i32.i64 (7 / i)) (iota n)

entry records (xs: []i32) (i: i64) : ([2]f32, i32) = #[blank] ([1.5, 2.5], xs[i])

-- `#[scratch]` leaves numbers alone.
entry beside (xs: []i32) (i: i64) : ([2]f32, i32) = #[scratch] ([1.5, 2.5], xs[i])

-- A size that only the value tells is made by the expression.
entry kept (xs: []i32) = #[scratch] filter (> 0) xs

-- Functions are themselves.
entry applied (x: i32) = (#[blank] (\y -> x + y)) 1

entry filled [n] (is: [n]i64) (vs: [n]f32) : [n]f32 = scatter (#[scratch] copy vs) is vs
