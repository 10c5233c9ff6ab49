-- A value of an abstract type may be an array, for all that its users know.
module type stack = {
  type t
  val push : *t -> i32 -> *t
  val top : t -> i32
  val both : t -> (t, t)
}

module array_stack : stack = {
  type t = ([10]i32, i64)
  def push ((xs, n): *t) (x: i32) : *t = (xs with [n] = x, n + 1)
  def top ((xs, n): t) = xs[n - 1]
  def both (s: t) = (s, s)
}

def good (s: *array_stack.t) = array_stack.push (array_stack.push s 1) 2

def bad (s: *array_stack.t) =
  let t = array_stack.push s 1
  in (array_stack.top s, t)

def not_mine (s: array_stack.t) = array_stack.push s 1

def parts (s: *array_stack.t) =
  let (a, b) = array_stack.both s
  in (array_stack.push a 1, b)
