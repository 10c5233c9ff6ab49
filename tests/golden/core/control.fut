entry choose (c: bool) (x: i32) = if c then x else 0
entry work (c: bool) (x: i32) (y: i32) = if c then (x / y, true) else (y / x, false)
entry count (n: i32) = loop s = 0 for i < n do s + i
entry each [n] (xs: [n]f64) = loop acc = 1.0 for x in xs do acc * x
entry collatz (n: i64) = loop (x, steps) = (n, 0i32) while x > 1 do
  (if x % 2 == 0 then x / 2 else 3 * x + 1, steps + 1)
entry implicit (a: i32) (b: i32) = loop (a, b) for _i < 10i8 do (b, a + b)
entry checked (x: i32) = assert (x > 0) (x - 1)
