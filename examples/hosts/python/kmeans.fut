-- k-means: of each block of points the sums of what is nearest to each centre, which are added and become the next centres.

def distance [d] (a: [d]f64) (b: [d]f64) : f64 =
  reduce (+) 0 (map2 (\x y -> (x - y) ** 2) a b)

-- | The number of the centre that is nearest, and the square of its distance.
def nearest [k] [d] (centres: [k][d]f64) (point: [d]f64) : (i64, f64) =
  let closer (i, a) (j, b) = if b < a || (b == a && j < i) then (j, b) else (i, a)
  in reduce closer (k, f64.inf) (zip (iota k) (map (distance point) centres))

type sums [k] [d] = {sums: [k][d]f64, counts: [k]i64, cost: f64}

-- | Of the points of a block.
entry assigned [n] [k] [d] (centres: [k][d]f64) (points: [n][d]f64) : sums [k] [d] =
  let (which, squares) = unzip (map (nearest centres) points)
  in { sums = reduce_by_index (replicate k (replicate d 0)) (map2 (+)) (replicate d 0) which points
     , counts = hist (+) 0 k which (replicate n 1)
     , cost = reduce (+) 0 squares }

entry together [k] [d] (a: sums [k] [d]) (b: sums [k] [d]) : sums [k] [d] =
  { sums = map2 (map2 (+)) a.sums b.sums
  , counts = map2 (+) a.counts b.counts
  , cost = a.cost + b.cost }

-- | The means; a centre that has no points stays where it is.
entry moved [k] [d] (centres: [k][d]f64) (all: sums [k] [d]) : [k][d]f64 =
  map3 (\centre sum count -> if count == 0 then centre else map (/ f64.i64 count) sum) centres all.sums all.counts
