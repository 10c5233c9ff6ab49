-- Who is given a function may call it with anything.
def apply 'a 'b (f: a -> b) (x: a) : b = f x

def apply_own 'a 'b (f: *a -> b) (x: *a) : b = f x

def set (xs: *[]i32) = xs with [0] = 1

def bad (xs: *[]i32) = apply set xs

def good (xs: *[]i32) = apply_own set xs

def rows (xss: *[][]i32) = map set xss

def pipe (xs: *[]i32) = xs |> set
