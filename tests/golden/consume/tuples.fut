-- A pair of the same array twice.
def set_both (p: *([]i32, []i32)) = let (a, b) = p in a[0] + b[0]

def twice (xs: *[]i32) = set_both (xs, xs)

def apart (xs: *[]i32) (ys: *[]i32) = set_both (xs, ys)

def one_is_consumed (t: ([]i32, *[]i32)) = t.0[0] + t.1[0]

def shared (xs: *[]i32) (ys: []i32) = one_is_consumed (ys, xs)
