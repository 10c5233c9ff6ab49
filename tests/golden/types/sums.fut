-- Sum types: constructors take their type from where they are used.
type shape = #circle f32 | #box {w: f32, h: f32} | #empty

def unit : shape = #circle 1

def area (s: shape) =
  match s
  case #circle r -> f32.pi * r * r
  case #box {w, h} -> w * h
  case #empty -> 0

def boxes [n] (ws: [n]f32) : [n]shape = map (\w -> if w > 0 then #box {w, h = 1} else #empty) ws

def option 'a (otherwise: a) (o: #some a | #none) : a = match o case #some x -> x case #none -> otherwise

def used = option 3i32 (#some 4)

def nested (x: #a (#b i32 | #c) | #d) = match x case #a (#b n) -> n case #a #c -> 0 case #d -> 1

def equal (a: shape) (b: shape) = a == b

def refused_open = #some 1

def refused_constructor : shape = #square 2

def refused_payload : shape = #circle true

def refused_arity : shape = #circle 1 2

def refused_cases (s: shape) = match s case #circle r -> r case #empty -> 0

def refused_pattern (s: shape) = match s case #circle r -> r case 3 -> 0 case _ -> 1

type refused_twice = #a | #a i32
