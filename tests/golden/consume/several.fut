-- Each mistake is told, once.
def f (xs: []i32) (ys: []i32) =
  let xs[0] = 1
  let ys[0] = 2
  in (xs, ys)

def g (xs: *[]i32) =
  let a = xs with [0] = 1
  let b = xs with [0] = 2
  in (a, b, xs)
