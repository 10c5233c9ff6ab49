-- Bundle adjustment: where cameras see points, against where they were seen, and the derivatives of each such error by the eleven
-- numbers of its camera, the three of its point and its weight.

type vector = {x: f64, y: f64, z: f64}

def vec (x: f64) (y: f64) (z: f64) : vector = {x, y, z}
def (+.) (a: vector) (b: vector) = vec (a.x + b.x) (a.y + b.y) (a.z + b.z)
def (-.) (a: vector) (b: vector) = vec (a.x - b.x) (a.y - b.y) (a.z - b.z)
def scaled (s: f64) (a: vector) = vec (s * a.x) (s * a.y) (s * a.z)
def dot (a: vector) (b: vector) = a.x * b.x + a.y * b.y + a.z * b.z
def cross (a: vector) (b: vector) = vec (a.y * b.z - a.z * b.y) (a.z * b.x - a.x * b.z) (a.x * b.y - a.y * b.x)

-- A point turned around an axis, by as much as the axis is long.
def turned (axis: vector) (p: vector) : vector =
  let square = dot axis axis
  in if square == 0
     then p +. cross axis p
     else let angle = f64.sqrt square
          let unit = scaled (1 / angle) axis
          let (s, c) = (f64.sin angle, f64.cos angle)
          in scaled c p +. scaled s (cross unit p) +. scaled (dot unit p * (1 - c)) unit

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

def numbers (n: i64) (m: i64) (from: f64) (size: f64) : [n][m]f64 =
  tabulate_2d n m (\i j -> from + size * f64.sin (f64.i64 (i * 31 + j * 17)))

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
