-- Nothing is consumed in a size.
def take_all (ns: *[]i64) : i64 = ns[0]

def f [n] (ns: *[n]i64) (xs: [take_all ns]i32) = xs[0] + i32.i64 ns[0]
