-- Sizes that would end up where nobody knows them.

def twice '^a '^b '^c (f: a -> b) (g: b -> c) (x: a) : (c, c) = (g (f x), g (f x))

-- The size of what `iota` gives would be asked for before there is a number.
def composed = twice iota

def fine = twice (\x -> x + 1i64) iota

def takes (n: i64) (xs: [n]bool) = xs

def uncurried = uncurry takes

-- A part of a parameter has no name for callers.
def part (n: i64, _: bool) : [n]bool = replicate n true

def whole (n: i64) ((_, b): (i32, bool)) : [n]bool = replicate n b

-- Only functions mention `m`: what they want or give is unknown.
def hidden (n: i64) =
  let (m, _) = (n + 1, true)
  in (iota (m + 1), \(_: i32) -> iota m)

def one_more [n] (_: [n + 1]i64) = n

def uses_hidden (n: i64) =
  let (xs, _) = hidden n
  in one_more xs

def asks (n: i64) =
  let (m, _) = (n + 1, true)
  in (m, zip (iota m))

-- Nothing says how long the payload of the other constructor is.
type~ either = #left ([]i32) | #right ([]i32)

def ambiguous (xs: []i32) =
  let _v : either = #left xs
  in xs

def scale [d] (xs: [d]f64) (by: [d * 1]f64) : [d * 1]f64 = map2 (*) (xs :> [d * 1]f64) by

def shrink [d] (xs: [d]f64) : []f64 = take (d - 1) xs

def escapes (xs: []f64) (by: []f64) : []f64 =
  loop xs for _i < 3i32 do scale (shrink xs) by

def stays (xs: []f64) : []f64 =
  loop xs for _i < 3i32 do shrink xs

-- The `n` of a call by itself is not the `n` of this one.
def itself (n: i64) : [n]i64 =
  if n == 0 then [] :> [n]i64 else map itself [n - 1] |> flatten |> sized n

-- What a function among the arguments gives may have any size.
def turns '~a (f: (() -> a) -> a) (x: () -> a) = f (\() -> f x)

def doubled (xs: []i32) = turns (\(p: () -> []i32) -> p () ++ p ()) (\() -> xs)
