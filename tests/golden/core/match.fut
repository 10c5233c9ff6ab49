entry literals (x: i32) (b: bool) : i32 =
  match (x, b)
  case (0, _) -> 10
  case (-1, true) -> 20
  case (y, false) -> y
  case _ -> 30

entry records (a: i32) : i32 =
  match {key = a, value = (a + 1, 2)}
  case {key = 1, value = _} -> 1
  case {key, value = (v, _)} -> key * v

entry nested (x: i64) : i64 =
  let y : #leaf i64 | #pair (#l i64 | #r i64) i64 = if x > 5 then #leaf x else #pair (#l x) 3
  in match y
     case #leaf v -> v
     case #pair (#l a) b -> a + b
     case #pair (#r a) b -> a - b
