def acceleration [n] (xs: [n]f32) (ys: [n]f32) (zs: [n]f32) (masses: [n]f32)
                     (x: f32) (y: f32) (z: f32): (f32, f32, f32) =
  let pull (bx: f32) (by: f32) (bz: f32) (m: f32): (f32, f32, f32) =
    let (dx, dy, dz) = (bx - x, by - y, bz - z)
    let r2 = dx * dx + dy * dy + dz * dz + 0.01
    let s = m / (r2 * f32.sqrt r2)
    in (s * dx, s * dy, s * dz)
  in reduce (\(ax, ay, az) (bx, by, bz) -> (ax + bx, ay + by, az + bz)) (0, 0, 0)
            (map4 pull xs ys zs masses)

entry main [n] (xs: [n]f32) (ys: [n]f32) (zs: [n]f32)
               (us: [n]f32) (vs: [n]f32) (ws: [n]f32)
               (masses: [n]f32): ([n]f32, [n]f32, [n]f32, [n]f32, [n]f32, [n]f32) =
  let (ax, ay, az) = unzip3 (map3 (acceleration xs ys zs masses) xs ys zs)
  let us = map2 (\u a -> u + 0.01 * a) us ax
  let vs = map2 (\v a -> v + 0.01 * a) vs ay
  let ws = map2 (\w a -> w + 0.01 * a) ws az
  let move = map2 (\p s -> p + 0.01 * s)
  in (move xs us, move ys vs, move zs ws, us, vs, ws)
