def id x = x
def twice f x = f (f x)
def pair = \a b -> (a, b)
def number x = x + 1
def float x = x / 2.5
def literal : u8 = 255
def compare a b = a < b && a != b
def swap (a, b) = (b, a)
def first p = p.0 + 1i64
def record (r: {x: i32, y: [3]f32}) = r.y[r.x]
def compose f g x = g (f x)
def section = map (+ 1)
def power = (** 2f32)
def pipeline xs = xs |> filter (> 3i32) |> map f32.i32 |> f32.sum
def parts xs = unzip (map (\x -> (x, x * 2.0f32)) xs)
