-- Loops that keep what blocks of their rounds begin with.

-- As many levels as the program says.
entry cubes (x: f64) (n: i64) =
  vjp (\x -> #[stripmine(3)] loop y = x for i < n do f64.sin y * f64.i64 i) x 1

-- One level is the loop as it is; so is a loop of numbers of which nothing is said.
entry plain (x: f64) (n: i64) = vjp (\x -> #[stripmine(1)] loop y = x for _i < n do f64.sin y) x 1

-- A loop that carries arrays has blocks of all its rounds, unless they are too many.
entry arrays [m] (xs: [m]f64) (n: i64) =
  vjp (\xs -> loop ys = xs for _i < n do map f64.sin ys) xs (replicate m 1)
