-- Mixing in a body of water of x by y columns of z cells: a stencil over neighbouring columns gives the right sides of
-- a tridiagonal system for each column, which is solved downwards and upwards by loops.
--
-- Exercises: layout under three dimensions. The columns are parallel, the depth is a loop and the last dimension, so
-- lanes are z elements apart in every access, in the columns' own arrays (made by updates in the kernel) as well as in
-- the fields; a layout with the depth first makes them neighbours. The loop over time asks for the field in that layout
-- again and again, while it is a new one in each round: it pays to produce it in the layout in which it is consumed.
-- ==
-- entry: main
-- input { 1i64 [[[6.5f32, 6.5f32, 3.5f32, 7.5f32], [4.5f32, 7f32, 7.5f32, 4.5f32], [2f32, 1f32, 4.5f32, 1.5f32]],
--   [[6f32, 7f32, 1.5f32, 4f32], [0f32, 1f32, 3f32, 7f32], [7.5f32, 5f32, 4.5f32, 4.5f32]]]
--   [[[0f32, 0.75f32, 2f32, 0.75f32], [0.25f32, 0.5f32, 1.5f32, 0f32], [2f32, 1.75f32, 1.25f32, 1f32]],
--   [[1.5f32, 1f32, 1f32, 0.5f32], [1f32, 1.5f32, 0f32, 0f32], [1.5f32, 0.75f32, 1.75f32, 0f32]]] }
-- output { [[[6.1582695f32, 5.9136547f32, 5.3477814f32, 5.9802945f32],
--   [4.4176724f32, 5.5314655f32, 5.7306034f32, 5.1702586f32],
--   [2.8018395f32, 2.8028206f32, 3.3392607f32, 2.7560792f32]], [[5.2625f32, 5.1125f32, 3.6875f32, 4.2375f32],
--   [2.222f32, 2.5596f32, 3.0684f32, 6.2f32], [5.4249509f32, 4.7360183f32, 4.5447937f32, 4.4942371f32]]] }
-- input { 3i64 [[[6.5f32, 6.5f32, 3.5f32, 7.5f32], [4.5f32, 7f32, 7.5f32, 4.5f32], [2f32, 1f32, 4.5f32, 1.5f32]],
--   [[6f32, 7f32, 1.5f32, 4f32], [0f32, 1f32, 3f32, 7f32], [7.5f32, 5f32, 4.5f32, 4.5f32]]]
--   [[[0f32, 0.75f32, 2f32, 0.75f32], [0.25f32, 0.5f32, 1.5f32, 0f32], [2f32, 1.75f32, 1.25f32, 1f32]],
--   [[1.5f32, 1f32, 1f32, 0.5f32], [1f32, 1.5f32, 0f32, 0f32], [1.5f32, 0.75f32, 1.75f32, 0f32]]] }
-- output { [[[5.5601649f32, 5.4721144f32, 5.4290574f32, 5.4361632f32],
--   [4.4191697f32, 4.6874207f32, 4.789791f32, 4.9276186f32],
--   [3.5833555f32, 3.6053059f32, 3.6315031f32, 3.6163354f32]],
--   [[4.7123337f32, 4.6461495f32, 4.5376742f32, 4.6423426f32],
--   [3.6741965f32, 3.7102522f32, 3.7539358f32, 5.4136156f32],
--   [4.315809f32, 4.2770717f32, 4.2814679f32, 4.3771513f32]]] }
-- input { 2i64 [[[5f32]]] [[[1f32]]] }
-- output { [[[5f32]]] }

-- ==
-- entry: residual
-- input { 3i64 4i64 1i64 } output { 0f32 }
-- input { 5i64 4i64 20i64 } output { 0f32 }

-- ==
-- entry: large
-- input { 2i64 } output { 2.09451774641f64 }
-- input { 12i64 } output { 2.01184377725f64 }

import "lib/inputs"

def across: f32 = 0.1

-- What flows between a cell and the one below it.
def down [z] (mixing: [z]f32) (k: i64): f32 =
  if k < z - 1 then (mixing[k] + mixing[k + 1]) / 2 else 0

-- The field after what flows between neighbouring columns.
def spread [x][y][z] (field: [x][y][z]f32): [x][y][z]f32 =
  tabulate_3d x y z (\i j k ->
    let c = field[i, j, k]
    in c + across * ((field[i64.max 0 (i - 1), j, k] - c) + (field[i64.min (x - 1) (i + 1), j, k] - c)
                     + (field[i, i64.max 0 (j - 1), k] - c) + (field[i, i64.min (y - 1) (j + 1), k] - c)))

-- Solves -d(k-1) u(k-1) + (1 + d(k-1) + d(k)) u(k) - d(k) u(k+1) = right(k), where d(k) flows between cells k and k+1.
def solve [z] (mixing: [z]f32) (right: [z]f32): *[z]f32 =
  let (factors, us, _) =
    loop (factors, us, above) = (replicate z 0, replicate z 0, 0) for k < z do
      let below = down mixing k
      let (factor, u) = if k == 0 then (0, 0) else (factors[k - 1], us[k - 1])
      let pivot = 1 + above + below - above * factor
      in (factors with [k] = below / pivot,
          us with [k] = (right[k] + above * u) / pivot,
          below)
  in loop us for l < z - 1 do
       let k = z - 2 - l
       in us with [k] = us[k] + factors[k] * us[k + 1]

def step [x][y][z] (mixing: [x][y][z]f32) (field: [x][y][z]f32): [x][y][z]f32 =
  map2 (map2 solve) mixing (spread field)

def field (seed: i64) (x: i64) (y: i64) (z: i64): [x][y][z]f32 =
  unflatten_3d (flatten (matrix seed x (y * z)) :> [x * y * z]f32)

def mix [x][y][z] (steps: i64) (mixing: [x][y][z]f32) (field: [x][y][z]f32): [x][y][z]f32 =
  loop field for _s < steps do step mixing field

entry main [x][y][z] (steps: i64) (field: [x][y][z]f32) (mixing: [x][y][z]f32): [x][y][z]f32 =
  mix steps mixing field

-- By how much a step's solution misses its equations, at most.
entry residual (x: i64) (y: i64) (z: i64): f32 =
  let (before, mixing) = (field 5 x y z, field 6 x y z)
  let after = step mixing before
  let miss (us: [z]f32) (ms: [z]f32) (right: [z]f32): f32 =
    f32.maximum (tabulate z (\k ->
      let up = if k == 0 then 0 else down ms (k - 1) * (us[k] - us[k - 1])
      let low = if k == z - 1 then 0 else down ms k * (us[k] - us[k + 1])
      in f32.abs (us[k] + up + low - right[k])))
  in f32.maximum (flatten (map3 (map3 miss) after mixing (spread before)))

-- Ten steps of n by n columns of 64 cells: a mean of the field.
entry large (n: i64): f64 =
  mean (flatten_3d (mix 10 (field 6 n n 64) (field 5 n n 64)))
