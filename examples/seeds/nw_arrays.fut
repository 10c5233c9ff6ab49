-- Needleman-Wunsch with whole arrays: each anti-diagonal is a new matrix, which differs from the old one on that
-- anti-diagonal only.
--
-- Exercises: reuse of the operand's memory for the result. The cells that are read through other indices (RDS) and
-- those that change (MOD) lie on different anti-diagonals, and all others are copied onto themselves (CDS); the
-- condition is a control path of the analysis. The old matrix's memory then takes the new one, and only the
-- anti-diagonal is written.
-- ==
-- entry: main
-- input { 10i32 [[10i32, 4i32, 5i32, 9i32, 3i32, 7i32, 8i32], [-5i32, -8i32, -3i32, -4i32, 9i32, 10i32, -9i32],
--   [1i32, 8i32, -7i32, 7i32, -7i32, 0i32, 8i32], [-3i32, -2i32, -4i32, 6i32, -4i32, 11i32, 0i32],
--   [1i32, 1i32, 3i32, 2i32, 1i32, 11i32, 7i32], [7i32, 5i32, 4i32, -2i32, 11i32, 0i32, -5i32],
--   [8i32, -6i32, 9i32, 3i32, -7i32, -9i32, 0i32]] }
-- output { [[0i32, -10i32, -20i32, -30i32, -40i32, -50i32, -60i32],
--   [-10i32, -8i32, -13i32, -23i32, -21i32, -30i32, -40i32], [-20i32, -2i32, -12i32, -6i32, -16i32, -21i32, -22i32],
--   [-30i32, -12i32, -6i32, -6i32, -10i32, -5i32, -15i32], [-40i32, -22i32, -9i32, -4i32, -5i32, 1i32, 2i32],
--   [-50i32, -32i32, -18i32, -11i32, 7i32, -3i32, -4i32], [-60i32, -42i32, -23i32, -15i32, -3i32, -2i32, -3i32]] }
-- input { 10i32 [[0i32]] }
-- output { [[0i32]] }
-- input { 10i32 empty([0][0]i32) }
-- output { empty([0][0]i32) }

-- ==
-- entry: agrees
-- input { 1i64 } output { true }
-- input { 2i64 } output { true }
-- input { 40i64 } output { true }

-- ==
-- entry: large
-- input { 65i64 } output { -858211044i64 117i32 }
-- input { 97i64 } output { -6052132533i64 195i32 }

-- ==
-- entry: larger
-- input { 193i64 } output { -140571867857i64 517i32 }

import "lib/alignment"
import "lib/inputs"

def align [n] (penalty: i32) (scores: [n][n]i32): *[n][n]i32 =
  let value [k] (cells: [k][k]i32) (r: i64) (c: i64): i32 =
    cell penalty cells[r - 1, c - 1] cells[r, c - 1] cells[r - 1, c] scores[r, c]
  let upper_left =
    loop cells = borders penalty n for k < n - 1 do
      let i = k + 1 in
      tabulate_2d n n (\r c ->
        if 1 <= r && r <= i && 1 <= c && c <= i && r == i - c + 1
        then value cells r c
        else cells[r, c])
  in loop cells = upper_left for k < n - 1 do
       let i = k + 1 in
       tabulate_2d n n (\r c ->
         if i < r && i < c && r == n - c + i
         then value cells r c
         else cells[r, c])

entry main [n] (penalty: i32) (scores: [n][n]i32): [n][n]i32 =
  align penalty scores

-- Is an n by n matrix what cell after cell gives?
entry agrees (n: i64): bool =
  let scores = random_scores n
  in and (map2 (==) (flatten (align 10 scores)) (flatten (sequential 10 scores)))

-- An n by n matrix: a checksum of all cells, and the score of the whole alignment.
entry large (n: i64): (i64, i32) =
  let cells = align 10 (random_scores n)
  in (checksum (flatten cells), cells[n - 1, n - 1])

-- For tests that do not ask about each of its diagonals.
entry larger (n: i64): (i64, i32) = large n
