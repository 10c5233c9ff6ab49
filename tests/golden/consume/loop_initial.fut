-- What the initial value consumed is gone in every turn.
def old (n: i64) (xs: *[n]i64) =
  loop ys = xs for i < n do ys with [i] = xs[i]

def old_through_function (n: i64) (xs: *[n]i64) =
  let f i = xs[i]
  in loop ys = xs for i < n do ys with [i] = f i

def while_condition (n: i64) (xs: *[n]i64) =
  loop ys = xs while xs[0] < n do ys with [0] = ys[0] + 1

def good (n: i64) (xs: *[n]i64) =
  loop xs while xs[0] < n do xs with [0] = xs[0] + 1
