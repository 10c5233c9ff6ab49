-- Structures, module types, sealing, parametric modules, opening, inclusion, refinement.
module type counter = {
  type t
  val start : t
  val step : t -> t
  val value : t -> i32
}

module by_one = {
  type t = i32
  def start = 0i32
  def step (x: t) = x + 1
  def value (x: t) = x
}

module hidden : counter = by_one
module seen : counter with t = i32 = by_one

def through = hidden.value (hidden.step hidden.start)
def direct = seen.start + 1

module twice (c: counter) = {
  open c
  def step (x: t) = c.step (c.step x)
}

module fast = twice by_one
def four = fast.value (fast.step (fast.step fast.start))

module type keyed = {
  include counter
  val key : t -> u8
}

module both (a: counter) (b: counter) : {
  type t = (a.t, b.t)
  val start : t
  val step : t -> t
} = {
  type t = (a.t, b.t)
  def start = (a.start, b.start)
  def step (x: t) = (a.step x.0, b.step x.1)
}

module pair = both hidden seen
def started = pair.step pair.start

module apply (f: (c: counter) -> counter) = f by_one
module applied = apply (\(c: counter) : counter -> c)
def abstracted = applied.value applied.start

module outer = {
  module inner = {
    def (<+>) (a: i32) (b: i32) = a * 10 + b
  }
  local def unseen = 1i32
  def shown = unseen + 1
}

def qualified = 1 outer.inner.<+> 2
def opened = outer.inner.(3 <+> 4)

module type sized = {
  type vector [n] 't
  val make [n] 't : [n]t -> vector [n] t
  val total [n] : vector [n] i32 -> i32
}

module sized : sized = {
  type vector [n] 't = [n]t
  def make xs = xs
  def total xs = i32.sum xs
}

def summed = sized.total (sized.make [1, 2, 3])

module m32 = f32
def root = m32.sqrt 2
open i64
def greatest = max 1 2
