-- An update consumes the old array under all of its names; the new one is free to use.
def fine (xs: *[]i32) : *[]i32 =
  let ys = xs with [0] = 1
  in ys with [1] = 2

def old (xs: *[]i32) =
  let ys = xs with [0] = 1
  in xs[0] + ys[0]

def other_name (xs: *[]i32) =
  let ys = xs
  let xs[0] = 1
  in xs[0] + ys[0]
