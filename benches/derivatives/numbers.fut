-- Numbers that inputs are made of: the same everywhere, all near another number.

def numbers (n: i64) (m: i64) (from: f64) (size: f64) : [n][m]f64 =
  tabulate_2d n m (\i j -> from + size * f64.sin (f64.i64 (i * 31 + j * 17)))
