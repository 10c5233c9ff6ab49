-- Constants of a size that only their value tells.
def x = filter (> 1i32) [1, 2, 3]
def y : []i32 = x
entry shown : []i32 = x
entry again = y
def both : ([]i32, []i32) = (x, x)
def named : ?[k].[k]i32 = x
def same = map2 (+) x x
def refused : [2]i32 = x
def differ = map2 (+) x y
