-- A mixture of Gaussians: the program of examples/mixture.fut.
import "../../examples/mixture"

entry input (n: i64) (d: i64) (k: i64) =
  let m = some k d
  in (numbers n d, m.weights, m.centres, m.logs, m.lower)

entry primal [n] [d] [k] (points: [n][d]f64) (weights: [k]f64) (centres: [k][d]f64) (logs: [k][d]f64) (lower: [k][d][d]f64) =
  likelihood points {weights, centres, logs, lower}

entry derivative [n] [d] [k] (points: [n][d]f64) (weights: [k]f64) (centres: [k][d]f64) (logs: [k][d]f64) (lower: [k][d][d]f64) =
  let g = gradient points {weights, centres, logs, lower}
  in (g.weights, g.centres, g.logs, g.lower)
