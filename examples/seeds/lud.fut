-- LU decomposition in blocks of b by b elements. In each step the block on the diagonal is decomposed, then the blocks
-- right of it and below it are solved with its triangles, then their products are subtracted from all the others. The
-- result holds U, and below its diagonal L, whose diagonal is all ones. There is no pivoting.
--
-- Two formulations: `main` takes and updates views of the flat row-major matrix with an offset, extents and strides;
-- `slices` has an array of blocks and takes and updates slices of it.
--
-- Exercises: short-circuiting of four kernels' results into updates of the matrix (point C2), with targets of two to
-- four dimensions that must not meet what the kernels read; the block's own elements are read by the thread that
-- overwrites them. After each update the new blocks are read from the matrix, so that the update is the last use of the
-- kernel's result. Solving goes by columns right of the diagonal and by rows below it, so that a copy in another layout
-- can be worth more than working in place (prices).
-- ==
-- entry: main slices
-- input { 2i64 [[13.5f32, 0f32, 2f32, 3f32, 2.5f32, 0.5f32], [2f32, 13f32, 3.5f32, 3.5f32, 0.5f32, 2f32],
--   [3.5f32, 3f32, 14.5f32, 2.5f32, 0f32, 2.5f32], [1.5f32, 0f32, 0.5f32, 14f32, 2.5f32, 2f32],
--   [2f32, 3f32, 2.5f32, 1f32, 14.5f32, 2f32], [0f32, 0f32, 2.5f32, 1.5f32, 2f32, 13f32]] }
-- output { [[13.5f32, 0f32, 2f32, 3f32, 2.5f32, 0.5f32],
--   [0.14814815f32, 13f32, 3.2037037f32, 3.0555556f32, 0.12962963f32, 1.9259259f32],
--   [0.25925926f32, 0.23076923f32, 13.242165f32, 1.017094f32, -0.67806268f32, 1.9259259f32],
--   [0.11111111f32, 0f32, 0.020976764f32, 13.645331f32, 2.2364458f32, 1.9040448f32],
--   [0.14814815f32, 0.23076923f32, 0.1105852f32, -0.019204238f32, 14.217648f32, 1.3050683f32],
--   [0f32, 0f32, 0.18879088f32, 0.095855637f32, 0.13459583f32, 12.278233f32]] }
-- input { 3i64 [[13.5f32, 0f32, 2f32, 3f32, 2.5f32, 0.5f32], [2f32, 13f32, 3.5f32, 3.5f32, 0.5f32, 2f32],
--   [3.5f32, 3f32, 14.5f32, 2.5f32, 0f32, 2.5f32], [1.5f32, 0f32, 0.5f32, 14f32, 2.5f32, 2f32],
--   [2f32, 3f32, 2.5f32, 1f32, 14.5f32, 2f32], [0f32, 0f32, 2.5f32, 1.5f32, 2f32, 13f32]] }
-- output { [[13.5f32, 0f32, 2f32, 3f32, 2.5f32, 0.5f32],
--   [0.14814815f32, 13f32, 3.2037037f32, 3.0555556f32, 0.12962963f32, 1.9259259f32],
--   [0.25925926f32, 0.23076923f32, 13.242165f32, 1.017094f32, -0.67806268f32, 1.9259259f32],
--   [0.11111111f32, 0f32, 0.020976764f32, 13.645331f32, 2.2364458f32, 1.9040448f32],
--   [0.14814815f32, 0.23076923f32, 0.1105852f32, -0.019204238f32, 14.217648f32, 1.3050683f32],
--   [0f32, 0f32, 0.18879088f32, 0.095855637f32, 0.13459583f32, 12.278233f32]] }
-- input { 2i64 [[1f32]] }
-- error: Assertion is false

-- ==
-- entry: errors
-- input { 4i64 1i64 } output { 0f32 0f32 }
-- input { 1i64 9i64 } output { 0f32 0f32 }
-- input { 3i64 0i64 } output { 0f32 0f32 }
-- input { 16i64 4i64 } output { 0f32 0f32 }

-- ==
-- entry: large large_slices
-- input { 1i64 } output { 4.85921412909f64 }
-- input { 4i64 } output { 4.85954471379f64 }

import "lib/inputs"

-- The block on the diagonal: row k is subtracted from all rows below it, for each k.
def decompose [b] (block: [b][b]f32): *[b][b]f32 =
  loop block = copy block for k < b - 1 do
    map2 (\i row ->
            let factor = row[k] / block[k, k]
            in map2 (\j x -> if i <= k || j < k then x
                             else if j == k then factor
                             else x - factor * block[k, j])
                    (iota b) row)
         (iota b) block

-- A block right of the diagonal: column after column, from the top, with the lower triangle.
def solve_lower [b] (diagonal: [b][b]f32) (block: [b][b]f32): *[b][b]f32 =
  let solve (column: [b]f32): *[b]f32 =
    loop xs = copy column for i in 1..<b do
      let x = loop x = xs[i] for k < i do x - diagonal[i, k] * xs[k]
      in xs with [i] = x
  in transpose (map solve (transpose block))

