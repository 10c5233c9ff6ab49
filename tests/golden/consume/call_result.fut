-- What a function gives may share what it was given, unless its result is marked `*` or shares nothing.
def same (xs: []i32) : []i32 = xs

def fresh (xs: []i32) : *[]i32 = map (+ 1) xs

def bad (xs: []i32) = same xs with [0] = 1

def good (xs: []i32) = fresh xs with [0] = 1

def used_later (xs: *[]i32) =
  let ys = same xs
  let zs = ys with [0] = 1
  in zs[0] + xs[0]
