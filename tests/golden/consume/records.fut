-- Fields share memory each for itself.
type both = {a: []i32, b: []i32}

def fields (xs: *[]i32) (ys: *[]i32) =
  let r = {a = xs, b = ys}
  let a = r.a with [0] = 1
  in (a, ys)

def same_field (xs: *[]i32) (ys: *[]i32) =
  let r = {a = xs, b = ys}
  let a = r.a with [0] = 1
  in (a, xs)

def replaced (r: both) (xs: *[]i32) =
  (r with a = xs).a with [0] = 1

def not_replaced (r: both) (xs: *[]i32) =
  (r with a = xs).b with [0] = 1

def inside (r: *both) = r with a[0] = 1
