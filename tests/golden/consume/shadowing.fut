-- A new binding of the same name is a new variable.
def again (xs: *[]i32) =
  let xs = xs with [0] = 1
  let xs = xs with [1] = 2
  in xs

def out_of_scope (n: i64) =
  let a = let b = iota n in b
  let c = let a = a in a with [0] = 1
  in (a, c)
