-- A map of heights in blocks: its slopes, how many there are of each steepness, and where it is steepest.

-- | From a block with one height more on each side; `step` is the distance of two heights.
entry slopes [n] [m] (step: f32) (heights: [n][m]f32) : [][]f32 =
  tabulate_2d (n - 2) (m - 2) (\i j ->
    let x = (heights[i + 1, j + 2] - heights[i + 1, j]) / (2 * step)
    let y = (heights[i + 2, j + 1] - heights[i, j + 1]) / (2 * step)
    in f32.sqrt (x * x + y * y))

-- | How many slopes there are from 0 to 1, in equal steps; what is steeper is in the last one.
entry steepness [n] [m] (bins: i64) (slopes: [n][m]f32) : [bins]i64 =
  let bin slope = i64.min (bins - 1) (i64.f32 (slope * f32.i64 bins))
  in hist (+) 0 bins (map bin (flatten slopes)) (replicate (n * m) 1)

type place = {slope: f32, x: f32, y: f32}

def steeper (a: place) (b: place) : place = if b.slope > a.slope then b else a

-- | The steepest place of a block, whose coordinates are given with it.
entry steepest [n] [m] (ys: [n]f32) (xs: [m]f32) (slopes: [n][m]f32) : place =
  let places = map2 (\y row -> map2 (\x slope -> {slope, x, y}) xs row) ys slopes
  in reduce steeper {slope = -1, x = 0, y = 0} (flatten places)

entry steepest_of (a: place) (b: place) : place = steeper a b
