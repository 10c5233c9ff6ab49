-- The dot product of two vectors.
--
--   echo '[1.0f32, 2.0f32] [3.0f32, 4.0f32]' | galopvm run examples/dot.fut

def main [n] (xs: [n]f32) (ys: [n]f32): f32 =
  reduce (+) 0 (map2 (*) xs ys)
