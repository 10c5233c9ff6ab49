-- What the derivatives here say, against differences of values: along a direction in which all numbers grow by the same factor, and for
-- the hand in each direction of its own. The mixture's example compares its two modes.

module bundle = import "ba"
module net = import "lstm"
module clusters = import "kmeans"
module hand = import "hand"
module digits = import "mnist"

def is_near (a: f64) (b: f64) : bool = f64.abs (a - b) <= 1e-7 * (1 + f64.abs b)

-- How a function of a factor changes at 1.
def slope (f: f64 -> f64) : f64 = (f (1 + 1e-5) - f (1 - 1e-5)) / 2e-5

def dot [n] (a: [n]f64) (b: [n]f64) : f64 = f64.sum (map2 (*) a b)

-- ==
-- entry: of_bundle
-- input { 5i64 20i64 30i64 } output { true }
entry of_bundle (n: i64) (m: i64) (p: i64) : bool =
  let (cameras, points, weights, sights, at) = bundle.input n m p
  let grown s = bundle.primal (map (map (* s)) cameras) (map (map (* s)) points) (map (* s) weights) sights at
  let (along, across) = (tabulate p (\i -> slope (\s -> (grown s).0[i])), tabulate p (\i -> slope (\s -> (grown s).1[i])))
  let by s w (row: [2][15]f64) x y =
    let all = cameras[s[0]] ++ points[s[1]] ++ [w] :> [15]f64
    in is_near (dot row[0] all) x && is_near (dot row[1] all) y
  in and (map5 by sights weights (bundle.derivative cameras points weights sights at) along across)

-- ==
-- entry: of_net
-- input { 20i64 4i64 2i64 } output { true }
entry of_net (t: i64) (d: i64) (l: i64) : bool =
  let (sequence, states, layers, ends) = net.input t d l
  let (of_layers, of_ends) = net.derivative sequence states layers ends
  let grown s = net.primal sequence states (map (map (map (map (* s)))) layers) (map (map (* s)) ends)
  in is_near (dot (flatten_4d of_layers) (flatten_4d layers) + dot (flatten of_ends) (flatten ends)) (slope grown)

-- ==
-- entry: of_clusters
-- input { 200i64 4i64 5i64 } output { true }
entry of_clusters (n: i64) (d: i64) (k: i64) : bool =
  let (points, centres) = clusters.input n d k
  let grown s = clusters.primal points (map (map (* s)) centres)
  in is_near (dot (flatten (clusters.derivative points centres)) (flatten centres)) (slope grown)

-- ==
-- entry: of_hand
-- input { 22i64 20i64 10i64 50i64 false } output { true }
-- input { 22i64 20i64 10i64 50i64 true } output { true }
entry of_hand (bones: i64) (m: i64) (t: i64) (n: i64) (has_shares: bool) : bool =
  let (parents, relative, inverse, weights, vertices, triangles, nearest, measured, pose, shares) =
    hand.input bones m t n has_shares
  let moved k s =
    let by j = s * f64.bool (j == k)
    in hand.primal parents relative inverse weights vertices triangles nearest measured
                   (map2 (+) pose (map by (iota 26)))
                   (map (\share -> [share[0] + by 26, share[1] + by 27]) shares)
  let is_column k column =
    let (more, less) = (flatten (moved k 1e-5), flatten (moved k (-1e-5)))
    in and (map3 (\a b d -> is_near ((a - b) / 2e-5) d) more less (flatten column))
  let columns = hand.derivative parents relative inverse weights vertices triangles nearest measured pose shares
  in and (map2 is_column (indices columns) columns)

-- ==
-- entry: of_digits
-- input { 8i64 12i64 5i64 3i64 } output { true }
entry of_digits (n: i64) (i: i64) (h: i64) (o: i64) : bool =
  let (pictures, right, weights, bias, weights_out, bias_out) = digits.input n i h o
  let (dw, db, dv, dc) = digits.derivative pictures right weights bias weights_out bias_out
  let grown s =
    digits.primal pictures right (map (map (* s)) weights) (map (* s) bias) (map (map (* s)) weights_out) (map (* s) bias_out)
  let hidden = dot (flatten dw) (flatten weights) + dot db bias
  let out = dot (flatten dv) (flatten weights_out) + dot dc bias_out
  in is_near (hidden + out) (slope grown)
