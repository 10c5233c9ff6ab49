-- Names that nothing uses. One that begins with `_` says that this is meant.
def parameters (x: i32) (_y: i32) ({z, w = _}: {z: i32, w: i32}) : i32 = z

def locals (o: *[1]i32) (xs: []i32) : i32 =
  let f y = 2i32
  let (p, q) = (1i32, 2i32)
  let used = p
  let last = loop (s, t) = (used, 2i32) for i < 10i64 do (s, s)
  let g = map (\v -> 1i32) xs
  let [m] (ys: [m]i32) = xs
  let [k] (zs: [k]i32) = xs
  let o[0] = 1i32
  in match (length ys, k)
     case (0, c) -> 3
     case _ -> 4

-- Sizes and types count as uses.
def sizes [n] 'a (m: i64) (_: [n]a) : [m]i64 = iota m
def named (f: (k: i64) -> [k]i32) (g: (k: i64) -> i32) : i32 = (f 1)[0] + g 2
def hidden : ?[k].[]i32 -> [k]i32 = \xs -> copy xs

-- `loop x` and record puns read what they name.
def implicit (x: i32) (y: i32) : {y: i32} = let x = loop x for _i < 3i32 do x in if x > 0 then {y} else {y = 1}

-- Definitions are there for others.
local def for_nobody = 1i32
module m = { def too = 1i32 }
