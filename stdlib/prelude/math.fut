-- What the modules of the scalar types promise. The modules themselves (`i8` .. `f64`, `bool`) are made of the
-- tables of the compiler and of stdlib/prelude/scalar.fut; a test holds both sides together.

-- | A type with a conversion from each scalar type. Numbers become other numbers by wrapping (to fewer bits), by sign
-- or zero extension (to more), by rounding (to floats) and by dropping the fraction (from floats). `true` is 1 and
-- `false` is 0; as a truth value, every number but 0 is `true`.
module type from_prim = {
  type t

  val i8 : i8 -> t
  val i16 : i16 -> t
  val i32 : i32 -> t
  val i64 : i64 -> t

  val u8 : u8 -> t
  val u16 : u16 -> t
  val u32 : u32 -> t
  val u64 : u64 -> t

  val f16 : f16 -> t
  val f32 : f32 -> t
  val f64 : f64 -> t

  val bool : bool -> t
}

-- | Numbers: integers, floats, and whatever behaves like them.
module type numeric = {
  include from_prim

  val (+) : t -> t -> t
  val (-) : t -> t -> t
  val (*) : t -> t -> t
  -- | Quotient; of integers, rounded towards minus infinity.
  val (/) : t -> t -> t
  -- | Remainder of `/`.
  val (%) : t -> t -> t
  -- | Power.
  val (**) : t -> t -> t

  -- | The nearest i64 towards zero.
  val to_i64 : t -> i64

  val (==) : t -> t -> bool
  val (<) : t -> t -> bool
  val (>) : t -> t -> bool
  val (<=) : t -> t -> bool
  val (>=) : t -> t -> bool
  val (!=) : t -> t -> bool

  -- | The number with the other sign.
  val neg : t -> t
  -- | The greater of two.
  val max : t -> t -> t
  -- | The lesser of two.
  val min : t -> t -> t

  -- | The distance from zero.
  val abs : t -> t

  -- | -1, 0 or 1, for numbers below, at and above zero.
  val sgn : t -> t

  -- | The greatest number of the type.
  val highest : t

  -- | The least number of the type: the most negative one of signed types.
  val lowest : t

  -- | All elements added; 0 without any.
  val sum [n] : [n]t -> t

  -- | All elements multiplied; 1 without any.
  val product [n] : [n]t -> t

  -- | The greatest element; `lowest` without any.
  val maximum [n] : [n]t -> t

  -- | The least element; `highest` without any.
  val minimum [n] : [n]t -> t
}

-- | Integers: numbers whose bits can be seen.
module type integral = {
  include numeric

  -- | Quotient rounded towards zero.
  val (//) : t -> t -> t

  -- | Remainder of `//`; it has the sign of the dividend.
  val (%%) : t -> t -> t

  -- | Bits that are set in both.
  val (&) : t -> t -> t

  -- | Bits that are set in either.
  val (|) : t -> t -> t

  -- | Bits that are set in exactly one.
  val (^) : t -> t -> t

  -- | Every bit flipped.
  val not : t -> t

  -- | Bits moved up, zeros coming in.
  val (<<) : t -> t -> t

  -- | Bits moved down; copies of the sign bit come in.
  val (>>) : t -> t -> t

  -- | Bits moved down, zeros coming in.
  val (>>>) : t -> t -> t

  -- | How many bits a number has.
  val num_bits : i32

  -- | The bit at a position, counted from the least significant one.
  val get_bit : i32 -> t -> i32

  -- | The number with the bit at a position replaced.
  val set_bit : i32 -> t -> i32 -> t

  -- | How many bits are set.
  val popc : t -> i32

  -- | The high half of the product of twice the width.
  val mul_hi : (x: t) -> (y: t) -> t

  -- | `mul_hi a b + c`.
  val mad_hi : (a: t) -> (b: t) -> (c: t) -> t

  -- | How many zero bits stand above the highest set bit; all of them for 0.
  val clz : t -> i32

  -- | How many zero bits stand below the lowest set bit; all of them for 0.
  val ctz : t -> i32
}

-- | Numbers that stand for real numbers.
module type real = {
  include numeric

  -- | 1 divided by it.
  val recip : t -> t

  -- | The quotient of two integers.
  val from_fraction : i64 -> i64 -> t
  val to_i64 : t -> i64
  val to_f64 : t -> f64

  val sqrt : t -> t
  -- | 1 divided by the square root.
  val rsqrt : t -> t
  -- | Cube root.
  val cbrt : t -> t
  val exp : t -> t

  val sin : t -> t
  val cos : t -> t
  val tan : t -> t

  -- | The sine of pi times the argument; the next ones likewise.
  val sinpi : t -> t
  val cospi : t -> t
  val tanpi : t -> t

  val asin : t -> t
  val acos : t -> t
  val atan : t -> t

  -- | The arc sine divided by pi; the next ones likewise.
  val asinpi : t -> t
  val acospi : t -> t
  val atanpi : t -> t

  val sinh : t -> t
  val cosh : t -> t
  val tanh : t -> t

  val asinh : t -> t
  val acosh : t -> t
  val atanh : t -> t

  -- | `atan2 y x` is the angle of the point (x, y).
  val atan2 : t -> t -> t
  -- | `atan2` divided by pi.
  val atan2pi : t -> t -> t

  -- | The length of the vector of two numbers, without overflow on the way.
  val hypot : t -> t -> t

  -- | The gamma function.
  val gamma : t -> t

  -- | The logarithm of the magnitude of `gamma`.
  val lgamma : t -> t

  -- | The error function.
  val erf : t -> t

  -- | 1 less the error function.
  val erfc : t -> t

  -- | `lerp a b t` is the point between `a` (t = 0) and `b` (t = 1).
  val lerp : t -> t -> t -> t

  -- | Natural logarithm.
  val log : t -> t
  val log2 : t -> t
  val log10 : t -> t

  -- | `log (1 + x)`, also where `x` is tiny.
  val log1p : t -> t

  -- | The least whole number not below.
  val ceil : t -> t

  -- | The greatest whole number not above.
  val floor : t -> t

  -- | The fraction dropped.
  val trunc : t -> t

  -- | The nearest whole number; of two, the even one.
  val round : t -> t

  -- | `a * b + c`, rounded once or twice.
  val mad : (a: t) -> (b: t) -> (c: t) -> t

  -- | `a * b + c`, rounded once.
  val fma : (a: t) -> (b: t) -> (c: t) -> t

  val isinf : t -> bool
  val isnan : t -> bool

  val inf : t
  val nan : t

  val pi : t
  val e : t
}

-- | Real numbers whose bits can be seen, as IEEE 754 has them.
module type float = {
  include real

  -- | The unsigned integers of the same width.
  type int_t

  -- | The number that has these bits.
  val from_bits : int_t -> t
  -- | Its bits.
  val to_bits : t -> int_t

  val num_bits : i32
  val get_bit : i32 -> t -> i32
  val set_bit : i32 -> t -> i32 -> t

  -- | What is between 1 and the next number above.
  val epsilon : t

  -- | `nextafter x y` is the number next to `x` on the way to `y`.
  val nextafter : (x: t) -> (y: t) -> t

  -- | `ldexp x n` is `x` times 2 to the power of `n`.
  val ldexp : t -> i32 -> t

  -- | The magnitude of `x` with the sign of `y`.
  val copysign : (x: t) -> (y: t) -> t
}
