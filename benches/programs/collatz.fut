def steps (n: i64): i32 =
  let (_, steps) =
    loop (n, steps) = (n, 0) while n != 1 do
      (if n % 2 == 0 then n / 2 else 3 * n + 1, steps + 1)
  in steps

entry main (limit: i64): [2]i32 =
  let longer (s: i32, m: i32) (t: i32, n: i32) = if s > t || (s == t && m < n) then (s, m) else (t, n)
  let (most, n) = reduce longer (-1, i32.highest) (map (\n -> (steps n, i32.i64 n)) (1..<limit))
  in [most, n]
