-- The k records that are nearest to a place: the distance of each record, then k times the least distance, which is
-- replaced by infinity.
--
-- Exercises: a reduction in a loop whose result goes into arrays by updates (three in each round, all in place); two
-- arrays that live across the loop, and one that is made in front of it and dies in it (last use, counts).
-- ==
-- entry: main
-- input { 3i64 1.5f32 -2f32 [0f32, 1f32, 2f32, 1f32, 9f32] [0f32, -2f32, -2f32, -2.25f32, 9f32] }
-- output { [1i64, 2i64, 3i64] [0.5f32, 0.5f32, 0.559017f32] }
-- input { 0i64 0f32 0f32 [1f32] [1f32] }
-- output { empty([0]i64) empty([0]f32) }
-- input { 2i64 0f32 0f32 [1f32] [1f32] }
-- error: Assertion is false

-- ==
-- entry: agrees
-- input { 1i64 1i64 } output { true }
-- input { 5i64 100i64 } output { true }
-- input { 40i64 40i64 } output { true }

-- ==
-- entry: large
-- input { 100i64 } output { 854i64 28.297203f32 }
-- input { 5000i64 } output { 49167i64 3.3871143f32 }

import "lib/inputs"

def distances [n] (x: f32) (y: f32) (xs: [n]f32) (ys: [n]f32): *[n]f32 =
  map2 (\a b -> f32.sqrt ((a - x) * (a - x) + (b - y) * (b - y))) xs ys

-- The lesser distance; of equal ones that of the first record.
def nearer (d: f32, i: i64) (e: f32, j: i64): (f32, i64) =
  if d < e || (d == e && i < j) then (d, i) else (e, j)

def nearest [n] (k: i64) (all: *[n]f32): ([k]i64, [k]f32) =
  let (_, records, least) =
    loop (left, records, least) = (all, replicate k 0, replicate k 0) for r < k do
      let (d, i) = reduce_comm nearer (f32.inf, i64.highest) (zip left (iota n))
      in (left with [i] = f32.inf, records with [r] = i, least with [r] = d)
  in (records, least)

entry main [n] (k: i64) (x: f32) (y: f32) (xs: [n]f32) (ys: [n]f32): ([k]i64, [k]f32) =
  nearest (assert (k <= n) k) (distances x y xs ys) :> ([k]i64, [k]f32)

def place (n: i64): ([n]f32, [n]f32) =
  (tabulate n (\i -> 180 * unit i), tabulate n (\i -> 90 * unit (n + i)))

-- Has each record that was found as many before it as its rank says?
entry agrees (k: i64) (n: i64): bool =
  let (xs, ys) = place n
  let all = distances 30 60 xs ys
  let (records, least) = nearest k (copy all)
  let rank (i: i64): i64 =
    i64.sum (map2 (\d j -> i64.bool (d < all[i] || (d == all[i] && j < i))) all (iota n))
  in and (map3 (\r i d -> rank i == r && d == all[i]) (iota k) records least)

-- The 16 nearest of n records: the sum of their numbers, and the greatest of their distances.
entry large (n: i64): (i64, f32) =
  let (xs, ys) = place n
  let (records, least) = nearest (i64.min 16 n) (distances 30 60 xs ys)
  in (i64.sum records, last least)
