//! Halves in shaders, by integer arithmetic: devices round and flush halves as they like, this does not.

use crate::shader::{BinOp, Code, Ty, UnOp, Val};

fn k(c: &mut Code, bits: u32) -> Val {
    c.constant(Ty::B32, u64::from(bits))
}

/// The single of the same value as the half whose bits a `B32` holds.
pub fn widen(c: &mut Code, bits: Val) -> Val {
    let (sign_mask, rest_mask) = (k(c, 0x8000), k(c, 0x7fff));
    let (sixteen, thirteen) = (k(c, 16), k(c, 13));
    let sign = c.bin(BinOp::And, bits, sign_mask);
    let sign = c.bin(BinOp::Shl, sign, sixteen);
    let rest = c.bin(BinOp::And, bits, rest_mask);
    let moved = c.bin(BinOp::Shl, rest, thirteen);
    let rebias = k(c, 112 << 23);
    let normal = c.bin(BinOp::Add, moved, rebias);
    // Infinities and NaNs: the exponent is rebiased a second time.
    let infinity = k(c, 0x7c00);
    let special = c.bin(BinOp::Ule, infinity, rest);
    let odd = c.bin(BinOp::Add, normal, rebias);
    let normal = c.select(special, odd, normal);
    // Subnormals: an integer count of 2^-24.
    let least_normal = k(c, 0x0400);
    let tiny = c.bin(BinOp::Ult, rest, least_normal);
    let count = c.un(UnOp::FromUnsigned(Ty::F32), rest);
    let unit = c.f32(2f32.powi(-24));
    let value = c.bin(BinOp::FMul, count, unit);
    let subnormal = c.un(UnOp::BitsOf, value);
    let magnitude = c.select(tiny, subnormal, normal);
    let all = c.bin(BinOp::Or, magnitude, sign);
    c.un(UnOp::OfBits, all)
}

/// The bits of the half nearest to a single, ties to even.
pub fn narrow(c: &mut Code, single: Val) -> Val {
    let x = c.un(UnOp::BitsOf, single);
    let (sign_mask, rest_mask, sixteen) = (k(c, 0x8000), k(c, 0x7fff_ffff), k(c, 16));
    let sign = c.bin(BinOp::ShrU, x, sixteen);
    let sign = c.bin(BinOp::And, sign, sign_mask);
    let u = c.bin(BinOp::And, x, rest_mask);
    let (one, zero) = (k(c, 1), k(c, 0));
    // Normal: rebias, then drop 13 bits.
    let (rebias, thirteen, below_half) = (k(c, 112 << 23), k(c, 13), k(c, 0xfff));
    let v = c.bin(BinOp::Sub, u, rebias);
    let low = c.bin(BinOp::ShrU, v, thirteen);
    let low = c.bin(BinOp::And, low, one);
    let up = c.bin(BinOp::Add, v, below_half);
    let up = c.bin(BinOp::Add, up, low);
    let normal = c.bin(BinOp::ShrU, up, thirteen);
    // Subnormal: a count of 2^-24, from the significand shifted by 126 minus the exponent. Below 2^-26 the shift
    // is held at 25, where everything rounds to 0.
    let (twenty_three, most, hidden, significand) = (k(c, 23), k(c, 126), k(c, 1 << 23), k(c, 0x7f_ffff));
    let exponent = c.bin(BinOp::ShrU, u, twenty_three);
    let shift = c.bin(BinOp::Sub, most, exponent);
    let limit = k(c, 25);
    let small = c.bin(BinOp::Ult, shift, limit);
    let shift = c.select(small, shift, limit);
    let m = c.bin(BinOp::And, u, significand);
    let m = c.bin(BinOp::Or, m, hidden);
    let count = c.bin(BinOp::ShrU, m, shift);
    let unit = c.bin(BinOp::Shl, one, shift);
    let rest = c.bin(BinOp::Sub, unit, one);
    let rest = c.bin(BinOp::And, m, rest);
    let half = c.bin(BinOp::ShrU, unit, one);
    let above = c.bin(BinOp::Ult, half, rest);
    let tie = c.bin(BinOp::Eq, half, rest);
    let parity = c.bin(BinOp::And, count, one);
    let odd = c.bin(BinOp::Ne, parity, zero);
    let tie = c.bin(BinOp::LAnd, tie, odd);
    let rounds = c.bin(BinOp::LOr, above, tie);
    let more = c.bin(BinOp::Add, count, one);
    let subnormal = c.select(rounds, more, count);
    let least_normal = k(c, 113 << 23);
    let tiny = c.bin(BinOp::Ult, u, least_normal);
    let magnitude = c.select(tiny, subnormal, normal);
    // 65520 and more round to infinity; NaN stays NaN.
    let (large, infinity, single_infinity, nan) =
        (k(c, 0x477f_f000), k(c, 0x7c00), k(c, 0x7f80_0000), k(c, 0x7e00));
    let over = c.bin(BinOp::Ule, large, u);
    let magnitude = c.select(over, infinity, magnitude);
    let is_nan = c.bin(BinOp::Ult, single_infinity, u);
    let magnitude = c.select(is_nan, nan, magnitude);
    c.bin(BinOp::Or, magnitude, sign)
}

/// The half nearest to a single, as a single.
pub fn round(c: &mut Code, single: Val) -> Val {
    let bits = narrow(c, single);
    widen(c, bits)
}

/// A double to a single for a later rounding to half: rounded to odd, so that rounding twice cannot differ from
/// rounding once.
pub fn single_rounded_to_odd(c: &mut Code, double: Val) -> Val {
    let single = c.un(UnOp::Float(Ty::F32), double);
    let back = c.un(UnOp::Float(Ty::F64), single);
    let exact = c.bin(BinOp::FEq, back, double);
    let bits = c.un(UnOp::BitsOf, single);
    let (one, zero) = (k(c, 1), k(c, 0));
    let low = c.bin(BinOp::And, bits, one);
    let even = c.bin(BinOp::Eq, low, zero);
    let (back, double) = (c.un(UnOp::FAbs, back), c.un(UnOp::FAbs, double));
    let too_small = c.bin(BinOp::FLt, back, double);
    let too_large = c.bin(BinOp::FLt, double, back);
    let up = c.bin(BinOp::Add, bits, one);
    let down = c.bin(BinOp::Sub, bits, one);
    let other = c.select(too_large, down, bits);
    let other = c.select(too_small, up, other);
    let inexact = c.un(UnOp::Not, exact);
    let adjust = c.bin(BinOp::LAnd, inexact, even);
    let bits = c.select(adjust, other, bits);
    c.un(UnOp::OfBits, bits)
}
