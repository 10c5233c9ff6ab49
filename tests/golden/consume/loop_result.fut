-- A loop gives its initial value or what a turn gave.
def initial (n: i64) (xs: [n]i64) =
  let ys = loop ys = xs for _i < n do ys
  in ys with [0] = 1

def shared_by_body (n: i64) (xs: [n]i64) =
  let ys = loop _ = iota n for _i < n do xs
  in ys with [0] = 1

def own (n: i64) =
  let ys = loop ys = iota n for i < n do ys with [i] = 0
  in ys with [0] = 1
