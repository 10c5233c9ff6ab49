-- Equal statements, which stand for one another: in a branch that is taken with an earlier one, in the ways onward of two derivatives,
-- in operators with numbers as results. What is cheap is made again, what somebody sees stays.

entry both_taken (c: bool) (x: f64) (y: f64) : (f64, f64) =
  let a = if c then f64.sqrt (x + 1) * y else f64.exp y
  let b = if c then y - f64.sqrt (x + 1) else f64.exp y / 2
  in (a, b)

entry chain (c: bool) (x: f64) : (f64, f64, f64) =
  let a = if c then f64.exp (f64.sin (x * 2) + x) else 1
  let b = if c then f64.sin (x * 2) + x else 2
  let d = if c then 3 else f64.cos x
  let e = if c then f64.exp (f64.sin (x * 2) + x) - b else f64.cos x
  in (a + d, b, e)

entry inside [n] (c: bool) (xs: [n]f64) (y: f64) : (f64, [n]f64) =
  let a = if c then f64.log y else y
  in (a, map (\x -> if c then x * f64.log y else x) xs)

entry twice (x: f64) (y: f64) : (f64, f64) =
  let f (x: f64, y: f64) = (f64.sin x * y, f64.exp (x * y))
  in ((vjp f (x, y) (1, 0)).0, (vjp f (x, y) (0, 1)).1)

entry same_branches (x: f64) (y: f64) : f64 =
  let a = if x < y then f64.sqrt x else y
  let b = if x < y then f64.sqrt x else y
  in a * b

entry sums [n] (xs: [n]f64) : f64 = f64.sum (map f64.exp xs) / (1 + f64.sum (map f64.exp xs))

entry traced (c: bool) (x: f64) : f64 =
  let a = if c then #[trace] f64.sqrt x else x
  let b = if c then #[trace] f64.sqrt x else x
  in a + b

entry with_checks (c: bool) (xs: []i32) (i: i64) : i32 =
  let a = if c then xs[i] / xs[0] else 0
  let b = if c then xs[i] / xs[0] + xs[1] else 1
  in a + b
