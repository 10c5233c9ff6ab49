-- Needleman-Wunsch: the best alignment of two sequences, in blocks of b by b cells.
--
-- The blocks on an anti-diagonal are computed together, each from the column at its left and the row above it. Columns,
-- rows and blocks of a whole anti-diagonal are views of the flat matrix with an offset, extents and strides, and so is
-- the place that the new blocks are written to.
--
-- Exercises: short-circuiting of a kernel's result into an update through such a view (point C2), whose target does not
-- meet the views that the kernel reads (exact disjointness); the in-kernel array of each block goes the same way (point
-- C4). The matrix is then updated in place, without a copy of the blocks.
-- ==
-- entry: main
-- input { 2i64 10i32 [[10i32, 4i32, 5i32, 9i32, 3i32, 7i32, 8i32], [-5i32, -8i32, -3i32, -4i32, 9i32, 10i32, -9i32],
--   [1i32, 8i32, -7i32, 7i32, -7i32, 0i32, 8i32], [-3i32, -2i32, -4i32, 6i32, -4i32, 11i32, 0i32],
--   [1i32, 1i32, 3i32, 2i32, 1i32, 11i32, 7i32], [7i32, 5i32, 4i32, -2i32, 11i32, 0i32, -5i32],
--   [8i32, -6i32, 9i32, 3i32, -7i32, -9i32, 0i32]] }
-- output { [[0i32, -10i32, -20i32, -30i32, -40i32, -50i32, -60i32],
--   [-10i32, -8i32, -13i32, -23i32, -21i32, -30i32, -40i32], [-20i32, -2i32, -12i32, -6i32, -16i32, -21i32, -22i32],
--   [-30i32, -12i32, -6i32, -6i32, -10i32, -5i32, -15i32], [-40i32, -22i32, -9i32, -4i32, -5i32, 1i32, 2i32],
--   [-50i32, -32i32, -18i32, -11i32, 7i32, -3i32, -4i32], [-60i32, -42i32, -23i32, -15i32, -3i32, -2i32, -3i32]] }
-- input { 3i64 10i32 [[10i32, 4i32, 5i32, 9i32, 3i32, 7i32, 8i32], [-5i32, -8i32, -3i32, -4i32, 9i32, 10i32, -9i32],
--   [1i32, 8i32, -7i32, 7i32, -7i32, 0i32, 8i32], [-3i32, -2i32, -4i32, 6i32, -4i32, 11i32, 0i32],
--   [1i32, 1i32, 3i32, 2i32, 1i32, 11i32, 7i32], [7i32, 5i32, 4i32, -2i32, 11i32, 0i32, -5i32],
--   [8i32, -6i32, 9i32, 3i32, -7i32, -9i32, 0i32]] }
-- output { [[0i32, -10i32, -20i32, -30i32, -40i32, -50i32, -60i32],
--   [-10i32, -8i32, -13i32, -23i32, -21i32, -30i32, -40i32], [-20i32, -2i32, -12i32, -6i32, -16i32, -21i32, -22i32],
--   [-30i32, -12i32, -6i32, -6i32, -10i32, -5i32, -15i32], [-40i32, -22i32, -9i32, -4i32, -5i32, 1i32, 2i32],
--   [-50i32, -32i32, -18i32, -11i32, 7i32, -3i32, -4i32], [-60i32, -42i32, -23i32, -15i32, -3i32, -2i32, -3i32]] }
-- input { 3i64 10i32 [[0i32]] }
-- output { [[0i32]] }
-- input { 2i64 10i32 [[0i32, 0i32], [0i32, 0i32]] }
-- error: Assertion is false

-- ==
-- entry: agrees
-- input { 1i64 1i64 } output { true }
-- input { 1i64 5i64 } output { true }
-- input { 5i64 1i64 } output { true }
-- input { 16i64 6i64 } output { true }

-- ==
-- entry: large
-- input { 1i64 } output { -858211044i64 117i32 }
-- input { 3i64 } output { -140571867857i64 517i32 }

import "lib/alignment"
import "lib/inputs"

-- A block from the column at its left (with the corner first), the row above it and its scores.
def block [b] (penalty: i32) (left: [b + 1]i32) (above: [b]i32) (scores: [b][b]i32): *[b][b]i32 =
  loop cells = replicate b (replicate b 0) for r < b do
    let (cells, _, _) =
      loop (cells, corner, west) = (cells, left[r], left[r + 1]) for c < b do
        let north = if r == 0 then above[c] else cells[r - 1, c]
        let value = cell penalty corner west north scores[r, c]
        in (cells with [r, c] = value, north, value)
    in cells

-- The next `count` blocks, from the one whose corner cell is at `start` down to the left.
def anti_diagonal [m] (n: i64) (b: i64) (penalty: i32) (scores: [m]i32)
                      (count: i64) (start: i64) (matrix: *[m]i32): *[m]i32 =
  let next = n * b - b
  let left = intrinsics.flat_index_2d matrix start count next (b + 1) n :> [count][b + 1]i32
  let above = intrinsics.flat_index_2d matrix (start + 1) count next b 1 :> [count][b]i32
  let within = intrinsics.flat_index_3d scores (start + n + 1) count next b n b 1 :> [count][b][b]i32
  let blocks = map3 (block penalty) left above within
  in intrinsics.flat_update_3d matrix (start + n + 1) next n 1 blocks

def align [n] (b: i64) (penalty: i32) (scores: [n][n]i32): [n][n]i32 =
  let q = assert (b > 0 && (n - 1) % b == 0) ((n - 1) / b)
  let scores = flatten scores
  let upper_left =
    loop matrix = flatten (borders penalty n) for i < q do
      anti_diagonal n b penalty scores (i + 1) (i * b) matrix
  let both =
    loop matrix = upper_left for i < q - 1 do
      anti_diagonal n b penalty scores (q - 1 - i) ((i + 1) * b * n + (q - 1) * b) matrix
  in unflatten both

entry main [n] (b: i64) (penalty: i32) (scores: [n][n]i32): [n][n]i32 =
  align b penalty scores

-- Are q by q blocks of b by b cells what cell after cell gives?
entry agrees (b: i64) (q: i64): bool =
  let scores = random_scores (q * b + 1)
  in and (map2 (==) (flatten (align b 10 scores)) (flatten (sequential 10 scores)))

-- q by q blocks of 64 by 64 cells: a checksum of all, and the score of the whole alignment.
entry large (q: i64): (i64, i32) =
  let n = q * 64 + 1
  let cells = align 64 10 (random_scores n)
  in (checksum (flatten cells), cells[n - 1, n - 1])
