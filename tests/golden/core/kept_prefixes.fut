-- Of a scan only those prefixes are kept that somebody looks at; their components come first.

-- The flags are for the operator alone.
entry segmented [n] (flags: [n]bool) (xs: [n]i64): [n]i64 =
  scan (\(f, x) (g, y) -> (f || g, if g then y else x + y)) (false, 0) (zip flags xs) |> map (.1)

-- The one in the middle.
entry middle [n] (xs: [n]f32): [n]f32 =
  scan (\(a, b, c) (d, e, f) -> (a + d, b * d + e, c + f)) (0, 0, 0) (zip3 xs xs xs) |> map (.1)

-- All are looked at.
entry both [n] (xs: [n]i32): ([n]i32, [n]i32) =
  scan (\(a, b) (c, d) -> (a + c, i32.max b d)) (0, i32.lowest) (zip xs xs) |> unzip

-- Nobody looks, but it can end the program.
entry failing [n] (xs: [n]i32): i64 =
  let _ = scan (\(a, b) (c, d) -> (a + c, b / d)) (0, 1) (zip xs xs)
  in n

-- In rows.
entry rows [n] [m] (xss: [n][m]i32): [n][m]i32 =
  map (\xs -> scan (\(f, x) (g, y) -> (f + g, if g == 0 then x + y else y)) (0, 0) (zip (map (% 3) xs) xs) |> map (.1)) xss
