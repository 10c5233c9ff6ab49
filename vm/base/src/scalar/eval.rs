//! The meaning of every scalar operation on every type.
//!
//! Halves compute in f32 and round once. The functions panic on nothing: an operation applied to a type outside
//! its domain (which verified code cannot contain) gives 0.

use super::library;
use super::table::ScalarOp;
use super::value::Bits;
use crate::elem::ElemType;
use half::f16;
use std::fmt;

/// An expression with a type parameter standing for the Rust type of an element type.
macro_rules! with_native {
    ($ty:expr, $native:ident => $value:expr) => {
        with_native!(@ $ty, $native, $value,
            I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F16 f16, F32 f32, F64 f64, Bool bool)
    };
    (@ $ty:expr, $native:ident, $value:expr, $($elem:ident $rust:ident),+) => {
        match $ty {
            $(ElemType::$elem => {
                type $native = $rust;
                $value
            })+
        }
    };
}

/// Why a scalar operation has no value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ScalarTrap {
    /// Integer division by zero.
    DivisionByZero,
}

impl fmt::Display for ScalarTrap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScalarTrap::DivisionByZero => f.write_str("division by zero"),
        }
    }
}

/// Applies an operation to as many operands as it takes; too few count as 0.
pub fn eval(op: ScalarOp, ty: ElemType, operands: &[Bits]) -> Result<Bits, ScalarTrap> {
    let at = |i: usize| operands.get(i).copied().unwrap_or(0);
    match op.arity() {
        1 => Ok(eval1(op, ty, at(0))),
        2 => eval2(op, ty, at(0), at(1)),
        _ => Ok(eval3(op, ty, at(0), at(1), at(2))),
    }
}

/// A unary operation.
pub fn eval1(op: ScalarOp, ty: ElemType, a: Bits) -> Bits {
    with_native!(ty, T => T::unary(op, T::of_bits(a)))
}

/// A binary operation.
pub fn eval2(op: ScalarOp, ty: ElemType, a: Bits, b: Bits) -> Result<Bits, ScalarTrap> {
    with_native!(ty, T => T::binary(op, T::of_bits(a), T::of_bits(b)))
}

/// A ternary operation.
pub fn eval3(op: ScalarOp, ty: ElemType, a: Bits, b: Bits, c: Bits) -> Bits {
    match op {
        ScalarOp::Select if a != 0 => b,
        ScalarOp::Select => c,
        _ => with_native!(ty, T => T::ternary(op, T::of_bits(a), T::of_bits(b), T::of_bits(c))),
    }
}

/// A Rust type that computes as an element type. Where the operation is a constant, only that operation is left
/// after inlining: loops and machines are specialised by these functions, [`eval`] is made of them.
pub trait Native: Copy {
    /// The element type.
    const TYPE: ElemType;
    /// The value of bits.
    fn of_bits(bits: Bits) -> Self;
    /// The bits of the value.
    fn to_bits(self) -> Bits;
    /// A unary operation.
    fn unary(op: ScalarOp, a: Self) -> Bits;
    /// A binary operation.
    fn binary(op: ScalarOp, a: Self, b: Self) -> Result<Bits, ScalarTrap>;
    /// A ternary operation on three values of the type, which `select` is not.
    fn ternary(op: ScalarOp, a: Self, b: Self, c: Self) -> Bits;
    /// A unary operation as code that a loop can do for many values at once: what it gives, and whether that is its
    /// value. Where not, [`Native::unary`] knows it.
    #[inline(always)]
    fn quick_unary(op: ScalarOp, a: Self) -> (Bits, bool) {
        (Self::unary(op, a), true)
    }
    /// The same for a binary operation on a type on which it cannot trap.
    #[inline(always)]
    fn quick_binary(op: ScalarOp, a: Self, b: Self) -> (Bits, bool) {
        (Self::binary(op, a, b).unwrap_or(0), true)
    }
}

