-- The value written may not be a part of the array.
def move (xss: *[][]i32) = xss with [0] = xss[1]

def move_copy (xss: *[][]i32) = xss with [0] = copy xss[1]

def move_number (xs: *[]i32) = xs with [0] = xs[1]

def swap 'a (xs: *[]a) =
  let x = xs[0]
  let xs[0] = xs[1]
  let xs[1] = x
  in xs
