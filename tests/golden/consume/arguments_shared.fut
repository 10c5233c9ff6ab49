-- A consumed argument may not be another argument, too.
def copy_into (to: *[]i32) (from: []i32) = to with [0] = from[0]

def itself (xs: *[]i32) = copy_into xs xs

def its_slice (xs: *[]i32) = copy_into xs xs[1:]

def its_copy (xs: *[]i32) = copy_into (copy xs) xs

def its_element (xs: *[]i32) = scatter xs [0] [xs[1]]