impl Native for bool {
    const TYPE: ElemType = ElemType::Bool;
    #[inline(always)]
    fn of_bits(bits: Bits) -> bool {
        bits != 0
    }
    #[inline(always)]
    fn to_bits(self) -> Bits {
        Bits::from(self)
    }
    #[inline(always)]
    fn unary(op: ScalarOp, a: bool) -> Bits {
        match op {
            ScalarOp::Not => Bits::from(!a),
            _ => no_meaning(op),
        }
    }
    #[inline(always)]
    fn binary(op: ScalarOp, a: bool, b: bool) -> Result<Bits, ScalarTrap> {
        Ok(bool2(op, Bits::from(a), Bits::from(b)))
    }
    #[inline(always)]
    fn ternary(op: ScalarOp, _: bool, _: bool, _: bool) -> Bits {
        no_meaning(op)
    }
}

impl Native for f16 {
    const TYPE: ElemType = ElemType::F16;
    #[inline(always)]
    fn of_bits(bits: Bits) -> f16 {
        f16::from_bits(bits as u16)
    }
    #[inline(always)]
    fn to_bits(self) -> Bits {
        Bits::from(f16::to_bits(self))
    }
    #[inline(always)]
    fn unary(op: ScalarOp, a: f16) -> Bits {
        half1(op, a)
    }
    #[inline(always)]
    fn binary(op: ScalarOp, a: f16, b: f16) -> Result<Bits, ScalarTrap> {
        Ok(half2(op, a, b))
    }
    #[inline(always)]
    fn ternary(op: ScalarOp, a: f16, b: f16, c: f16) -> Bits {
        match op {
            ScalarOp::Fma => f16::from_f64(a.to_f64().mul_add(b.to_f64(), c.to_f64())).to_bits() as u64,
            _ => no_meaning(op),
        }
    }
}

#[inline(always)]
fn compare<T: PartialOrd>(op: ScalarOp, a: T, b: T) -> Option<Bits> {
    Some(match op {
        ScalarOp::Eq => a == b,
        ScalarOp::Ne => a != b,
        ScalarOp::Lt => a < b,
        ScalarOp::Le => a <= b,
        ScalarOp::Gt => a > b,
        ScalarOp::Ge => a >= b,
        _ => return None,
    } as u64)
}

#[inline(always)]
fn bool2(op: ScalarOp, a: Bits, b: Bits) -> Bits {
    match op {
        ScalarOp::And | ScalarOp::Min => a & b,
        ScalarOp::Or | ScalarOp::Max => a | b,
        ScalarOp::Xor => a ^ b,
        _ => compare(op, a, b).unwrap_or_else(|| no_meaning(op)),
    }
}

/// The value of an operation on a type that it does not exist on. The verifier lets none through: a row of the table whose
/// meaning is missing here comes to this point, in tests with a panic.
#[cold]
fn no_meaning(op: ScalarOp) -> Bits {
    debug_assert!(false, "`{op}` has no meaning on this type");
    0
}

/// What the integer operations need of a type; the inherent methods do the work.
trait Int: Copy + Ord {
    const ZERO: Self;
    fn bits(self) -> Bits;
    fn add(self, b: Self) -> Self;
    fn sub(self, b: Self) -> Self;
    fn mul(self, b: Self) -> Self;
    fn div_floor(self, b: Self) -> Self;
    fn mod_floor(self, b: Self) -> Self;
    fn quot(self, b: Self) -> Self;
    fn rem(self, b: Self) -> Self;
    fn power(self, exponent: Self) -> Self;
    fn and(self, b: Self) -> Self;
    fn or(self, b: Self) -> Self;
    fn xor(self, b: Self) -> Self;
    fn not(self) -> Self;
    fn shl(self, count: Self) -> Self;
    fn shr(self, count: Self) -> Self;
    fn ushr(self, count: Self) -> Self;
    fn neg(self) -> Self;
    fn abs(self) -> Self;
    fn sgn(self) -> Self;
    fn mul_hi(self, b: Self) -> Self;
    fn popc(self) -> u32;
    fn clz(self) -> u32;
    fn ctz(self) -> u32;
}

