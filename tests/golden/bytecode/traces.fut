def f (xs: []i32) (i: i64) : i32 = xs[i]

def g (xs: []i32) (i: i64) : i32 = f xs (i + 1)

entry main (xs: []i32) : i32 = g xs 3
