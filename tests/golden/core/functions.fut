-- Small functions are expanded; large ones stay functions, one per structure of arguments.
def table = map (\i -> i * i) (iota 100)
def limit = 2 + 3i64
def small [n] (xs: [n]i64) = xs[n - 1] + limit
def apply 'a 'b (f: a -> b) (x: a) : b = f x
#[noinline] def large [n] 'a (x: a) (xs: [n]i64) = (x, i64.sum xs, n)
entry main (xs: []i64) = (small xs, apply (+ 1) xs[0], table[xs[0]])
entry twice (xs: []i64) =
  let (a, b, n) = large true xs
  let (c, d, m) = large false (map (+ 1) xs)
  let near k = k + n
  in (a && c, near b + near d, large (1i32, 2.0f32) xs, m)
