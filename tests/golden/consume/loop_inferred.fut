-- A loop's parameter is its own if a turn consumes it.
def fill (n: i64) (xs: *[n]i64) =
  loop xs for i < n do xs with [i] = i

def fill_kept (n: i64) (xs: [n]i64) =
  loop xs for i < n do xs with [i] = i

def fill_copy (n: i64) (xs: [n]i64) =
  loop ys = copy xs for i < n do ys with [i] = xs[i]

def not_consumed (n: i64) (xs: [n]i64) =
  loop (s, ys) = (0, xs) for i < n do (s + ys[i], ys)
