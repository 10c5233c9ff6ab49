-- What is the same for all rows, and takes some work, is made once.
entry once [n] [m] (xs: [n]f64) (ys: [m]f64) =
  map (\x -> f64.sum (map2 (\y z -> x * y + z) (map f64.exp ys) ys)) xs

-- The value of a function for all directions of its derivative, and what the derivative needs of it.
entry directions [n] (xs: [n]f64) =
  let f (xs: [n]f64) = let ys = map f64.exp xs in (f64.sum ys, map (\y -> y * f64.sin y) ys)
  in map (\i -> jvp f xs (map (\j -> f64.bool (i == j)) (iota n))) (iota n)

-- A loop of which one part is the same in all rows.
entry rounds [n] (xs: [n]f64) (k: i64) =
  map (\x -> loop (a, b) = (1, x) for i < k do (a * f64.sin a, b + f64.i64 i)) xs

-- What can fail is executed if there is a row, before it.
entry checked [n] [m] (xs: [n]f64) (ys: [m]f64) (at: [m]i64) =
  map (\x -> x * f64.sum (map (\i -> ys[i]) at)) xs

-- These stay: something else can fail before, rows change their own copies, and there is little to do.
entry later [n] [m] (xs: [n]i64) (ys: [m]i64) (at: [m]i64) =
  map (\x -> let a = ys[x] in a + i64.sum (map (\i -> ys[i]) at)) xs
entry own [n] [m] (xs: [n]f64) (ys: [m]f64) =
  map (\x -> let a = map f64.exp ys in a with [0] = x) xs
entry little [n] [m] (xs: [n]f64) (ys: [m]f64) =
  map (\x -> let a = map (+ 1) ys in map (* x) a) xs
