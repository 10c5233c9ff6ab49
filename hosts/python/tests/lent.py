"""The program that arrays of other libraries are lent to."""

SOURCE = """
entry rows [n] [m] (xs: [n][m]f32): [n][m]f32 = map (map (* 2)) xs
entry sum [n] (xs: [n]f32): f32 = reduce (+) 0 xs
entry scale [n] (a: f32) (xs: [n]f32): [n]f32 = map (* a) xs
entry flags [n] (xs: [n]bool): [n]bool = map (\\x -> !x) xs
entry half [n] (xs: [n]f16): [n]f16 = map (+ 1) xs
entry at [n] (xs: [n]i32) (i: i64): i32 = xs[i]
entry changed [n] (xs: *[n]i32): *[n]i32 = xs with [0] = 77
"""
