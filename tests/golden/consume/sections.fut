-- Operators and sections share like other functions.
def (+++) (a: *[]i32) (b: []i32) : *[]i32 = a with [0] = b[0]

def good (xs: *[]i32) (ys: []i32) = xs +++ ys

def bad (xs: []i32) (ys: *[]i32) = xs +++ ys

def both (xs: *[]i32) = xs +++ xs

def backticks (xs: *[]i32) (ys: []i32) =
  let set (a: *[]i32) (b: []i32) = a with [0] = b[0]
  let zs = xs `set` ys
  in (zs, xs)
