-- A type that doubles from line to line is refused before it fills the memory.
def doubling =
  let a = (1i32, 2i32)
  let a = (a, a)
  let a = (a, a)
  let a = (a, a)
  let a = (a, a)
  let a = (a, a)
  let a = (a, a)
  let a = (a, a)
  let a = (a, a)
  let a = (a, a)
  let a = (a, a)
  let a = (a, a)
  let a = (a, a)
  let a = (a, a)
  let a = (a, a)
  let a = (a, a)
  let a = (a, a)
  let a = (a, a)
  in a.0

def twice 'a (x: a) = (x, x)

def applied (x: i32) = twice (twice (twice (twice x)))
