-- Loops: one whose rounds need each other, and one around operators.
-- ==
-- input { 300000i64 }
-- ==
-- entry: steps
-- input { 200i64 300i64 }

entry main (n: i64): i64 =
  let (sum, _) = loop (sum, x) = (0, 1) for i < n do
    (sum + x % (i + 1), (x * 1103515245 + 12345) % 2147483648)
  in sum

entry steps (rounds: i64) (n: i64): f64 =
  let xs = loop xs = tabulate n f64.i64 for _i < rounds do
    let mean = f64.sum xs / f64.i64 n
    in map (\x -> f64.sin (f64.exp (f64.sqrt (f64.abs (x - mean))))) xs
  in xs[0]
