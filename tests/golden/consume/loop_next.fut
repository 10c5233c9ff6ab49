-- New values of consumed parameters are the turn's own, and apart from each other.
def outside (n: i64) =
  let ys = replicate n 0i64
  in loop xs = replicate n 1 for i < n do
       let zs = xs with [i] = 1
       in if zs[0] == 0 then zs else ys

def same (n: i64) =
  loop (xs: *[n]i64, ys: *[n]i64) = (iota n, iota n) for _i < n do (xs, xs)

def swapped (n: i64) =
  loop (xs: *[n]i64, ys: *[n]i64) = (iota n, iota n) for _i < n do (ys, xs)

def also_kept (n: i64) =
  loop (kept, own) = (iota n, iota n) for i < n do
    let own = own with [i] = 0
    in (own, own)

def pass_on (n: i64) =
  loop (kept, own) = (iota n, iota n) for i < n do
    (own, kept with [i] = 0)
