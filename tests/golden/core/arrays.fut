entry literal (x: i32) = ([x, 2, 3], [[1u8, 2], [3, 4]], "hi")
entry index [n][m] (a: [n][m]f32) (i: i32) = (a[i, 0], a[i], a[1:, 2], a[::-1], a[:2, i64.i32 i:m:3])
entry update (a: *[]i32) (i: i64) = let a[i] = a[i] + 1 in a with [0:2] = [7, 8]
entry path (r: *{xs: []i32, y: (i64, bool)}) = r with y.0 = 2 with xs[0] = 1
entry ranges (n: i64) (k: i32) = (0..<n, 1...k, 10..8..>k, 0i8..2i8...10i8)
entry shapes [n][m] (a: [n][m]i32) = (flatten a, unflatten (iota (n * m)), transpose a, a[0] ++ a[1], rotate 1 a)
entry copies (n: i64) (x: f32) = (replicate n x, replicate 2 (iota n), copy (iota 3))
entry sized (n: i64) (xs: []i32) = xs :> [n]i32
