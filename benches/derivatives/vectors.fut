-- Vectors of three numbers, and what turns them.

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
