-- Filters of images: rows of pixels, each with its channels. Beyond an edge the pixels of the edge go on.

def clamped (least: i64) (most: i64) (x: i64) = i64.max least (i64.min most x)

def byte (x: f32) : u8 = u8.f32 (f32.max 0 (f32.min 255 (f32.round x)))

-- How much each pixel of 2 * radius + 1 counts in the middle one: a bell, which adds up to 1.
def bell (radius: i64) =
  let width = f32.i64 (i64.max 1 radius) / 2
  let weights = tabulate (2 * radius + 1) (\i -> f32.exp (-0.5 * (f32.i64 (i - radius) / width) ** 2))
  in map (/ f32.sum weights) weights

-- Each number becomes the mean of those above and below it.
def down [h] [w] [k] (weights: [k]f32) (plane: [h][w]f32) : [h][w]f32 =
  tabulate_2d h w (\y x -> loop sum = 0 for i < k do sum + weights[i] * plane[clamped 0 (h - 1) (y + i - k / 2), x])

-- A bell falls apart into one down and one across, which is one down in a plane on its side; each channel is a plane.
def soft [h] [w] [c] (radius: i64) (image: [h][w][c]u8) : [h][w][c]f32 =
  let weights = bell radius
  let blur plane = plane |> map (map f32.u8) |> down weights |> transpose |> down weights |> transpose
  in image |> map transpose |> transpose |> map blur |> transpose |> map transpose

-- A Gaussian blur.
entry blur [h] [w] [c] (radius: i64) (image: [h][w][c]u8) : [h][w][c]u8 =
  soft radius image |> map (map (map byte))

-- What a blur takes away is there twice.
entry sharpen [h] [w] [c] (radius: i64) (image: [h][w][c]u8) : [h][w][c]u8 =
  map2 (map2 (map2 (\x s -> byte (2 * f32.u8 x - s)))) image (soft radius image)

-- How far each pixel is from those around it, the further the lighter.
entry edges [h] [w] [c] (radius: i64) (image: [h][w][c]u8) : [h][w][c]u8 =
  map2 (map2 (map2 (\x s -> byte (4 * f32.abs (f32.u8 x - s))))) image (soft radius image)