macro_rules! int_impl {
    ($($t:ident $elem:ident $unsigned:ident $wide:ident $signed:literal;)+) => {$(
        impl Int for $t {
            const ZERO: $t = 0;
            #[inline(always)]
            fn bits(self) -> Bits { self as $unsigned as u64 }
            #[inline(always)]
            fn add(self, b: $t) -> $t { self.wrapping_add(b) }
            #[inline(always)]
            fn sub(self, b: $t) -> $t { self.wrapping_sub(b) }
            #[inline(always)]
            fn mul(self, b: $t) -> $t { self.wrapping_mul(b) }
            #[inline(always)]
            fn div_floor(self, b: $t) -> $t {
                // Mostly nothing is negative, and nothing has to be put right.
                if (self | b) >= Self::ZERO { return (self as $unsigned / b as $unsigned) as $t; }
                let (q, r) = (self.wrapping_div(b), self.wrapping_rem(b));
                if $signed && r != 0 && ((r ^ b) >> ($t::BITS - 1)) != 0 { q.wrapping_sub(1) } else { q }
            }
            #[inline(always)]
            fn mod_floor(self, b: $t) -> $t {
                if (self | b) >= Self::ZERO { return (self as $unsigned % b as $unsigned) as $t; }
                let r = self.wrapping_rem(b);
                if $signed && r != 0 && ((r ^ b) >> ($t::BITS - 1)) != 0 { r.wrapping_add(b) } else { r }
            }
            #[inline(always)]
            fn quot(self, b: $t) -> $t { self.wrapping_div(b) }
            #[inline(always)]
            fn rem(self, b: $t) -> $t { self.wrapping_rem(b) }
            #[inline(always)]
            fn power(self, exponent: $t) -> $t {
                let (mut result, mut base, mut left): ($t, $t, $unsigned) = (1, self, exponent as $unsigned);
                while left != 0 {
                    if left & 1 != 0 { result = result.wrapping_mul(base); }
                    left >>= 1;
                    base = base.wrapping_mul(base);
                }
                result
            }
            #[inline(always)]
            fn and(self, b: $t) -> $t { self & b }
            #[inline(always)]
            fn or(self, b: $t) -> $t { self | b }
            #[inline(always)]
            fn xor(self, b: $t) -> $t { self ^ b }
            #[inline(always)]
            fn not(self) -> $t { !self }
            #[inline(always)]
            fn shl(self, count: $t) -> $t {
                let count = count as $unsigned as u64;
                if count >= $t::BITS as u64 { 0 } else { self << count }
            }
            #[inline(always)]
            fn shr(self, count: $t) -> $t {
                let count = count as $unsigned as u64;
                if count < $t::BITS as u64 { self >> count }
                else if $signed { self >> ($t::BITS - 1) } else { 0 }
            }
            #[inline(always)]
            fn ushr(self, count: $t) -> $t {
                let count = count as $unsigned as u64;
                if count >= $t::BITS as u64 { 0 } else { (self as $unsigned >> count) as $t }
            }
            #[inline(always)]
            fn neg(self) -> $t { self.wrapping_neg() }
            #[inline(always)]
            fn abs(self) -> $t { if $signed && self < Self::ZERO { self.wrapping_neg() } else { self } }
            #[inline(always)]
            fn sgn(self) -> $t {
                match self.cmp(&0) {
                    std::cmp::Ordering::Less => <$t>::ZERO.wrapping_sub(1),
                    std::cmp::Ordering::Equal => 0,
                    std::cmp::Ordering::Greater => 1,
                }
            }
            #[inline(always)]
            fn mul_hi(self, b: $t) -> $t { ((self as $wide * b as $wide) >> $t::BITS) as $t }
            #[inline(always)]
            fn popc(self) -> u32 { self.count_ones() }
            #[inline(always)]
            fn clz(self) -> u32 { self.leading_zeros() }
            #[inline(always)]
            fn ctz(self) -> u32 { self.trailing_zeros() }
        }
        impl Native for $t {
            const TYPE: ElemType = ElemType::$elem;
            #[inline(always)]
            fn of_bits(bits: Bits) -> $t { bits as $t }
            #[inline(always)]
            fn to_bits(self) -> Bits { self as $unsigned as u64 }
            #[inline(always)]
            fn unary(op: ScalarOp, a: $t) -> Bits { int1(op, a) }
            #[inline(always)]
            fn binary(op: ScalarOp, a: $t, b: $t) -> Result<Bits, ScalarTrap> { int2(op, a, b) }
            #[inline(always)]
            fn ternary(op: ScalarOp, _: $t, _: $t, _: $t) -> Bits { no_meaning(op) }
        }
    )+};
}

