-- A function that has consumed something could be called twice.
def set (xs: *[]i32) (x: i32) : *[]i32 = xs with [0] = x

def bound (xs: *[]i32) =
  let f = set xs
  in f 1

def passed (xs: *[]i32) = map (set xs) [1, 2, 3]

def whole (xs: *[]i32) = set xs 1
