-- | What both formulations of Needleman-Wunsch share: the rule for one cell, the borders, inputs, and the plain loops.

import "inputs"

-- | The best of a pair, and of a gap in either sequence.
def cell (penalty: i32) (corner: i32) (left: i32) (above: i32) (score: i32): i32 =
  i32.max (corner + score) (i32.max (left - penalty) (above - penalty))

-- | The matrix before the first step: gaps only in row 0 and column 0, and zeros.
def borders (penalty: i32) (n: i64): *[n][n]i32 =
  grid n n (\r c -> if r == 0 || c == 0 then -penalty * i32.i64 (r + c) else 0)

-- | The score of each pair of letters; row 0 and column 0 are not used.
def random_scores (n: i64): *[n][n]i32 =
  grid n n (\r c -> i32.i64 (below 21 (r * n + c)) - 10)

-- | Cell after cell, each from its neighbours.
def sequential [n] (penalty: i32) (scores: [n][n]i32): *[n][n]i32 =
  loop cells = borders penalty n for r in 1..<n do
    loop cells for c in 1..<n do
      let value = cell penalty cells[r - 1, c - 1] cells[r, c - 1] cells[r - 1, c] scores[r, c]
      in cells with [r, c] = value
