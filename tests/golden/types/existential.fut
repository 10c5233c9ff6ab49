-- Sizes that only a value tells: where they come from, what may be done with them.
def kept (xs: []i32) = filter (> 0) xs

def same [n] (xs: [n]i32) (ys: [n]i32) = map2 (+) xs ys

def coerced (xs: []i32) (ys: []i32) =
  let [k] (zs: [k]i32) = filter (> 0) xs
  in same zs (ys :> [k]i32)

def named (xs: []i32) =
  let [k] (zs: [k]i32) = filter (> 0) xs
  in (k, iota k, zs)

def either (c: bool) (n: i64) = if c then iota n else iota (n + 1)

def slices [n] (xs: [n]i32) = (xs[1:], xs[:3], xs[1:4], xs[::-1], xs[::2])

def counted (a: i64) (b: i64) = (0..<b, a..<b, a...b, 0..2..<b)

def partitioned [n] (xs: [n]i32) : ([]i32, []i32) = partition (> 0) xs

def piped (xs: []i32) = xs |> filter (> 0) |> map (* 2) |> i32.sum

def hidden (p: (i64, i32)) = replicate p.0 p.1

def growing (n: i64) = loop xs = [0i32] for _i < n do xs ++ xs

def swapped [n] (as: [n]i32) (bs: [n]i32) = loop (as, bs) for _i < 3i32 do (bs, as)

type equals [n] = {a: [n]i32, b: [n]i32}

type~ tagged = {pair: equals [], tag: i32}

module pairs: {
  type~ t
  val make: i64 -> t
  val turn: t -> t
  val sums: t -> []i32
} = {
  type~ t = tagged
  def make (n: i64): t = {pair = {a = replicate n 1, b = replicate n 2}, tag = 0}
  def turn (x: t): t = x with pair = {a = x.pair.b, b = x.pair.a}
  def sums (x: t) = map2 (+) x.pair.a x.pair.b
}

def sums_of (n: i64) = pairs.sums (pairs.turn (pairs.make n))

def refused_unequal [n] [m] (xs: [n]i32) (ys: [m]i32): tagged = {pair = {a = xs, b = ys}, tag = 1}

def refused_match [n] [m] (xs: [n]i32) (ys: [m]i32) = same xs ys

def refused_unknown (xs: []i32) = same (filter (> 0) xs) (filter (< 0) xs)

def refused_element (ns: []i64) = map (\n -> iota n) ns

def refused_order (xs: []i32) = (\(f: [2]i32 -> i32) -> f) (\ys -> i32.sum (same ys xs))

def refused_late (b: bool) (xs: []i32) =
  let none = []
  let some = [filter (> 0) xs]
  in if b then none[0] else some[0]

def refused_scope xs = zip xs (iota xs[0])

def refused_pattern = let [n] (f: [n]i32 -> i32) = (\(xs: [3]i32) -> xs[0]) in n

def refused_unused = let [n] (x: i32) = 3 in x
