-- Places that come from memory, a filter whose size is known afterwards, and a call that is not replaced by its body.
-- ==
-- input { [3i64, 1i64, 2i64] [10i64, 20i64, 30i64, 40i64] }

#[noinline]
def gather [n][m] (is: [n]i64) (xs: [m]i64): [n]i64 = map (\i -> xs[i]) is

entry main [n][m] (is: [n]i64) (xs: [m]i64): []i64 =
  filter (> 20) (gather is xs)
