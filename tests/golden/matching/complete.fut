type planet = #mercury | #venus | #earth
type shape = #circle f32 | #box {w: f32, h: f32} | #none
type tree 't = #leaf | #node t (#left | #right | #both (t, t))

def order (p: planet) : i32 =
  match p
  case #mercury -> 1
  case #venus -> 2
  case #earth -> 3

def area (s: shape) : f32 =
  match s
  case #circle r -> r * r
  case #box {w, h} -> w * h
  case #none -> 0

def pairs (p: (bool, bool)) : i32 =
  match p
  case (true, _) -> 1
  case (_, true) -> 2
  case (false, false) -> 3

def nested (t: tree i32) : i32 =
  match t
  case #node 1 _ -> 0
  case #leaf -> 1
  case #node x #left -> x
  case #node x (#both (1, _)) -> x
  case #node _ (#both (y, z)) -> y + z
  case #node x #right -> x

def numbers (x: i32) (y: f32) : i32 =
  match (x, y)
  case (0, 1.5) -> 1
  case (-1, _) -> 2
  case (_, -2) -> 3
  case _ -> 4

def only (x: #one i32) : i32 =
  let #one y = x in y

def parameter ((a, {b, c = _}): (i32, {b: i32, c: bool})) : i32 =
  let (d, _) = (a, b)
  let f (e, ()) = e + d
  let (g, h) = loop (g, h) = (1, 2) for (i, j) in zip [f (1, ())] [2] do (g + i, h + j)
  in (\(k, {l}) -> k + l) (g, {l = h})
