entry units (n: i64) : i64 = length (map (\_ -> ()) (iota n))

entry beside (xs: []i32) : []i32 = map (\(x, ()) -> x) (zip xs (replicate (length xs) ()))

entry equal (xs: [][]i32) (ys: [][]i32) : (bool, bool) = (xs == ys, xs[0] != ys[0])
