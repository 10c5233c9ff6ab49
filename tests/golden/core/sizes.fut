-- Sizes that expressions bring into being.
entry filtered (xs: []i32) : i64 =
  let ys = filter (> 0) xs
  let zs = map (+ 1) ys
  in length (zip ys zs)

entry bound (xs: []i32) : i64 =
  let [k] (ys: [k]i32) = filter (> 0) xs
  in k + length ys

def double [n] (xs: [n]i32) : [2 * n]i32 = xs ++ xs :> [2 * n]i32

entry arithmetic [n] (xs: [n]i32) : [n * 2]i32 = double xs :> [n * 2]i32

entry checked [n] (xs: []i32) (m: [n][n]i32) : [n]i32 = map2 (+) (xs :> [n]i32) m[0]

-- Extents that turns of a loop change, and those that stay.
entry growing [n] (m: [][n]i32) : [][n]i32 = loop m for _i < 3 do m ++ m

-- Arguments must agree with written sizes.
entry agree (n: i64) (xs: [n]i32) (ys: [n + 1]i32) : i32 = xs[0] + ys[0]

entry table [n] (xs: [n]i32) : [][3]i32 = unflatten (xs :> [n / 3 * 3]i32)

entry empty [n] (_: [n]f32) : [0][n]f32 = []
