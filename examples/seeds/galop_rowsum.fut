-- Sums of the rows and of the columns of the same matrix, by a loop in a parallel map.
--
-- Exercises: layout. A row's sum reads a[i, j] with the parallel index i first: neighbouring lanes are a whole row
-- apart, and a copy in the other layout makes them neighbours. A column's sum reads a[j, i]: there they are neighbours
-- as they are, and the transposition is a view. `both` wants both layouts of one array; in `again` one copy serves many
-- uses.
-- ==
-- entry: rows
-- input { [[1, 2, 3], [4, 5, 6]] } output { [6, 15] }
-- input { empty([3][0]i32) } output { [0, 0, 0] }

-- ==
-- entry: columns
-- input { [[1, 2, 3], [4, 5, 6]] } output { [5, 7, 9] }
-- input { empty([0][2]i32) } output { [0, 0] }

-- ==
-- entry: both
-- input { [[1, 2, 3], [4, 5, 6]] } output { [6, 15] [5, 7, 9] }

-- ==
-- entry: again
-- input { 3i64 [[1, 2, 3], [4, 5, 6]] } output { [15, 48] }

-- ==
-- entry: large
-- input { 10i64 } output { 265720i64 268706i64 2659846i64 }
-- input { 300i64 } output { 6763528093i64 6767193499i64 67637554856i64 }

import "lib/inputs"

def sums [n][m] (weight: i32) (a: [n][m]i32): [n]i32 =
  map (\row -> loop s = 0 for j < m do s + (row[j] ^ weight)) a

entry rows [n][m] (a: [n][m]i32): [n]i32 = sums 0 a

entry columns [n][m] (a: [n][m]i32): [m]i32 = sums 0 (transpose a)

entry both [n][m] (a: [n][m]i32): ([n]i32, [m]i32) = (sums 0 a, sums 0 (transpose a))

-- The rows' sums so many times, with another bit flipped in the elements each time.
def repeated [n][m] (times: i64) (a: [n][m]i32): [n]i32 =
  loop total = replicate n 0 for t < times do
    map2 (+) total (sums (i32.i64 t) a)

entry again [n][m] (times: i64) (a: [n][m]i32): [n]i32 = repeated times a

-- An n by n matrix: checksums of its rows' and its columns' sums, and of the rows' sums ten times.
entry large (n: i64): (i64, i64, i64) =
  let a = grid n n (\i j -> i32.i64 (below 1000 (i * n + j)))
  in (checksum (sums 0 a), checksum (sums 0 (transpose a)), checksum (repeated 10 a))
