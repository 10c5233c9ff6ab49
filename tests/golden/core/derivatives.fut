-- Derivatives are ordinary core.
def poly (x: f64) = x * x * x + 2 * x

-- Forward: each operation with its derivative beside it.
entry forward (x: f64) (dx: f64) = jvp2 poly x dx

-- Reverse: what is needed of the way there, then back.
entry reverse (x: f64) = vjp poly x 1

-- Integers have derivatives; comparisons have none.
entry integers (x: i32) = jvp (\x -> if x > 3 then x * x else 0) x 1

-- What rows add to a number outside is a sum; rows have adjoints of their own.
entry free (a: f64) (xs: []f64) = vjp (\(a, xs) -> map (\x -> a * x) xs) (a, xs) (map (const 1) xs)

-- Elements that are read at computed places are added at once.
entry gather (xs: []f64) (is: []i64) = vjp (\xs -> map (\i -> xs[i]) is) xs (map (const 1) is)

-- A sum over rows of what each row makes with a map is a map of sums.
entry outer [n] [k] (m: [n][k]f64) (v: [k]f64) =
  vjp (\v -> map (\r -> f64.sum (map2 (*) r v)) m) v (replicate n 1)

-- Sums for several variables of one map are made by one map; the value, which nobody asks for, is not made.
entry several [n] [k] (m: [n][k]f64) (v: [k]f64) (w: [k]f64) =
  vjp (\(v, w) -> f64.sum (map (\r -> f64.sum (map3 (\i a b -> f64.sin (r[i] * a * b)) (iota k) v w)) m)) (v, w) 1

-- Dimensions of one element make nothing larger: of each row vectors are kept, not matrices; its value, whose shapes are known to fit,
-- is not made.
entry column [n] [k] (m: [k][k]f64) (xs: [n][k]f64) =
  let times a b = map (\row -> map (\col -> f64.sum (map2 (*) row col)) (transpose b)) a
  in vjp (\m -> f64.sum (map (\x -> f64.sum (map (** 2) (flatten (times m (transpose [x]))))) xs)) m 1

-- Where sums need arrays of each row after all, one map makes these of some rows, and another one sums them up.
entry apart [n] [k] [d] (xs: [n][d]f64) (cs: [k][d]f64) (ms: [k][d][d]f64) =
  let part x c m =
    let from = map2 (-) x c
    in f64.sum (map (\row -> f64.sin (f64.sum (map2 (*) row from))) m)
  in vjp (\ms -> f64.sum (map (\x -> f64.sum (map2 (part x) cs ms)) xs)) ms 1

-- Only the elements that are read are kept of an array that a loop changes.
entry loops [n] (xs: *[n]f64) =
  vjp (\xs -> loop a = copy xs for i < n - 1 do a with [i + 1] = a[i] * a[i + 1]) xs (replicate n 1)

-- A general reduction: what is before each row, and what is behind it.
entry product (xs: []f64) = vjp f64.product xs 1

-- A derivative of one's own leaves nothing behind but itself.
entry own (x: f64) = vjp (with_vjp (\x -> f64.gamma x) (\y dy -> y * dy)) x 1
