entry writes (d: *[]i32) (is: []i64) (vs: []i32) : []i32 = scatter d (sized 3 is) (sized 3 vs)

entry tables (d: *[][]i32) : [][]i32 = scatter_2d d [(0, 1), (2, 3)] [5, 6]

entry counts (is: []i64) : []i64 = hist (+) 0 10 is (map (\_ -> 1) is)

entry largest (d: *[](i32, i64)) (is: []i64) : [](i32, i64) =
  reduce_by_index d (\a b -> if a.0 > b.0 then a else b) (i32.lowest, 0) is (map (\i -> (i32.i64 i, i)) is)

entry parts (xs: []i32) = partition (> 0) xs

entry three (xs: []i32) =
  let (a, b, c) = partition2 (> 0) (< 0) xs
  in (length a, length b, length c)

entry segments (ks: []i64) = flatmap (\k -> (iota k, k * 2)) ks

entry flat (xs: []f32) = intrinsics.flat_index_2d xs 1 2 3 2 1

entry replaced (xs: *[]f32) (v: [][]f32) = intrinsics.flat_update_2d xs 1 3 1 v
