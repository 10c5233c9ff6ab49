-- More is missing than a message can name.
type t = #a | #b | #c | #d | #e | #f | #g | #h | #i | #j

def few (x: t) =
  match x
  case #a -> 1
  case #c -> 2
  case #f -> 3
  case #g -> 4

def many (x: (t, t)) =
  match x
  case (#a, #b) -> 1
  case (#c, _) -> 2
