-- Hand tracking: vertices of a hand whose bones are posed, against points that were measured, and the derivatives of all these
-- differences by the numbers of the pose. Each measured point has its vertex; or, if there are shares, its triangle, and the shares
-- of two of the corners in the place in that triangle, which are derived by as well.

import "numbers"
import "vectors"

type hand [bones] [m] [t] =
  { parents: [bones]i64
  , relative: [bones][4][4]f64
  , inverse: [bones][4][4]f64
  , weights: [m][bones]f64
  , vertices: [m][4]f64
  , triangles: [t][3]i64
  }

def product [a] [b] [c] (x: [a][b]f64) (y: [b][c]f64) : [a][c]f64 =
  map (\row -> map (\column -> f64.sum (map2 (*) row column)) (transpose y)) x

-- What the pose says of a bone: after two bones that do not bend, fingers of four, of which the first bends and spreads, the next
-- two bend and the last is rigid. The six numbers before are those of the whole hand.
def bend (pose: [26]f64) (bone: i64) : (f64, f64) =
  let (finger, joint) = ((bone - 2) / 4, (bone - 2) % 4)
  let own = 6 + 4 * finger
  in if bone < 2 || finger >= 5 || joint == 3
     then (0, 0)
     else if joint == 0
     then (pose[own], pose[own + 1])
     else (pose[own + 1 + joint], 0)

-- A turn around the first axis, and then around the third.
def turn (first: f64, third: f64) : [4][4]f64 =
  let (s, c) = (f64.sin first, f64.cos first)
  let (t, d) = (f64.sin third, f64.cos third)
  in [[d, -c * t, s * t, 0], [t, c * d, -s * d, 0], [0, s, c, 0], [0, 0, 0, 1]]

-- Where bones are, of where each is from its parent's view. Parents come first.
def absolute [bones] (parents: [bones]i64) (relative: [bones][4][4]f64) : [bones][4][4]f64 =
  loop all = copy relative
  for bone < bones do
    if parents[bone] < 0 then all else all with [bone] = copy (product all[parents[bone]] relative[bone])

-- Vertices follow their bones, by weight, and then the whole hand is turned and moved.
def posed [bones] [m] [t] (h: hand [bones] [m] [t]) (pose: [26]f64) : [m]vector =
  let bent = map2 (\own bone -> product own (turn (bend pose bone))) h.relative (iota bones)
  let moves = map2 product (absolute h.parents bent) h.inverse
  let number (row: [4]f64) (p: [4]f64) = row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + row[3] * p[3]
  let moved p weight move = scaled weight (vec (number move[0] p) (number move[1] p) (number move[2] p))
  let axis = vec pose[0] pose[1] pose[2]
  let (x, y, z) = (turned axis (vec 1 0 0), turned axis (vec 0 1 0), turned axis (vec 0 0 1))
  let placed q = scaled q.x x +. scaled q.y y +. scaled q.z z +. vec pose[3] pose[4] pose[5]
  in map2 (\p weights -> placed (reduce (+.) (vec 0 0 0) (map2 (moved p) weights moves))) h.vertices h.weights

def off [bones] [m] [t] [n] [s]
        (h: hand [bones] [m] [t])
        (nearest: [n]i64)
        (measured: [n][3]f64)
        (pose: [26]f64, shares: [s][2]f64) : [n][3]f64 =
  let vertices = posed h pose
  let place i at =
    if s == 0
    then vertices[at]
    else let corners = h.triangles[at]
         let (a, b) = (shares[i, 0], shares[i, 1])
         in scaled a vertices[corners[0]] +. scaled b vertices[corners[1]] +. scaled (1 - a - b) vertices[corners[2]]
  let difference i at (point: [3]f64) =
    let d = vec point[0] point[1] point[2] -. place i at
    in [d.x, d.y, d.z]
  in map3 difference (iota n) nearest measured

entry input (bones: i64) (m: i64) (t: i64) (n: i64) (has_shares: bool) =
  let parents = tabulate bones (\i -> if i > 1 && i % 4 == 2 then 1 else i - 1)
  let affine (size: f64) =
    map (\rows -> unflatten rows ++ [[0, 0, 0, 1]] :> [4][4]f64) (numbers bones 12 0 size :> [bones][3 * 4]f64)
  let vertices = map (\x -> [x[0], x[1], x[2], 1]) (numbers m 3 0 1)
  let triangles = tabulate_2d t 3 (\i j -> (i * 7919 + j * 104729) % m)
  let nearest = tabulate n (\i -> i * 7919 % if has_shares then t else m)
  let shares = numbers (n * i64.bool has_shares) 2 0.3 0.2
  in ( parents
     , affine 0.5
     , affine 0.6
     , numbers m bones 0.1 0.1
     , vertices
     , triangles
     , nearest
     , numbers n 3 0 1
     , (numbers 1 26 0 1)[0]
     , shares
     )

entry primal [bones] [m] [t] [n] [s]
             (parents: [bones]i64)
             (relative: [bones][4][4]f64)
             (inverse: [bones][4][4]f64)
             (weights: [m][bones]f64)
             (vertices: [m][4]f64)
             (triangles: [t][3]i64)
             (nearest: [n]i64)
             (measured: [n][3]f64)
             (pose: [26]f64)
             (shares: [s][2]f64) =
  off {parents, relative, inverse, weights, vertices, triangles} nearest measured (pose, shares)

-- One direction for each number of the pose, and two in which all shares move at once: no difference has the shares of another.
entry derivative [bones] [m] [t] [n] [s]
                 (parents: [bones]i64)
                 (relative: [bones][4][4]f64)
                 (inverse: [bones][4][4]f64)
                 (weights: [m][bones]f64)
                 (vertices: [m][4]f64)
                 (triangles: [t][3]i64)
                 (nearest: [n]i64)
                 (measured: [n][3]f64)
                 (pose: [26]f64)
                 (shares: [s][2]f64) =
  let h = {parents, relative, inverse, weights, vertices, triangles}
  let along k =
    let direction = (map (\j -> f64.bool (j == k)) (iota 26), replicate s [f64.bool (k == 26), f64.bool (k == 27)])
    in jvp (off h nearest measured) (pose, shares) direction
  in map along (iota (26 + 2 * i64.bool (s > 0)))
