-- Local functions consume their parameters, not what is outside.
def parameter (xs: *[]i32) =
  let set (a: *[]i32) = a with [0] = 1
  in set xs

def outside (xs: *[]i32) =
  let set (x: i32) = xs with [0] = x
  in set 1

def result (xs: []i32) =
  let inc (a: []i32) = map (+ 1) a
  in inc xs with [0] = 1
