//! Conversions between element types in shaders, as `galopvm_base::scalar::convert` defines them.

use super::scalar::reg;
use super::{float, half, integer};
use crate::shader::{BinOp, Code, Ty, UnOp, Val};
use galopvm_base::ElemType;

/// Converts a scalar in register form.
pub fn convert(c: &mut Code, from: ElemType, to: ElemType, a: Val) -> Val {
    match (from, to) {
        _ if from == to => a,
        (ElemType::Bool, _) => {
            let (one, zero) = if to.is_float() {
                (c.float(reg(to), 1.0), c.float(reg(to), 0.0))
            } else {
                (c.constant(reg(to), 1), c.constant(reg(to), 0))
            };
            c.select(a, one, zero)
        }
        (_, ElemType::Bool) if from.is_float() => {
            let zero = c.float(reg(from), 0.0);
            let same = c.bin(BinOp::FEq, a, zero);
            c.un(UnOp::Not, same)
        }
        (_, ElemType::Bool) => {
            let zero = c.constant(reg(from), 0);
            c.bin(BinOp::Ne, a, zero)
        }
        _ if from.is_int() && to.is_int() => resize(c, from, to, a),
        _ if from.is_int() && to == ElemType::F16 => to_half(c, from, a),
        _ if from.is_signed() => c.un(UnOp::FromSigned(reg(to)), a),
        _ if from.is_int() => c.un(UnOp::FromUnsigned(reg(to)), a),
        (_, ElemType::F16) => {
            let single = if from == ElemType::F64 { half::single_rounded_to_odd(c, a) } else { a };
            half::round(c, single)
        }
        _ if to.is_float() && reg(from) == reg(to) => a,
        _ if to.is_float() => c.un(UnOp::Float(reg(to)), a),
        _ => to_int(c, to, a),
    }
}

fn resize(c: &mut Code, from: ElemType, to: ElemType, a: Val) -> Val {
    let value = match (reg(from), reg(to)) {
        (Ty::B32, Ty::B64) if from.is_signed() => integer::sign_extend(c, a),
        (Ty::B32, Ty::B64) => c.un(UnOp::ZeroExtend, a),
        (Ty::B64, Ty::B32) => c.un(UnOp::Narrow, a),
        _ => a,
    };
    integer::wrap(c, to, value)
}

/// An integer to a half: beyond 70000 everything is infinite, below a single holds it exactly.
fn to_half(c: &mut Code, from: ElemType, a: Val) -> Val {
    let r = reg(from);
    let most = c.constant(r, 70000);
    let (less, below) = if from.is_signed() { (BinOp::Slt, -70000i64 as u64) } else { (BinOp::Ult, 0) };
    let least = c.constant(r, below);
    let value = if from.bits() < 32 {
        a
    } else {
        let over = c.bin(less, most, a);
        let value = c.select(over, most, a);
        let under = c.bin(less, value, least);
        c.select(under, least, value)
    };
    let value = if r == Ty::B64 { c.un(UnOp::Narrow, value) } else { value };
    // Held to 70000, even an unsigned value is a signed one.
    let single = c.un(UnOp::FromSigned(Ty::F32), value);
    half::round(c, single)
}

/// A float to an integer: towards zero, saturating, 0 for infinities and NaN.
fn to_int(c: &mut Code, to: ElemType, a: Val) -> Val {
    let (float_ty, r) = (c.ty(a), reg(to));
    let width = to.bits() as i32;
    let (top, bottom, greatest, least) = if to.is_signed() {
        (2f64.powi(width - 1), -(2f64.powi(width - 1)), to.mask() >> 1, !(to.mask() >> 1))
    } else {
        (2f64.powi(width), 0.0, to.mask(), 0)
    };
    let (top, bottom, nothing) = (c.float(float_ty, top), c.float(float_ty, bottom), c.float(float_ty, 0.0));
    let (greatest, least, zero) = (c.constant(r, greatest), c.constant(r, least), c.constant(r, 0));
    let odd = float::is_not_finite(c, a);
    let over = c.bin(BinOp::FLe, top, a);
    let under = c.bin(BinOp::FLe, a, bottom);
    let outside = c.bin(BinOp::LOr, over, under);
    let outside = c.bin(BinOp::LOr, outside, odd);
    let safe = c.select(outside, nothing, a);
    let value = if to.is_signed() { c.un(UnOp::ToSigned(r), safe) } else { c.un(UnOp::ToUnsigned(r), safe) };
    let value = c.select(over, greatest, value);
    let value = c.select(under, least, value);
    c.select(odd, zero, value)
}
