-- What a loop carries for nobody is dropped, but not what something needs that stays because it can end the program, or not end.
def twice (x: i64) = x * 2

-- The second value only makes more of itself.
entry dropped (n: i64): i64 =
  let (r, _) = loop (r, c) = (0, 1) for i < n do (r + i, twice c)
  in r

-- A loop that may not end asks for it.
entry asked (n: i64): i64 =
  let (r, _) =
    loop (r, c) = (0, 1) for i < n do
      let _ = loop x = 0i64 while c > 500000 do x + 1
      in (r + i, twice c % 7)
  in r

-- A map that can fail reads it.
entry read [n] (xs: [n]i64): i64 =
  let (r, _) =
    loop (r, c) = (0, 1) for i < n do
      let _ = map (\j -> xs[j + c]) (iota n)
      in (r + i, twice c % 7)
  in r

-- It begins an inner loop that does not need it, and says how often that runs.
entry counted [n] (xs: [n]i64): i64 =
  let (r, _) =
    loop (r, c) = (0, 1) for i < n do
      let (_, s) = loop (u, s) = (c, 0) for j < c do (u + 1, s + xs[j])
      in (r + s, twice c % n)
  in r

-- Nothing of a loop is needed that reads outside of an array, or may not end.
entry fails [n] (xs: [n]i64) (m: i64): i64 =
  let _ = loop s = 0 for i < m do s + xs[i]
  let _ = loop (s, t) = (0, m) while t > 0 do (s + 1, t - 1)
  in n
