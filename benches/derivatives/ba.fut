-- Bundle adjustment: where cameras see points, against where they were seen, and the derivatives of each such error by the eleven
-- numbers of its camera, the three of its point and its weight.

import "numbers"
import "vectors"

-- Where a camera sees a point: its rotation, place, focal length, centre of the picture and two numbers of its lens.
def seen (c: [11]f64) (p: vector) : (f64, f64) =
  let q = turned (vec c[0] c[1] c[2]) (p -. vec c[3] c[4] c[5])
  let (u, v) = (q.x / q.z, q.y / q.z)
  let r = u * u + v * v
  let lens = 1 + c[9] * r + c[10] * r * r
  in (u * lens * c[6] + c[7], v * lens * c[6] + c[8])

def off (at: [2]f64) (c: [11]f64, p: [3]f64, w: f64) : (f64, f64) =
  let (u, v) = seen c (vec p[0] p[1] p[2])
  in (w * (u - at[0]), w * (v - at[1]))

entry input (n: i64) (m: i64) (p: i64) =
  let sights = tabulate p (\i -> [i * 7919 % n, i * 104729 % m])
  in (numbers n 11 0.1 0.05, map (\x -> [x[0], x[1], x[2] + 4]) (numbers m 3 0 1), (numbers 1 p 1 0.5)[0], sights, numbers p 2 0 1)

entry primal [n] [m] [p] (cameras: [n][11]f64) (points: [m][3]f64) (weights: [p]f64) (sights: [p][2]i64) (at: [p][2]f64) =
  unzip (map3 (\s w at -> off at (cameras[s[0]], points[s[1]], w)) sights weights at)

entry derivative [n] [m] [p] (cameras: [n][11]f64) (points: [m][3]f64) (weights: [p]f64) (sights: [p][2]i64) (at: [p][2]f64) =
  let row s w at =
    let by = vjp (off at) (cameras[s[0]], points[s[1]], w)
    let flat (c: [11]f64, p: [3]f64, w: f64) = c ++ p ++ [w] :> [15]f64
    in [flat (by (1, 0)), flat (by (0, 1))]
  in map3 row sights weights at