int_impl! {
    i8 I8 u8 i16 true;
    i16 I16 u16 i32 true;
    i32 I32 u32 i64 true;
    i64 I64 u64 i128 true;
    u8 U8 u8 u16 false;
    u16 U16 u16 u32 false;
    u32 U32 u32 u64 false;
    u64 U64 u64 u128 false;
}

#[inline(always)]
fn int1<T: Int>(op: ScalarOp, a: T) -> Bits {
    match op {
        ScalarOp::Neg => a.neg().bits(),
        ScalarOp::Not => a.not().bits(),
        ScalarOp::FromBits => a.bits(),
        ScalarOp::Abs => a.abs().bits(),
        ScalarOp::Sgn => a.sgn().bits(),
        ScalarOp::Popc => a.popc() as u64,
        ScalarOp::Clz => a.clz() as u64,
        ScalarOp::Ctz => a.ctz() as u64,
        _ => no_meaning(op),
    }
}

#[inline(always)]
fn int2<T: Int>(op: ScalarOp, a: T, b: T) -> Result<Bits, ScalarTrap> {
    if let Some(answer) = compare(op, a, b) {
        return Ok(answer);
    }
    let value = match op {
        ScalarOp::Add => a.add(b),
        ScalarOp::Sub => a.sub(b),
        ScalarOp::Mul => a.mul(b),
        ScalarOp::Div | ScalarOp::Mod | ScalarOp::Quot | ScalarOp::Rem if b == T::ZERO => {
            return Err(ScalarTrap::DivisionByZero);
        }
        ScalarOp::Div => a.div_floor(b),
        ScalarOp::Mod => a.mod_floor(b),
        ScalarOp::Quot => a.quot(b),
        ScalarOp::Rem => a.rem(b),
        ScalarOp::Pow => a.power(b),
        ScalarOp::Min => a.min(b),
        ScalarOp::Max => a.max(b),
        ScalarOp::And => a.and(b),
        ScalarOp::Or => a.or(b),
        ScalarOp::Xor => a.xor(b),
        ScalarOp::Shl => a.shl(b),
        ScalarOp::Shr => a.shr(b),
        ScalarOp::Ushr => a.ushr(b),
        ScalarOp::MulHi => a.mul_hi(b),
        _ => return Ok(no_meaning(op)),
    };
    Ok(value.bits())
}

/// What the float operations need of a type; f32 and f64 have it.
trait Float: Copy + PartialOrd + Into<f64> {
    fn bits(self) -> Bits;
    fn add(self, b: Self) -> Self;
    fn sub(self, b: Self) -> Self;
    fn mul(self, b: Self) -> Self;
    fn div(self, b: Self) -> Self;
    fn fmod(self, b: Self) -> Self;
    fn lesser(self, b: Self) -> Self;
    fn greater(self, b: Self) -> Self;
    fn with_sign_of(self, b: Self) -> Self;
    fn library1(self, op: ScalarOp) -> Option<Self>;
    fn next_towards(self, b: Self) -> Self;
    fn scale(self, exponent: Self) -> Self;
    fn library2(self, op: ScalarOp, b: Self) -> Option<Self>;
}

