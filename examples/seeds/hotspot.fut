-- Heat in a chip: every cell takes heat from its power, from its four neighbours and from the air, for some steps of
-- time.
--
-- Corners, edges and the interior are computed apart, since each has other neighbours, and then concatenated: the first
-- row, the rows in between (of a first column, the interior and a last column), the last row.
--
-- Exercises: short-circuiting of concatenations (point C1), one inside the other (chains) and one through a
-- transposition (rebasing), so that all nine pieces are made in the memory of the result; the loop over time swaps two
-- blocks of memory, since a stencil cannot be done in place.
-- ==
-- entry: main
-- input { 1i64 [[324.5f32, 323f32, 327.5f32, 336.25f32, 328f32],
--   [327.5f32, 331.5f32, 339.5f32, 327.75f32, 331.75f32], [328.75f32, 332f32, 328.75f32, 332.75f32, 330.75f32],
--   [333.5f32, 339f32, 323f32, 331f32, 328.75f32]] [[0.375f32, 0.25f32, 0f32, 0.375f32, 0.875f32],
--   [0f32, 0.375f32, 1f32, 1f32, 0.125f32], [0f32, 0.75f32, 0f32, 0.25f32, 0.5f32],
--   [0.875f32, 0f32, 0.625f32, 0.5f32, 0.125f32]] }
-- output { [[322.415f32, 322.17f32, 326.495f32, 331.2675f32, 327.51f32],
--   [325.365f32, 329.125f32, 333.515f32, 329.0425f32, 328.4725f32],
--   [326.9325f32, 329.82f32, 327.5325f32, 329.1625f32, 328.8025f32],
--   [331.945f32, 333.27f32, 324.41f32, 327.8f32, 326.7925f32]] }
-- input { 3i64 [[324.5f32, 323f32, 327.5f32, 336.25f32, 328f32],
--   [327.5f32, 331.5f32, 339.5f32, 327.75f32, 331.75f32], [328.75f32, 332f32, 328.75f32, 332.75f32, 330.75f32],
--   [333.5f32, 339f32, 323f32, 331f32, 328.75f32]] [[0.375f32, 0.25f32, 0f32, 0.375f32, 0.875f32],
--   [0f32, 0.375f32, 1f32, 1f32, 0.125f32], [0f32, 0.75f32, 0f32, 0.25f32, 0.5f32],
--   [0.875f32, 0f32, 0.625f32, 0.5f32, 0.125f32]] }
-- output { [[318.67951f32, 319.6434f32, 322.55524f32, 325.11128f32, 324.67845f32],
--   [321.13653f32, 323.97736f32, 326.68303f32, 326.16785f32, 324.02258f32],
--   [323.16393f32, 325.19828f32, 323.78919f32, 324.18704f32, 324.3116f32],
--   [327.62352f32, 326.0802f32, 323.10999f32, 323.14133f32, 322.57999f32]] }
-- input { 2i64 [[330f32, 320f32], [310f32, 300f32]] [[1f32, 2f32], [3f32, 4f32]] }
-- output { [[321.841f32, 317.616f32], [310.991f32, 306.766f32]] }

-- ==
-- entry: difference
-- input { 2i64 2i64 } output { 0f32 }
-- input { 2i64 9i64 } output { 0f32 }
-- input { 9i64 3i64 } output { 0f32 }
-- input { 33i64 70i64 } output { 0f32 }

-- ==
-- entry: large
-- input { 2i64 } output { 726.980337085f64 }
-- input { 50i64 } output { 1166.28907594f64 }

import "lib/inputs"

-- What flows down and along the rows, into the air, and how much warmer a unit of heat makes a cell.
def vertical: f32 = 0.1
def horizontal: f32 = 0.15
def upwards: f32 = 0.0125
def air: f32 = 80
def warming: f32 = 0.8

-- The next temperature of a cell; where there is no neighbour, the cell's own index stands for it.
def cell [r][c] (heat: [r][c]f32) (power: [r][c]f32)
                (i: i64, j: i64) (above: i64, below: i64) (left: i64, right: i64): f32 =
  let t = heat[i, j]
  in t + warming * (power[i, j]
                    + vertical * ((heat[above, j] - t) + (heat[below, j] - t))
                    + horizontal * ((heat[i, left] - t) + (heat[i, right] - t))
                    + upwards * (air - t))

-- A step in pieces. There are at least two rows and two columns.
def step [r][c] (power: [r][c]f32) (heat: [r][c]f32): [r][c]f32 =
  let cell = cell heat power
  let row (i: i64) (around: (i64, i64)): [c]f32 =
    [cell (i, 0) around (0, 1)]
    ++ tabulate (c - 2) (\j -> cell (i, j + 1) around (j, j + 2))
    ++ [cell (i, c - 1) around (c - 2, c - 1)]
    :> [c]f32
  let column (j: i64) (around: (i64, i64)): [r - 2]f32 =
    tabulate (r - 2) (\i -> cell (i + 1, j) (i, i + 2) around)
  let interior =
    tabulate_2d (r - 2) (c - 2) (\i j -> cell (i + 1, j + 1) (i, i + 2) (j, j + 2))
  let columns =
    [column 0 (0, 1)] ++ transpose interior ++ [column (c - 1) (c - 2, c - 1)] :> [c][r - 2]f32
  in [row 0 (0, 1)] ++ transpose columns ++ [row (r - 1) (r - 2, r - 1)] :> [r][c]f32

-- A step in one piece.
def plain_step [r][c] (power: [r][c]f32) (heat: [r][c]f32): [r][c]f32 =
  tabulate_2d r c (\i j ->
    cell heat power (i, j)
         (i64.max 0 (i - 1), i64.min (r - 1) (i + 1))
         (i64.max 0 (j - 1), i64.min (c - 1) (j + 1)))

def warm (r: i64) (c: i64): *[r][c]f32 =
  unflatten (map (\x -> 320 + 20 * x) (flatten (matrix 1 r c)))

entry main [r][c] (steps: i64) (heat: [r][c]f32) (power: [r][c]f32): [r][c]f32 =
  loop heat for _s < steps do step power heat

-- How far apart the two ways to step are after ten steps.
entry difference (r: i64) (c: i64): f32 =
  let power = matrix 2 r c
  let pieces = loop heat = warm r c for _s < 10i64 do step power heat
  let whole = loop heat = warm r c for _s < 10i64 do plain_step power heat
  in distance (flatten pieces) (flatten whole)

-- Twenty steps of an n by n chip: a mean of the temperatures.
entry large (n: i64): f64 =
  let power = matrix 2 n n
  let heat = loop heat = warm n n for _s < 20i64 do step power heat
  in mean (flatten heat)
