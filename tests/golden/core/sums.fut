type shape = #circle f32 | #rectangle f32 f32 | #point

def area (s: shape) : f32 =
  match s
  case #circle r -> f32.pi * r * r
  case #rectangle a b -> a * b
  case #point -> 0

-- The constructor is known where the value is made, so nothing is tested.
entry known (r: f32) : f32 = area (#circle r)

-- A tag and two slots that constructors share.
entry areas (xs: []f32) : []f32 =
  map (\x -> area (if x > 1 then #rectangle x 2 else if x > 0 then #circle x else #point)) xs

entry equal (a: f32) (b: f32) : bool =
  (if a > b then #circle a else #rectangle a b) == (#rectangle b a : shape)

-- Opaque values go in and out.
entry half (s: shape) : shape =
  match s
  case #circle r -> #circle (r / 2)
  case #rectangle a b -> #rectangle (a / 2) b
  case #point -> #point

-- Rows must have equal extents: the absent array is there, full of zeros.
entry rows (n: i64) (xs: []i64) : []i64 =
  let ys : [](#none | #some ([n]i64)) = map (\x -> if x > 0 then #some (replicate n x) else #none) xs
  in map (\y -> match y
                case #some v -> i64.sum v
                case #none -> 0)
         ys
