-- | Inputs that every machine makes alike, and numbers that stand for large results.

-- | The bits of a number, scrambled (the finaliser of MurmurHash3).
def scramble (i: i64): u32 =
  let x = u32.i64 i
  let x = (x ^ (x >> 16)) * 0x85ebca6b
  let x = (x ^ (x >> 13)) * 0xc2b2ae35
  in x ^ (x >> 16)

-- | One of the numbers from 0 up to but without `limit`.
def below (limit: i64) (i: i64): i64 = i64.u32 (scramble i) % limit

-- | One of the numbers from 0 up to but without 1, in steps of 2^-24.
def unit (i: i64): f32 = f32.u32 (scramble i >> 8) / 16777216

-- | A matrix from its elements' indices, made as a flat array, so that no row is ever on its own.
def grid 't (n: i64) (m: i64) (f: i64 -> i64 -> t): *[n][m]t =
  let width = i64.max 1 m
  in unflatten (tabulate (n * m) (\k -> f (k / width) (k % width)))

-- | A matrix of numbers from 0 up to 1; another `seed`, another matrix.
def matrix (seed: i64) (n: i64) (m: i64): *[n][m]f32 =
  grid n m (\i j -> unit (seed * 1000003 + i * m + j))

-- | A matrix with a heavy diagonal, for solvers without pivoting.
def dominant (n: i64): *[n][n]f32 =
  grid n n (\i j -> unit (i * n + j) + if i == j then f32.i64 n else 0)

-- | A sum that notices which number is where; integers wrap, so the order of addition does not matter.
def checksum [n] (xs: [n]i32): i64 =
  reduce (+) 0 (map2 (\i x -> (i + 1) * i64.i32 x) (iota n) xs)

-- | A mean that notices which number is where, up to rounding.
def mean [n] (xs: [n]f32): f64 =
  reduce (+) 0 (map2 (\i x -> f64.i64 (1 + i % 7) * f64.f32 x) (iota n) xs) / f64.i64 n

-- | The greatest difference of two arrays.
def distance [n] (xs: [n]f32) (ys: [n]f32): f32 =
  reduce f32.max 0 (map2 (\x y -> f32.abs (x - y)) xs ys)
