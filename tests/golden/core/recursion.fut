-- Calls itself: a real call.
def fib (n: i32) : i32 = if n < 2 then n else fib (n - 1) + fib (n - 2)

entry main (n: i32) : i32 = fib n

-- The size cannot be read off the arguments, so it is passed.
def grow [n] (k: i64) (x: i64) (acc: [n]i64) : [n]i64 =
  if k == 0 then acc else grow (k - 1) x (map (+ x) acc)

entry rows (xs: [](i64, i64)) : i64 = i64.sum (grow 3 2 (map (.0) xs))

-- The function becomes part of the callee, what it captures a parameter.
def repeat (n: i64) (f: i64 -> i64) (x: i64) : i64 = if n == 0 then x else repeat (n - 1) f (f x)

entry twice (n: i64) (y: i64) : i64 = repeat n (\x -> x + y) 1 * repeat n (* 2) y
