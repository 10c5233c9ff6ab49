-- A parametric module is checked by itself: what its parameter's types are makes no difference to its body.
module table (p: {type t val empty : t val set : *t -> i64 -> *t}) = {
  def start () = p.empty
  def first (t: *p.t) = p.set t 0
  def wrong (t: p.t) = p.set t 0
}

module numbers = table {
  type t = [3]i64
  def empty : t = [0, 0, 0]
  def set (t: *t) (i: i64) : *t = t with [i] = i
}

def use (t: *[3]i64) = numbers.first (numbers.first t)
