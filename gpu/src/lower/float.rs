//! The exact float operations in shaders, on singles and doubles; halves come and go as singles.

use super::rounding;
use super::scalar::reg;
use crate::shader::{BinOp, Code, Format, Ty, UnOp, Val};
use galopvm_base::{ElemType, ScalarOp};

/// True for NaN. By bits: a driver may assume that there are no NaNs.
pub fn is_nan(c: &mut Code, a: Val) -> Val {
    let f = Format::of(c.ty(a));
    let (bits, infinity) = (c.magnitude(a), c.constant(f.bits, f.infinity));
    c.bin(BinOp::Ult, infinity, bits)
}

/// True for infinities and NaN.
pub fn is_not_finite(c: &mut Code, a: Val) -> Val {
    let f = Format::of(c.ty(a));
    let (bits, infinity) = (c.magnitude(a), c.constant(f.bits, f.infinity));
    c.bin(BinOp::Ule, infinity, bits)
}

/// `a / b`. Division by zero is spelled out: Vulkan promises nothing about it, and lavapipe makes `x / 0.0` zero when
/// the divisor is a constant.
fn divide(c: &mut Code, a: Val, b: Val) -> Val {
    let ty = c.ty(a);
    if !c.ieee(ty).quotients {
        return rounding::quotient(c, a, b, |c, a, b| c.bin(BinOp::FDiv, a, b));
    }
    let f = Format::of(ty);
    let quotient = c.bin(BinOp::FDiv, a, b);
    let (zero, none) = (c.float(ty, 0.0), c.constant(f.bits, 0));
    let (a_bits, b_bits) = (c.un(UnOp::BitsOf, a), c.un(UnOp::BitsOf, b));
    let signs = c.bin(BinOp::Xor, a_bits, b_bits);
    let (mask, infinity) = (c.constant(f.bits, f.sign), c.constant(f.bits, f.infinity));
    let sign = c.bin(BinOp::And, signs, mask);
    let infinite = c.bin(BinOp::Or, sign, infinity);
    let nan = c.constant(f.bits, f.infinity | 1 << (f.fraction - 1));
    let a_is_nan = is_nan(c, a);
    let a_magnitude = c.magnitude(a);
    let a_is_zero = c.bin(BinOp::Eq, a_magnitude, none);
    let undefined = c.bin(BinOp::LOr, a_is_nan, a_is_zero);
    let bits = c.select(undefined, nan, infinite);
    let limit = c.un(UnOp::OfBits, bits);
    let by_zero = c.bin(BinOp::FEq, b, zero);
    c.select(by_zero, limit, quotient)
}

fn root(c: &mut Code, a: Val) -> Val {
    match c.ieee(c.ty(a)).roots {
        true => c.un(UnOp::Sqrt, a),
        false => rounding::root(c, a, |c, a| c.un(UnOp::Sqrt, a)),
    }
}

/// The magnitude of `a` with the sign of `b`.
pub fn copy_sign(c: &mut Code, a: Val, b: Val) -> Val {
    let f = Format::of(c.ty(a));
    let value = c.magnitude(a);
    let sign = c.un(UnOp::BitsOf, b);
    let mask = c.constant(f.bits, f.sign);
    let sign = c.bin(BinOp::And, sign, mask);
    let bits = c.bin(BinOp::Or, value, sign);
    c.un(UnOp::OfBits, bits)
}

/// A double rounded to zero. llvmpipe's own instruction goes through 32 bits where the processor has AVX2 only: it leaves what is beyond
/// them as it was, and loses the sign of zero. Rounding down and up are right.
fn wide_trunc(c: &mut Code, a: Val) -> Val {
    let (down, up, zero) = (c.un(UnOp::Floor, a), c.un(UnOp::Ceil, a), c.float(Ty::F64, 0.0));
    let is_negative = c.bin(BinOp::FLt, a, zero);
    c.select(is_negative, up, down)
}

