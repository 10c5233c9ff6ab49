-- The payload of a constructor is the array that was put into it.
type maybe = #some ([3]i32) | #none

def get (m: maybe) : *[3]i32 =
  match m
  case #some xs -> xs
  case #none -> [0, 0, 0]

def get_own (m: *maybe) : *[3]i32 =
  match m
  case #some xs -> xs with [0] = 1
  case #none -> [0, 0, 0]

def hidden (xs: *[3]i32) =
  let m: maybe = #some xs
  let ys = xs with [0] = 1
  in (m, ys)

def twice (m: *maybe) = (get_own m, get_own m)
