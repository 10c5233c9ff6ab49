-- Equal parts of an array are one view, and views of what a loop does not change are outside of it.
def main [n] (xs: [n]i64) (i: i64) : i64 =
  let a = xs[i:i + 4]
  let sum = loop sum = 0 for j < 4 do sum + (reverse (xs[i:i + 4]))[j]
  in sum + a[1] * (xs[i:i + 4])[2]