/// A double rounded to the nearest whole number, to the even one of two, for the same reason.
fn wide_round(c: &mut Code, a: Val) -> Val {
    let (down, up, half) = (c.un(UnOp::Floor, a), c.un(UnOp::Ceil, a), c.float(Ty::F64, 0.5));
    let part = c.bin(BinOp::FSub, a, down);
    let is_more = c.bin(BinOp::FLt, half, part);
    let is_tie = c.bin(BinOp::FEq, part, half);
    let halved = c.bin(BinOp::FMul, down, half);
    let whole = c.un(UnOp::Floor, halved);
    let is_odd = c.bin(BinOp::FLt, whole, halved);
    let is_tie_up = c.bin(BinOp::LAnd, is_tie, is_odd);
    let is_up = c.bin(BinOp::LOr, is_more, is_tie_up);
    c.select(is_up, up, down)
}

/// A unary operation; the result of a half is not yet rounded.
pub fn unary(c: &mut Code, op: ScalarOp, ty: ElemType, a: Val) -> Result<Val, String> {
    let r = reg(ty);
    Ok(match op {
        ScalarOp::Neg => c.un(UnOp::FNeg, a),
        ScalarOp::Abs => c.un(UnOp::FAbs, a),
        ScalarOp::Floor => c.un(UnOp::Floor, a),
        ScalarOp::Ceil => c.un(UnOp::Ceil, a),
        ScalarOp::Trunc if ty == ElemType::F64 => wide_trunc(c, a),
        ScalarOp::Round if ty == ElemType::F64 => wide_round(c, a),
        ScalarOp::Trunc => c.un(UnOp::Trunc, a),
        ScalarOp::Round => c.un(UnOp::RoundEven, a),
        ScalarOp::Sqrt => root(c, a),
        ScalarOp::Rsqrt => {
            let (root, one) = (root(c, a), c.float(r, 1.0));
            divide(c, one, root)
        }
        ScalarOp::Sgn => {
            let (zero, one, minus) = (c.float(r, 0.0), c.float(r, 1.0), c.float(r, -1.0));
            let above = c.bin(BinOp::FLt, zero, a);
            let below = c.bin(BinOp::FLt, a, zero);
            let other = c.select(below, minus, a);
            c.select(above, one, other)
        }
        ScalarOp::IsNan => is_nan(c, a),
        ScalarOp::IsInf => {
            let f = Format::of(r);
            let (bits, infinity) = (c.magnitude(a), c.constant(f.bits, f.infinity));
            c.bin(BinOp::Eq, bits, infinity)
        }
        _ => return Err(format!("`{op}` on {ty} is not available on the Vulkan back end")),
    })
}

/// A binary operation; the result of a half is not yet rounded.
pub fn binary(c: &mut Code, op: ScalarOp, ty: ElemType, a: Val, b: Val) -> Result<Val, String> {
    Ok(match op {
        ScalarOp::Add => c.bin(BinOp::FAdd, a, b),
        ScalarOp::Sub => c.bin(BinOp::FSub, a, b),
        ScalarOp::Mul => c.bin(BinOp::FMul, a, b),
        ScalarOp::Div => divide(c, a, b),
        ScalarOp::Eq => c.bin(BinOp::FEq, a, b),
        ScalarOp::Ne => {
            let same = c.bin(BinOp::FEq, a, b);
            c.un(UnOp::Not, same)
        }
        ScalarOp::Lt => c.bin(BinOp::FLt, a, b),
        ScalarOp::Le => c.bin(BinOp::FLe, a, b),
        ScalarOp::Gt => c.bin(BinOp::FLt, b, a),
        ScalarOp::Ge => c.bin(BinOp::FLe, b, a),
        ScalarOp::Min => extreme(c, (a, b), (b, a), BinOp::Or),
        ScalarOp::Max => extreme(c, (a, b), (a, b), BinOp::And),
        ScalarOp::CopySign => copy_sign(c, a, b),
        ScalarOp::Mod => remainder(c, a, b),
        _ => return Err(format!("`{op}` on {ty} is not available on the Vulkan back end")),
    })
}

