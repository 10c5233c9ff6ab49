module type monoid = {
  type t
  val add : t -> t -> t
  val (+) 'a : a -> a
  type pair 'a = (a, a)
  module inner : { val x : i32 }
  include other
}
module sum : monoid with t = i32 = { type t = i32 def add a b = a + b }
module f (a: monoid) (b: monoid with t = a.t) = { def x = a.add }
module g = f sum (import "other")
module h = \(p: monoid) : monoid -> p
def x = m.(a + b)
