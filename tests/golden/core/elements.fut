-- Small arrays whose elements are known: what is read of them, and what they consist of once they were changed.

entry read (x: f64) (y: f64) : f64 =
  let a = [x, y, x * y]
  in a[0] + a[2]

entry changed (x: f64) : [3]f64 =
  let a = replicate 3 0
  let a = a with [1] = x
  let a = a with [2] = a[1] + 1
  in a

entry joined (x: f64) (y: f64) : [5]f64 = ([x, y] ++ (replicate 2 1 with [0] = y) ++ [x]) :> [5]f64

entry rows (x: i32) (y: i32) : (i32, [2]i32) =
  let m = [[x, y], [y, x]]
  in (m[1, 1], m[0])

entry table (i: i64) : i64 =
  let t = [2, 3, 5, 7]
  in t[i] + loop s = 0 for k < 4 do s + t[3] * k

entry outside (x: f64) : f64 =
  let a = [x, 1]
  in a[2]

entry outside_changed (x: f64) : [2]f64 = [x, 1] with [2] = x

entry kept (i: i64) (x: f64) : ([2]f64, [2]f64) =
  let a = [x, 1]
  let b = copy a with [0] = 2
  in (a, b with [i] = x)

entry copied_rows (x: i32) : [2][2]i32 = copy [[x, 1], [2, x]] with [0, 0] = 3

entry long (x: f64) : [17]f64 = replicate 17 0 with [3] = x

entry slopes (c: [4]f64) : [4]f64 = vjp (\(c: [4]f64) -> c[0] * c[1] + c[2] * c[2]) c 1
