-- A turn consumes nothing that the next one would need.
def free (n: i64) (xs: *[n]i64) =
  loop s = 0 for i < n do
    let ys = xs with [i] = s
    in ys[0]

def element (n: i64) (xss: *[n][n]i64) =
  loop s = 0 for xs in xss do
    let ys = xs with [0] = s
    in ys[0]

def inside (n: i64) =
  loop s = 0 for i < n do
    let ys = replicate n i
    let ys[0] = s
    in ys[0]
