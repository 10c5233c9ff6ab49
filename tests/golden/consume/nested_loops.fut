-- Loops in loops hand their arrays on.
def grid (n: i64) =
  loop a = replicate n (replicate n 0) for i < n do
    loop a for j < n do
      a with [i, j] = i * j

def sort (n: i64) (xs: [n]i32) =
  loop a = copy xs for i < n do
    let (b, _) =
      loop (b, j) = (a, i) while j > 0 && b[j - 1] > b[j] do
        let x = b[j]
        let b[j] = b[j - 1]
        let b[j - 1] = x
        in (b, j - 1)
    in b

def old_inner (n: i64) (xs: *[n]i64) =
  loop a = xs for i < n do
    let b = loop b = a for j < n do b with [j] = i
    in b with [i] = a[i]
