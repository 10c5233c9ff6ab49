-- What an entry point may take and give.
entry good [n] (xs: [n]i32) (ys: [n]i32) : [n]i32 = map2 (+) xs ys

entry polymorphic 't (x: t) = x

entry inferred_polymorphic x = x

entry takes_a_function (f: i32 -> i32) (x: i32) = f x

entry gives_a_function (x: i32) = (x, \(y: i32) -> x + y)

entry more_parameters : i32 -> i32 -> i32 = \x y -> x + y

entry computed_size [n] (xs: [n + 1]i32) = xs[n]

entry told_size [n] (xs: [n + 1]i32) (ys: [n]i32) = xs[0] + ys[0]

entry size_of_result [n] : [n]i32 = replicate n 0

entry unknown_size (n: i64) : []i64 = iota (n + 1)

module type counter = {
  type^ t
  type s
  val start : t
  val small : s
}

module hidden : counter = {
  type^ t = i32 -> i32
  type s = i32
  def start : t = \x -> x
  def small : s = 1
}

entry lifted (_: i32) : hidden.t = hidden.start

entry abstract (_: i32) : hidden.s = hidden.small

def main 't (x: t) = x
