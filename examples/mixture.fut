-- Gaussian mixtures: how likely points are, and the gradient of that by weights, centres and triangular factors of the inverse
-- covariances, in reverse mode. The result says whether a direction's derivative in forward mode is the gradient's product with it.
--
--   echo '10000 10 25' | galopvm run examples/mixture.fut
--
-- ==
-- input { 3i64 2i64 2i64 } output { true }
-- input { 0i64 2i64 2i64 } output { true }
-- input { 5000i64 4i64 3i64 } output { true }

type~ mixture [k] [d] = {weights: [k]f64, centres: [k][d]f64, logs: [k][d]f64, lower: [k][d][d]f64}

def log_sum_exp [k] (xs: [k]f64) : f64 =
  let top = f64.maximum xs
  in top + f64.log (f64.sum (map (\x -> f64.exp (x - top)) xs))

def likelihood [n] [d] [k] (points: [n][d]f64) (m: mixture [k] [d]) : f64 =
  let diagonal = map (map f64.exp) m.logs
  let sums = map f64.sum m.logs
  let of_point x =
    let of_part weight centre q s below =
      let c = map2 (-) x centre
      let row r qi i =
        qi * c[i] + f64.sum (map3 (\v cj j -> if j < i then v * cj else 0) r c (iota d))
      in weight + s - 0.5 * f64.sum (map (** 2) (map3 row below q (iota d)))
    in log_sum_exp (map5 of_part m.weights m.centres diagonal sums m.lower)
  in f64.sum (map of_point points) - f64.i64 n * log_sum_exp m.weights

def numbers (n: i64) (d: i64) : [n][d]f64 =
  tabulate_2d n d (\i j -> f64.sin (f64.i64 (i * 31 + j * 17)))

def some (k: i64) (d: i64) : mixture [k] [d] =
  { weights = map (\row -> f64.sum row) (numbers k 2)
  , centres = numbers k d
  , logs = numbers k d
  , lower = unflatten_3d (flatten (numbers (k * d) d) :> [k * d * d]f64)
  }

-- The gradient.
def gradient [n] [d] [k] (points: [n][d]f64) (m: mixture [k] [d]) : mixture [k] [d] =
  vjp (likelihood points) m 1

entry main (n: i64) (d: i64) (k: i64) : bool =
  let (points, m) = (numbers n d, some k d)
  let along =
    some k d
    with weights = map (+ 1) m.weights
  let g = gradient points m
  let dot a b = f64.sum (map2 (*) a b)
  let product =
    dot g.weights along.weights
    + f64.sum (map2 dot g.centres along.centres)
    + f64.sum (map2 dot g.logs along.logs)
    + f64.sum (map2 dot (flatten g.lower) (flatten along.lower))
  let slope = jvp (likelihood points) m along
  in f64.abs (slope - product) <= 1e-9 * (1 + f64.abs slope)
