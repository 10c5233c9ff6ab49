-- What a loop does not change is computed outside of it.
entry turns (n: i64) (a: i64) (b: i64) : i64 = loop s = 0 for i < n do s + (a * b + i)

entry elements (xs: []f32) (a: f32) : []f32 = map (\x -> if x > 0 then x + a * 2 else a - 1) xs

-- A map that gives back a row is that array; one that ignores its rows copies.
entry rows (xs: [](i32, f32)) : ([]i32, []i32) = (map (.0) xs, map (\_ -> 7) xs)

-- An index that cannot be negative needs no test for that.
entry inside (xs: []i32) (n: i64) : i32 = loop s = 0 for i < n do if 0 <= i && i < length xs then s + xs[i] else s
