-- A definition with parameters that was to use an outer one of its name: one message for each.
module exact = {
  type t = {high: u64, low: u64}
  def make (n: u64) : t = {high = 0, low = n}
  def (+) (x: t) (y: t) : t = {high = x.high + y.high, low = x.low + y.low}
  def (*) (x: t) (y: t) = {high = x.low * y.high, low = x.low * y.low}
  def square (x: t) : u64 = (x * x).low u64.+ 1
  def (-) (x: t) (y: t) : t = make (x.low u64.- y.low)
}

def reverse (xs: [3]f32) = reverse (map (+ 1i32) xs)

def reduce 'a [n] (op: a -> a -> a) (ne: a) (xs: [n](a, i32)) : a =
  reduce op ne (map (.0) xs)

-- A name that means nothing else: whatever is wrong is said as it is.
def descend (n: i32) : i32 = if n == 0 then 0 else descend true

-- What is wrong elsewhere has nothing to do with the definition's name.
def product (n: i64) : i64 = if n == 0 then true else n

-- Meant and right.
def length (n: i64) : i64 = if n <= 0 then 0 else 1 + length (n - 1)

-- Without a type for its result it is right, and of no use: it never ends, and may give anything.
def (/) (a: i32) (b: i32) = a / b
def half (x: i32) = x / 2

-- Of a name of its own this is said as it is.
def forever (x: i32) = forever x
