-- Passing to a parameter marked `*` consumes.
def fill (xs: *[]i32) : *[]i32 = xs with [0] = 1

def twice (xs: *[]i32) = (fill xs, fill xs)

def chain (xs: *[]i32) = fill (fill (fill xs))

def keep (xs: []i32) = fill xs

def keep_copy (xs: []i32) = (fill (copy xs), xs)
