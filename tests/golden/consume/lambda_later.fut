-- A function shares what it has captured.
def lambda (xs: *[]i32) =
  let f = \i -> xs[i]
  let ys = xs with [0] = 1
  in f 0 + ys[0]

def named (xs: *[]i32) =
  let f (i: i64) = xs[i]
  let ys = xs with [0] = 1
  in f 0 + ys[0]

def partial (xs: *[]i32) =
  let get (a: []i32) (i: i64) = a[i]
  let f = get xs
  let ys = xs with [0] = 1
  in f 0 + ys[0]

def before (xs: *[]i32) =
  let f (i: i64) = xs[i]
  let x = f 0
  let ys = xs with [0] = 1
  in x + ys[0]
