-- The array is updated in place in the loop; `b` is still needed outside of the operator.
entry main (a: *[]i32) (b: []i32) =
  let a = loop a for i < length a do a with [i] = a[i] * 2 + b[0]
  let c = map (\x -> x + b[0]) a
  in if length c > 3 then (a, c) else (c, b)
