-- Each branch may consume; what one of them did is gone afterwards.
def either (b: bool) (xs: *[]i32) = if b then xs with [0] = 1 else xs with [0] = 2

def after (b: bool) (xs: *[]i32) =
  let x = if b then let xs[0] = 1 in xs[0] else 0
  in x + xs[0]

def shares_either (b: bool) (xs: []i32) (n: i64) =
  let ys = if b then xs else replicate n 0
  in ys with [0] = 1
