type~ acc 't = intrinsics.acc t

def step [k] (a: *acc ([k]i32)) (i: i64) : acc ([k]i32) =
  intrinsics.acc_write (intrinsics.acc_write a i 1) (i + 1) 2

entry replaced [k] (xs: *[k]i32) : [k]i32 = intrinsics.scatter_stream xs step (iota 10)

entry added [k] (xs: *[k]i32) : [k]i32 = intrinsics.hist_stream xs (+) 0 step (iota 10)
