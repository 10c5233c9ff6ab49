-- A result whose type is not written is unique where it shares nothing.
def ones (n: i64) = replicate n 1i32

def both (xs: []i32) = (map (+ 1) xs, xs)

def passed (xs: *[]i32) = xs

def pair (n: i64) = let a = iota n in (a, a)

def first (xs: []i32) = (both xs).0 with [0] = 1

def second (xs: []i32) = (both xs).1 with [0] = 1

def of_pair (n: i64) =
  let (a, b) = pair n
  in (a with [0] = 1, b)
