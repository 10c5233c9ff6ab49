type planet = #mercury | #venus | #earth
type some 't = #none | #some t

def a (p: planet) = match p case #venus -> 1

def b (p: planet, q: planet) =
  match (p, q)
  case (#mercury, _) -> 1
  case (_, #mercury) -> 2
  case (#venus, #venus) -> 3

def c (x: i32) = match x case 1 -> 1 case 2 -> 2

def d (x: bool) = match x case true -> 1

def e (x: {f: bool, g: bool}) =
  match x
  case {f = true, g = false} -> 1
  case {f = false, g = true} -> 2

def f (x: some (some i32)) =
  match x
  case #some (#some 3) -> 1
  case #none -> 2

def g (x: (i32, bool)) =
  match x
  case (1, true) -> 1
  case (_, false) -> 2

-- A match within a match, in a lambda, in the size of a type.
def h (xs: []planet) =
  map (\x -> match x case #venus -> (match x case #earth -> 1) case _ -> 2) xs

def i (x: bool) (ys: [match x case true -> 2i64]i32) = ys

-- Where there is no other case.
def j (x: some i32) = let #some y = x in y
def k 1 = 2
def l = \(true, x) -> x
def m (xs: []planet) = loop s = 0 for #venus in xs do s + 1
def n = let o #none = 1 in o #none
def p = loop (1, x) = (1, 2) while x < 3 do (x, x)
