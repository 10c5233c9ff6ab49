def escape (cx: f32) (cy: f32): i32 =
  let (_, _, n) =
    loop (x, y, n) = (0f32, 0f32, 0i32)
    while n < 256 && x * x + y * y <= 4 do
      (x * x - y * y + cx, (x + x) * y + cy, n + 1)
  in n

entry main (n: i64): [n][n]i32 =
  let step = 3 / f32.i64 n
  in map (\i -> map (\j -> escape (-2 + f32.i64 j * step) (-1.5 + f32.i64 i * step)) (iota n)) (iota n)
