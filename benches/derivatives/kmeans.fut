-- Centres of clusters: the sum of the squared distances of points to their nearest centres, by the centres.

def cost [n] [k] [d] (points: [n][d]f64) (centres: [k][d]f64) : f64 =
  let distance a b = f64.sum (map2 (\x y -> (x - y) * (x - y)) a b)
  in f64.sum (map (\point -> f64.minimum (map (distance point) centres)) points)

def numbers (n: i64) (d: i64) : [n][d]f64 = tabulate_2d n d (\i j -> f64.sin (f64.i64 (i * 31 + j * 17)))

entry input (n: i64) (d: i64) (k: i64) = (numbers n d, map (map (* 0.5)) (numbers k d))

entry primal [n] [k] [d] (points: [n][d]f64) (centres: [k][d]f64) = cost points centres

entry derivative [n] [k] [d] (points: [n][d]f64) (centres: [k][d]f64) = vjp (cost points) centres 1
