-- What typed functions in C are made of: every kind of type, as results and as arguments.
type point = {x: f64, y: f64}
type~ shape = #circle f64 | #rect point | #path ([]point) i32 | #none
type vec = [3]f32

entry scale [n] (a: f64) (xs: [n]f64): [n]f64 = map (* a) xs
entry turned [n] [m] (x: [n][m]i32): [m][n]i32 = transpose x
entry filled (xs: *[]i32) (k: i32): *[]i32 = map (const k) xs
entry changed (xs: *[]i32) (k: i32): *[]i32 = xs with [0] = k
entry moved (p: point) (by: f64): point = {x = p.x + by, y = p.y - by}
entry backwards [n] (ps: [n]point): [n]point = reverse ps
entry both (x: i32) (y: []f32): (i32, []f32) = (x + 1, map (* 2) y)
entry area (s: shape): f64 =
  match s
  case #circle r -> r * r
  case #rect p -> p.x * p.y
  case #path ps k -> f64.i32 k + f64.sum (map (.x) ps)
  case #none -> 0
entry path (k: i64): shape = #path (map (\i -> {x = f64.i64 i, y = 0}) (iota k)) 7
entry all (a: i8) (b: i16) (c: i64) (d: u8) (e: u16) (f: u32) (g: u64) (h: f16) (i: f32) (j: bool) =
  (a, b, c, d, e, f, g, h, i, j)
entry same_vec (v: vec): vec = v
entry units (k: i64): []((), i32) = map (\i -> ((), i32.i64 i)) (iota k)
entry tagged (b: bool): #yes vec | #no = if b then #yes [1, 2, 3] else #no
entry at (xs: []i32) (i: i64): i32 = xs[i]
entry x' (x: i32) = x
entry nothing (x: i32): () = ()
entry tuned (x: i64): i64 = x + (#[param(step)] 5)
