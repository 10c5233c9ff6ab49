-- A smooth image by running means: along each row from the left, then along each column from the top, for some rounds.
--
-- Exercises: layout that changes between kernels. Both passes are sequential along one dimension and parallel over the
-- other; in the pass along rows neighbouring lanes are a row apart, in the pass along columns they are neighbours. The
-- image between them can be produced in either layout, and so can the one between two rounds: the choice is over the
-- sequence of kernels.
-- ==
-- entry: main
-- input { 1i64 0.5f32 [[0f32, 8f32, 8f32], [16f32, 0f32, 0f32]] }
-- output { [[0f32, 4f32, 6f32], [8f32, 6f32, 5f32]] }
-- input { 2i64 0.5f32 empty([2][0]f32) }
-- output { empty([2][0]f32) }
-- input { 3i64 0.25f32 [[15f32, 2f32, 7f32], [16f32, 1f32, 11f32], [12f32, 7f32, 1f32], [8f32, 7f32, 14f32]] }
-- output { [[15f32, 14.796875f32, 14.417969f32], [15.015625f32, 14.812012f32, 14.433228f32],
--   [14.988281f32, 14.786011f32, 14.409088f32], [14.837891f32, 14.640442f32, 14.272873f32]] }

-- ==
-- entry: large
-- input { 8i64 } output { 1.77364660196f64 }
-- input { 100i64 } output { 1.9431044324f64 }

import "lib/inputs"

-- Each element's mean with what came before it.
def along [n] (share: f32) (xs: [n]f32): *[n]f32 =
  loop ys = copy xs for j < n - 1 do
    ys with [j + 1] = ys[j] + share * (ys[j + 1] - ys[j])

def smooth [h][w] (rounds: i64) (share: f32) (image: [h][w]f32): [h][w]f32 =
  loop image for _r < rounds do
    let rows = map (along share) image
    in transpose (map (along share) (transpose rows))

entry main [h][w] (rounds: i64) (share: f32) (image: [h][w]f32): [h][w]f32 = smooth rounds share image

-- Ten rounds on an n by n image: a mean of the elements.
entry large (n: i64): f64 = mean (flatten (smooth 10 0.25 (matrix 7 n n)))