macro_rules! float_impl {
    ($($t:ident $elem:ident $bits:ident $library:ident $ldexp:path;)+) => {$(
        impl Float for $t {
            #[inline(always)]
            fn bits(self) -> Bits { self.to_bits() as u64 }
            #[inline(always)]
            fn add(self, b: $t) -> $t { self + b }
            #[inline(always)]
            fn sub(self, b: $t) -> $t { self - b }
            #[inline(always)]
            fn mul(self, b: $t) -> $t { self * b }
            #[inline(always)]
            fn div(self, b: $t) -> $t { self / b }
            #[inline(always)]
            fn fmod(self, b: $t) -> $t { self % b }
            // Spelt out, so that every tier can do the same, and in any order of the operands: a NaN gives way to
            // the other operand, and -0.0 is less than 0.0. What is equal has the same bits but for the sign of zeros.
            #[inline(always)]
            fn lesser(self, b: $t) -> $t {
                let least = if self.is_nan() || b < self { b } else { self };
                if self == b { $t::from_bits(self.to_bits() | b.to_bits()) } else { least }
            }
            #[inline(always)]
            fn greater(self, b: $t) -> $t {
                let greatest = if self.is_nan() || b > self { b } else { self };
                if self == b { $t::from_bits(self.to_bits() & b.to_bits()) } else { greatest }
            }
            #[inline(always)]
            fn with_sign_of(self, b: $t) -> $t { self.copysign(b) }
            #[inline]
            fn next_towards(self, b: $t) -> $t {
                if self.is_nan() || b.is_nan() {
                    self + b
                } else if self == b {
                    b
                } else if self < b {
                    self.next_up()
                } else {
                    self.next_down()
                }
            }
            // Beyond the clamp every number is 0 or infinite.
            #[inline]
            fn scale(self, b: $t) -> $t {
                if b.is_nan() { b } else { $ldexp(self, b.clamp(-9999.0, 9999.0) as i32) }
            }
            #[inline(always)]
            fn library1(self, op: ScalarOp) -> Option<$t> {
                // Without a library's help, so that loops of it are vectorised: below 2^(digits - 1) adding and
                // taking that away rounds to a whole number, from there on all numbers are whole.
                #[inline(always)]
                fn whole(x: $t, adjust: impl FnOnce($t) -> $t) -> $t {
                    let large = 1.0 / $t::EPSILON;
                    let near = ((x.abs() + large) - large).copysign(x);
                    if x.abs() < large { adjust(near).copysign(x) } else { x }
                }
                Some(match op {
                    ScalarOp::Neg => -self,
                    ScalarOp::Abs => self.abs(),
                    ScalarOp::Sgn if self > 0.0 => 1.0,
                    ScalarOp::Sgn if self < 0.0 => -1.0,
                    ScalarOp::Sgn => self,
                    ScalarOp::Sqrt => self.sqrt(),
                    ScalarOp::Floor => whole(self, |near| if near > self { near - 1.0 } else { near }),
                    ScalarOp::Ceil => whole(self, |near| if near < self { near + 1.0 } else { near }),
                    ScalarOp::Trunc => {
                        whole(self, |near| if near.abs() > self.abs() { near - (1.0 as $t).copysign(self) } else { near })
                    }
                    ScalarOp::Round => whole(self, |near| near),
                    ScalarOp::Rsqrt => 1.0 / self.sqrt(),
                    _ => {
                        return match library::$library::quick1(op, self) {
                            Some((value, true)) => Some(value),
                            _ => library::general1(op, f64::from(self)).map(|value| value as $t),
                        };
                    }
                })
            }
            #[inline(always)]
            fn library2(self, op: ScalarOp, b: $t) -> Option<$t> {
                match library::$library::quick2(op, self, b) {
                    Some((value, true)) => Some(value),
                    _ => library::general2(op, f64::from(self), f64::from(b)).map(|value| value as $t),
                }
            }
        }
        impl Native for $t {
            const TYPE: ElemType = ElemType::$elem;
            #[inline(always)]
            fn of_bits(bits: Bits) -> $t { $t::from_bits(bits as $bits) }
            #[inline(always)]
            fn to_bits(self) -> Bits { $t::to_bits(self) as u64 }
            #[inline(always)]
            fn unary(op: ScalarOp, a: $t) -> Bits { float1(op, a) }
            #[inline(always)]
            fn quick_unary(op: ScalarOp, a: $t) -> (Bits, bool) {
                match library::$library::quick1(op, a) {
                    Some((value, known)) => (value.bits(), known),
                    None => (float1(op, a), true),
                }
            }
            #[inline(always)]
            fn quick_binary(op: ScalarOp, a: $t, b: $t) -> (Bits, bool) {
                match library::$library::quick2(op, a, b) {
                    Some((value, known)) => (value.bits(), known),
                    None => (float2(op, a, b), true),
                }
            }
            #[inline(always)]
            fn binary(op: ScalarOp, a: $t, b: $t) -> Result<Bits, ScalarTrap> { Ok(float2(op, a, b)) }
            #[inline(always)]
            fn ternary(op: ScalarOp, a: $t, b: $t, c: $t) -> Bits {
                match op {
                    ScalarOp::Fma => a.mul_add(b, c).bits(),
                    _ => no_meaning(op),
                }
            }
        }
    )+};
}

