-- Checks and written types change nothing about sharing.
def asserted (xs: []i32) = (assert (xs[0] > 0) xs) with [0] = 1

def ascribed (xs: []i32) = (xs : []i32) with [0] = 1

def coerced [n] (xs: *[n]i32) =
  let ys = xs :> [3]i32
  let xs[0] = 1
  in (ys, xs)

def attribute (xs: *[]i32) =
  let ys = #[opaque] xs
  let xs[0] = 1
  in (ys, xs)
