-- Functions that call themselves.
def factorial (n: i64) : i64 = if n <= 1 then 1 else n * factorial (n - 1)

def halves [n] (xs: [n]i32) : i32 =
  if n == 0 then 0 else if n == 1 then xs[0] else halves (xs[:n / 2]) + halves (xs[n / 2:])

def inferred n = if n <= 0 then 0 else 1 + inferred (n - 1i32)

def repeated (f: i64 -> i64) (n: i64) (x: i64) : i64 = if n == 0 then x else repeated f (n - 1) (f x)

def refused_constant = refused_constant + 1

def refused_result (n: i64) : i64 -> i64 = \x -> if n == 0 then x else refused_result (n - 1) (x + 1)

def refused_argument (f: i64 -> i64) (n: i64) : i64 = if n == 0 then f n else refused_argument (\x -> f (x + 1)) (n - 1)

def refused_partial (f: i64 -> i64) (n: i64) : i64 =
  let again = refused_partial f
  in if n == 0 then f n else again (n - 1)

def refused_local (n: i64) =
  let down (k: i64) : i64 = if k == 0 then 0 else down (k - 1)
  in down n
