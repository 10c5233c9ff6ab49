-- What an assertion has checked is not checked again while it is in force.
entry twice [n] (xs: [n]i32) (ys: [n]i32) : [n]i32 =
  let zs = ys :> [n]i32
  in map2 (+) xs zs
entry either_way (a: i64) (b: i64) : (bool, bool, i64) = (a == b, b == a, a * b - b * a)
entry floats (a: f32) (b: f32) : (f32, f32, bool, bool) = (a + b, b + a, a == b, b == a)
entry in_a_branch (c: bool) (i: i64) : i64 =
  let once = if c then assert (i > 3) i else 0
  in once + assert (i > 3) i
entry dominated (c: bool) (i: i64) : i64 =
  let once = assert (i > 3) i
  in if c then assert (i > 3) (once + 1) else once