-- A block below the diagonal: row after row, from the left, with the upper triangle.
def solve_upper [b] (diagonal: [b][b]f32) (block: [b][b]f32): *[b][b]f32 =
  let solve (row: [b]f32): *[b]f32 =
    loop xs = copy row for j < b do
      let x = loop x = xs[j] for k < j do x - xs[k] * diagonal[k, j]
      in xs with [j] = x / diagonal[j, j]
  in map solve block

-- Any other block: without the product of the block in its row below the diagonal and the one in its column right of it.
def subtract [b] (block: [b][b]f32) (left: [b][b]f32) (above: [b][b]f32): *[b][b]f32 =
  tabulate_2d b b (\i j -> loop x = block[i, j] for k < b do x - left[i, k] * above[k, j])

-- Views of the flat matrix.
def by_views [n] (b: i64) (matrix: *[n][n]f32): *[n][n]f32 =
  let q = assert (b > 0 && n % b == 0) (n / b)
  let one [m] (flat: [m]f32) (at: i64): [b][b]f32 =
    intrinsics.flat_index_2d flat at b n b 1 :> [b][b]f32
  let many [m] (count: i64) (next: i64) (flat: [m]f32) (at: i64): [count][b][b]f32 =
    intrinsics.flat_index_3d flat at count next b n b 1 :> [count][b][b]f32
  let decompose_at [m] (here: i64) (flat: *[m]f32): *[m]f32 =
    let diagonal = decompose (one flat here)
    in intrinsics.flat_update_2d flat here n 1 diagonal
  let flat =
    loop flat = flatten matrix for k < q - 1 do
      let rest = q - k - 1
      let here = k * b * n + k * b
      let (right, down) = (here + b, here + b * n)
      let flat = decompose_at here flat
      let above = map (solve_lower (one flat here)) (many rest b flat right)
      let flat = intrinsics.flat_update_3d flat right b n 1 above
      let left = map (solve_upper (one flat here)) (many rest (b * n) flat down)
      let flat = intrinsics.flat_update_3d flat down (b * n) n 1 left
      let others = intrinsics.flat_index_4d flat (down + b) rest (b * n) rest b b n b 1
                   :> [rest][rest][b][b]f32
      let (above, left) = (many rest b flat right, many rest (b * n) flat down)
      let others = map2 (\row l -> map2 (\block a -> subtract block l a) row above) others left
      in intrinsics.flat_update_4d flat (down + b) (b * n) b n 1 others
  in unflatten (if q == 0 then flat else decompose_at ((q - 1) * (b * n + b)) flat)

-- An array of blocks.
def by_slices [n] (b: i64) (matrix: [n][n]f32): [n][n]f32 =
  let q = assert (b > 0 && n % b == 0) (n / b)
  let blocks = map transpose (unflatten (map unflatten (matrix :> [q * b][q * b]f32)))
  let blocks =
    loop blocks = copy blocks for k < q do
      let rest = q - k - 1
      let diagonal = decompose blocks[k, k]
      let blocks = blocks with [k, k] = diagonal
      let above = map (solve_lower blocks[k, k]) (blocks[k, k + 1:] :> [rest][b][b]f32)
      let blocks = blocks with [k, k + 1:] = above
      let left = map (solve_upper blocks[k, k]) (blocks[k + 1:, k] :> [rest][b][b]f32)
      let blocks = blocks with [k + 1:, k] = left
      let (above, left) = (blocks[k, k + 1:] :> [rest][b][b]f32, blocks[k + 1:, k] :> [rest][b][b]f32)
      let others = map2 (\row l -> map2 (\block a -> subtract block l a) row above)
                        (blocks[k + 1:, k + 1:] :> [rest][rest][b][b]f32)
                        left
      in blocks with [k + 1:, k + 1:] = others
  in flatten (map (\row -> map flatten (transpose row)) blocks) :> [n][n]f32

entry main [n] (b: i64) (matrix: *[n][n]f32): *[n][n]f32 = by_views b matrix

entry slices [n] (b: i64) (matrix: [n][n]f32): [n][n]f32 = by_slices b matrix

-- How far the two formulations are from the decomposition of the matrix as a single block, for q by q blocks of
-- b by b elements.
entry errors (b: i64) (q: i64): (f32, f32) =
  let matrix = dominant (q * b)
  let single = flatten (decompose matrix)
  in (distance single (flatten (by_views b (copy matrix))),
      distance single (flatten (by_slices b matrix)))

-- q by q blocks of 32 by 32 elements: a mean of the elements.
entry large (q: i64): f64 = mean (flatten (by_views 32 (dominant (q * 32))))

entry large_slices (q: i64): f64 = mean (flatten (by_slices 32 (dominant (q * 32))))
