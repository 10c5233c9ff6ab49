-- What `with` gives a type keeps the degree of liftedness that its specification says.
module type kernel = {
  type~ ctx
  val context : i64 -> ctx
  val weigh : ctx -> i64
}

module type model = {
  type ctx
  type~ wide
  val use : ctx -> i64
}

module unite (k: kernel) (m: model with ctx = k.ctx with wide = k.ctx) = {
  type ctx = m.ctx
  type~ wide = m.wide
  type pair = (m.ctx, i32)
  def run (n: i64) = m.use (k.context n)
}

module refused (k: kernel) (m: model with ctx = k.ctx with wide = k.ctx) = {
  type own = k.ctx
  type wide = m.wide
  type pair = (m.wide, i32)
}

module numbers = { type~ ctx = i64 def context (n: i64) = n def weigh (c: ctx) = c }
module sized = { type~ ctx = []i64 def context (n: i64) = iota n def weigh (c: ctx) = i64.sum c }

module united = unite numbers { type ctx = i64 type~ wide = i64 def use (c: ctx) = c + 1 }
def one = united.run 1

-- A name is as lifted as its declaration says, whatever it stands for.
type~ loose = i32
type tight = loose
type^ looser = i32
type~ less = looser

-- Sizes that `with` brings into parameters are parameters of the value; those written in it must be named.
module type container = {
  type~ t
  val size : t -> i64
  val get : i64 -> t -> i32
  val at : (i64, t) -> i32
  val both : t -> t -> i64
  val make : i64 -> t
}

module client (c: container with t = []i32) = {
  def two [n] [m] (xs: [n]i32) (ys: [m]i32) = c.both xs ys + c.size xs
  def pick = c.get 1 [1, 2, 3] + c.at (0, [4, 5])
  def made (n: i64) = c.size (c.make n)
}

module flat : container with t = []i32 = {
  type~ t = []i32
  def size (t: t) = length t
  def get (i: i64) (t: t) = t[i]
  def at (i: i64, t: t) = t[i]
  def both (a: t) (b: t) = length a + length b
  def make (n: i64) = map i32.i64 (iota n)
}

module of_flat = client flat
def picked = of_flat.pick + flat.get 0 [7]

module type written_open = {
  val curried : i64 -> []i32 -> i32
}

module type written_in_function = {
  val higher : ([]i32 -> i32) -> i32
}

module type seen_from_outside = {
  include container with t = []i32
  val further : t -> i32
}

module type written_constant = {
  val numbers : []i32
}
