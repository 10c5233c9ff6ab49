-- Members of the scalar modules that are made of others. One definition per line; $T is the module's type, $W the
-- unsigned integer as wide as it. Members that begin with `_` are operations no program names.
-- numbers
def sum [n] (xs: [n]$T) : $T = reduce (+) ($T.i32 0) xs
def product [n] (xs: [n]$T) : $T = reduce (*) ($T.i32 1) xs
def maximum [n] (xs: [n]$T) : $T = reduce_comm $T.max $T.lowest xs
def minimum [n] (xs: [n]$T) : $T = reduce_comm $T.min $T.highest xs
-- integers
def get_bit (bit: i32) (x: $T) : i32 = i32.$T ((x >> $T.i32 bit) & $T.i32 1)
def set_bit (bit: i32) (x: $T) (b: i32) : $T = (x & !($T.i32 1 << $T.i32 bit)) | ($T.i32 b << $T.i32 bit)
def mad_hi (a: $T) (b: $T) (c: $T) : $T = $T.mul_hi a b + c
-- floats
def recip (x: $T) : $T = 1 / x
def from_fraction (x: i64) (y: i64) : $T = $T.i64 x / $T.i64 y
def mad (a: $T) (b: $T) (c: $T) : $T = a * b + c
def lerp (a: $T) (b: $T) (t: $T) : $T = a + (b - a) * ($T.max 0 ($T.min 1 t))
def sinpi (x: $T) : $T = $T.sin (x * $T.pi)
def cospi (x: $T) : $T = $T.cos (x * $T.pi)
def tanpi (x: $T) : $T = $T.tan (x * $T.pi)
def asinpi (x: $T) : $T = $T.asin x / $T.pi
def acospi (x: $T) : $T = $T.acos x / $T.pi
def atanpi (x: $T) : $T = $T.atan x / $T.pi
def atan2pi (y: $T) (x: $T) : $T = $T.atan2 y x / $T.pi
def from_bits (x: $W) : $T = $W._from_bits x
def get_bit (bit: i32) (x: $T) : i32 = $W.get_bit bit ($T.to_bits x)
def set_bit (bit: i32) (x: $T) (b: i32) : $T = $T.from_bits ($W.set_bit bit ($T.to_bits x) b)
def ldexp (x: $T) (n: i32) : $T = $T._scale x ($T.i32 n)
