-- A value of any type may be an array.
def id 'a (x: a) : a = x

def pair 'a 'b (x: a) (y: b) = (x, y)

def through (xs: []i32) = id xs with [0] = 1

def of_number (xs: *[]i32) =
  let x = id xs[0]
  let xs[0] = 1
  in x + xs[0]

def parts (xs: *[]i32) (ys: []i32) =
  let (a, b) = pair xs ys
  let a[0] = 1
  in (a, b)

def named (xs: []i32) =
  let same 'a (x: a) = x
  let (a, _) = same (xs, 1i32)
  in a with [0] = 1
