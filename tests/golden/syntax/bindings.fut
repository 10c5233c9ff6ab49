def f x =
  let (a, b) = x
  let [n] (c: [n]i32) = a
  let g [m] 'a (y: [m]a) : i32 = 1
  let h y z = y
  let a[0] = 1
  let a[1:2, ::-1] = b
  let r.x = 2
  in loop acc = 0 for i < 10 do acc + i

def g xs =
  let a = loop (x, y) = (0, 1) for z in xs do (y, x + z)
  let b = loop a while a < 10 do a + 1
  in match a
     case (0, _) -> 1
     case (-1, x) -> x
     case #some y -> (match y case _ -> 2)
     case {p = 1, q} -> q
