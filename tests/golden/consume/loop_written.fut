-- Unless its type says otherwise.
def kept (n: i64) (xs: *[n]i64) =
  loop ys: [n]i64 = xs for i < n do ys with [i] = i

def own (n: i64) (xs: *[n]i64) =
  loop ys: *[n]i64 = xs for i < n do ys with [i] = i

def own_of_caller (n: i64) (xs: [n]i64) =
  loop ys: *[n]i64 = xs for _i < n do ys

def kept_after_all (n: i64) (xs: [n]i64) =
  loop (ys: *[n]i64, zs: *[n]i64) = (copy xs, xs) for _i < n do (ys, copy zs)
