-- Escape times of the Mandelbrot set on a grid of h by w points.
--
--   echo '8i64 16i64 100i32' | galopvm run examples/mandelbrot.fut

def escape (limit: i32) (cx: f32) (cy: f32): i32 =
  let (_, _, n) =
    loop (x, y, n) = (0f32, 0f32, 0i32)
    while n < limit && x * x + y * y <= 4 do
      (x * x - y * y + cx, (x + x) * y + cy, n + 1)
  in n

entry main (h: i64) (w: i64) (limit: i32): [h][w]i32 =
  let dx = 3 / f32.i64 w
  let dy = 3 / f32.i64 h
  in map (\i ->
            map (\j -> escape limit (-2 + f32.i64 j * dx) (-1.5 + f32.i64 i * dy))
                (iota w))
         (iota h)
