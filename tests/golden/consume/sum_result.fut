-- Results of sum types: each payload may be fresh.
type list = #cons ([2]i32) i32 | #nil

def make (b: bool) = if b then #cons [1, 2] 3 else #nil : list

def wrap (xs: [2]i32) : list = #cons xs 1

def good (b: bool) : *[2]i32 =
  match make b
  case #cons xs _ -> xs with [0] = 1
  case #nil -> [0, 0]

def bad (xs: [2]i32) : *[2]i32 =
  match wrap xs
  case #cons ys _ -> ys with [0] = 1
  case #nil -> [0, 0]