/// `b` where `a` is NaN or `x < y`, else `a`; of two zeros, what the operation makes of their signs.
fn extreme(c: &mut Code, (a, b): (Val, Val), (x, y): (Val, Val), tie: BinOp) -> Val {
    let (nan, less) = (is_nan(c, a), c.bin(BinOp::FLt, x, y));
    let other = c.bin(BinOp::LOr, nan, less);
    let extreme = c.select(other, b, a);
    // Equal numbers have the same bits, but for the sign of zeros.
    let (a_bits, b_bits) = (c.un(UnOp::BitsOf, a), c.un(UnOp::BitsOf, b));
    let either = c.bin(tie, a_bits, b_bits);
    let (equal, either) = (c.bin(BinOp::FEq, a, b), c.un(UnOp::OfBits, either));
    c.select(equal, either, extreme)
}

/// The remainder of a division towards zero, exact: long division of the significands, a few bits at a time.
fn remainder(c: &mut Code, a: Val, b: Val) -> Val {
    let float = c.ty(a);
    let f = Format::of(float);
    // Significands and the partial remainder live in 64 bits; `step` new bits fit beside a remainder.
    let (fraction, step) = (u64::from(f.fraction), u64::from(63 - f.fraction));
    let widen = |c: &mut Code, v: Val| if f.bits == Ty::B32 { c.un(UnOp::ZeroExtend, v) } else { v };
    let (ua, ub) = (c.magnitude(a), c.magnitude(b));
    let (ua, ub) = (widen(c, ua), widen(c, ub));
    let k = |c: &mut Code, bits: u64| c.constant(Ty::B64, bits);
    let (zero, one, place, mask) = (k(c, 0), k(c, 1), k(c, fraction), k(c, (1 << fraction) - 1));
    let hidden = k(c, 1 << fraction);
    let parts = |c: &mut Code, u: Val| {
        let exponent = c.bin(BinOp::ShrU, u, place);
        let tiny = c.bin(BinOp::Eq, exponent, zero);
        let significand = c.bin(BinOp::And, u, mask);
        let full = c.bin(BinOp::Or, significand, hidden);
        (c.select(tiny, one, exponent), c.select(tiny, significand, full))
    };
    let ((ea, ma), (eb, mb)) = (parts(c, ua), parts(c, ub));
    let infinity = k(c, f.infinity);
    let a_odd = c.bin(BinOp::Ule, infinity, ua);
    let b_nan = c.bin(BinOp::Ult, infinity, ub);
    let b_zero = c.bin(BinOp::Eq, ub, zero);
    let invalid = c.bin(BinOp::LOr, a_odd, b_nan);
    let invalid = c.bin(BinOp::LOr, invalid, b_zero);
    let below = c.bin(BinOp::Ult, ua, ub);
    let trivial = c.bin(BinOp::LOr, invalid, below);
    let distance = c.bin(BinOp::Sub, ea, eb);
    let distance = c.select(trivial, zero, distance);
    let divisor = c.select(trivial, one, mb);
    let first = c.bin(BinOp::URem, ma, divisor);
    let [rest, left] = [c.cell(Ty::B64), c.cell(Ty::B64)];
    c.set(rest, first);
    c.set(left, distance);
    let step = k(c, step);
    c.while_(
        |c| {
            let left = c.get(left);
            c.bin(BinOp::Ne, left, zero)
        },
        |c| {
            let (remaining, r) = (c.get(left), c.get(rest));
            let fewer = c.bin(BinOp::Ult, remaining, step);
            let now = c.select(fewer, remaining, step);
            let shifted = c.bin(BinOp::Shl, r, now);
            let r = c.bin(BinOp::URem, shifted, divisor);
            let remaining = c.bin(BinOp::Sub, remaining, now);
            c.set(rest, r);
            c.set(left, remaining);
        },
    );
    // The remainder counts units of the divisor's last place: move its highest bit up to where it belongs.
    let r = c.get(rest);
    let none = c.bin(BinOp::Eq, r, zero);
    let safe = c.select(none, one, r);
    let high = highest_bit(c, safe);
    let up = c.bin(BinOp::Sub, place, high);
    let normal = c.bin(BinOp::Ult, up, eb);
    let lower = c.bin(BinOp::Sub, eb, one);
    let shift = c.select(normal, up, lower);
    let moved = c.bin(BinOp::Shl, r, shift);
    let exponent = c.bin(BinOp::Sub, eb, up);
    let exponent = c.bin(BinOp::Shl, exponent, place);
    let significand = c.bin(BinOp::And, moved, mask);
    let full = c.bin(BinOp::Or, exponent, significand);
    let bits = c.select(normal, full, moved);
    let bits = c.select(none, zero, bits);
    let bits = if f.bits == Ty::B32 { c.un(UnOp::Narrow, bits) } else { bits };
    let value = c.un(UnOp::OfBits, bits);
    let value = copy_sign(c, value, a);
    let value = c.select(below, a, value);
    let nan = c.float(float, f64::NAN);
    c.select(invalid, nan, value)
}

