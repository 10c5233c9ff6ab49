-- The size of a constant is an extent of its value.
def x = filter (> 1i32) [1, 2, 3]
def y : []i32 = x

entry shown : []i32 = y
entry made = replicate (length y) 0i32 :> [length x]i32
entry summed (zs: []i32) = map2 (+) (zs :> [length x]i32) (map2 (*) x y :> [length x]i32)