float_impl! {
    f32 F32 u32 single libm::ldexpf;
    f64 F64 u64 double libm::ldexp;
}

#[inline(always)]
fn float1<T: Float>(op: ScalarOp, a: T) -> Bits {
    match op {
        ScalarOp::IsNan => a.into().is_nan() as u64,
        ScalarOp::IsInf => a.into().is_infinite() as u64,
        ScalarOp::ToBits => a.bits(),
        _ => a.library1(op).map_or_else(|| no_meaning(op), T::bits),
    }
}

#[inline(always)]
fn float2<T: Float>(op: ScalarOp, a: T, b: T) -> Bits {
    if let Some(answer) = compare(op, a, b) {
        return answer;
    }
    let value = match op {
        ScalarOp::Add => a.add(b),
        ScalarOp::Sub => a.sub(b),
        ScalarOp::Mul => a.mul(b),
        ScalarOp::Div => a.div(b),
        ScalarOp::Mod => a.fmod(b),
        ScalarOp::Min => a.lesser(b),
        ScalarOp::Max => a.greater(b),
        ScalarOp::CopySign => a.with_sign_of(b),
        ScalarOp::NextAfter => a.next_towards(b),
        ScalarOp::Scale => a.scale(b),
        _ => match a.library2(op, b) {
            Some(value) => value,
            None => return no_meaning(op),
        },
    };
    value.bits()
}

#[inline(always)]
fn half1(op: ScalarOp, a: f16) -> Bits {
    if op == ScalarOp::ToBits {
        return a.to_bits() as u64;
    }
    let wide = float1(op, a.to_f32());
    if op.result_type(ElemType::F16) == ElemType::F16 { narrow(wide) } else { wide }
}

#[inline(always)]
fn half2(op: ScalarOp, a: f16, b: f16) -> Bits {
    if op == ScalarOp::NextAfter {
        return next_half(a, b).to_bits() as u64;
    }
    let wide = float2(op, a.to_f32(), b.to_f32());
    if op.result_type(ElemType::F16) == ElemType::F16 { narrow(wide) } else { wide }
}

/// The next half, which is not what narrowing the next single gives.
fn next_half(a: f16, b: f16) -> f16 {
    if a.is_nan() || b.is_nan() {
        return f16::NAN;
    }
    if a == b {
        return b;
    }
    let sign = f16::NEG_ZERO.to_bits();
    match a.to_bits() {
        bits if bits & !sign == 0 => f16::from_bits(b.to_bits() & sign | 1),
        // Away from zero is the greater pattern.
        bits if (a < b) == (bits & sign == 0) => f16::from_bits(bits + 1),
        bits => f16::from_bits(bits - 1),
    }
}

#[inline]
fn narrow(single: Bits) -> Bits {
    f16::from_f32(f32::from_bits(single as u32)).to_bits() as u64
}

#[cfg(test)]
mod tests;