/// Position of the highest set bit of a `B64` that is not 0.
pub fn highest_bit(c: &mut Code, v: Val) -> Val {
    let (half, one) = (c.constant(Ty::B64, 32), c.constant(Ty::B32, 1));
    let high = c.bin(BinOp::ShrU, v, half);
    let high = c.un(UnOp::Narrow, high);
    let low = c.un(UnOp::Narrow, v);
    let zero = c.constant(Ty::B32, 0);
    let upper = c.bin(BinOp::Ne, high, zero);
    let part = c.select(upper, high, low);
    let empty = c.bin(BinOp::Eq, part, zero);
    let part = c.select(empty, one, part);
    let at = c.un(UnOp::HighBit, part);
    let at = c.un(UnOp::ZeroExtend, at);
    let above = c.bin(BinOp::Add, at, half);
    c.select(upper, above, at)
}

/// `a * b + d`, rounded once. Through doubles; a device has no fused operation that can be relied on.
pub fn fma(c: &mut Code, ty: ElemType, a: Val, b: Val, d: Val) -> Result<Val, String> {
    if ty == ElemType::F64 {
        return Err("`fma` on f64 is not available on the Vulkan back end".into());
    }
    let [a, b, d] = [a, b, d].map(|v| c.un(UnOp::Float(Ty::F64), v));
    let product = c.bin(BinOp::FMul, a, b);
    let sum = c.bin(BinOp::FAdd, product, d);
    if ty == ElemType::F16 {
        let single = super::half::single_rounded_to_odd(c, sum);
        return Ok(super::half::round(c, single));
    }
    // The product is exact. The sum is made odd if it is not: rounding it again then cannot go wrong.
    let back = c.bin(BinOp::FSub, sum, product);
    let left = c.bin(BinOp::FSub, sum, back);
    let first = c.bin(BinOp::FSub, product, left);
    let second = c.bin(BinOp::FSub, d, back);
    let error = c.bin(BinOp::FAdd, first, second);
    let zero = c.f64(0.0);
    let exact = c.bin(BinOp::FEq, error, zero);
    let odd_sum = is_not_finite(c, sum);
    let error_nan = is_nan(c, error);
    let exact = c.bin(BinOp::LOr, exact, odd_sum);
    let exact = c.bin(BinOp::LOr, exact, error_nan);
    let bits = c.un(UnOp::BitsOf, sum);
    let (one, none) = (c.constant(Ty::B64, 1), c.constant(Ty::B64, 0));
    let low = c.bin(BinOp::And, bits, one);
    let even = c.bin(BinOp::Eq, low, none);
    let inexact = c.un(UnOp::Not, exact);
    let adjust = c.bin(BinOp::LAnd, inexact, even);
    // One unit away from zero if the error has the sum's sign, else one unit towards it.
    let error_down = c.bin(BinOp::FLt, error, zero);
    let sum_down = c.bin(BinOp::FLt, sum, zero);
    let towards = c.bin(BinOp::LXor, error_down, sum_down);
    let (up, down) = (c.bin(BinOp::Add, bits, one), c.bin(BinOp::Sub, bits, one));
    let other = c.select(towards, down, up);
    let bits = c.select(adjust, other, bits);
    let odd = c.un(UnOp::OfBits, bits);
    Ok(c.un(UnOp::Float(Ty::F32), odd))
}
