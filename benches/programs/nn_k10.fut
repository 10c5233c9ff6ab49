def nearer (d: f32, i: i64) (e: f32, j: i64): (f32, i64) =
  if d < e || (d == e && i < j) then (d, i) else (e, j)

entry main [n] (lats: [n]f32) (lngs: [n]f32): [10]i32 =
  let distance (lat: f32) (lng: f32): f32 = f32.sqrt ((lat - 30) * (lat - 30) + (lng - 90) * (lng - 90))
  let (_, nearest) =
    loop (left, nearest) = (map2 distance lats lngs, replicate 10 0) for k < 10 do
      let (_, i) = reduce nearer (f32.inf, i64.highest) (zip left (iota n))
      in (left with [i] = f32.inf, nearest with [k] = i32.i64 i)
  in nearest
