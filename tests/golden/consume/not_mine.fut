-- A parameter without `*` belongs to the caller.
def set (xs: []i32) = xs with [0] = 1

def set_copy (xs: []i32) = copy xs with [0] = 1

def set_row (xss: [][]i32) =
  let row = xss[0]
  in row with [0] = 1
