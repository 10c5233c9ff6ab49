//! Integer operations in shaders: wrapping, floor division, any shift count.

use super::scalar::{Trap, reg};
use crate::shader::{BinOp, Code, Ty, UnOp, Val};
use galopvm_base::{ElemType, ScalarOp};

/// Brings the low bits of a `B32` into the register form of an 8- or 16-bit type; wider types are in it already.
pub fn wrap(c: &mut Code, ty: ElemType, val: Val) -> Val {
    match ty {
        ElemType::I8 | ElemType::I16 => {
            let spare = c.constant(Ty::B32, u64::from(32 - ty.bits()));
            let up = c.bin(BinOp::Shl, val, spare);
            c.bin(BinOp::ShrS, up, spare)
        }
        ElemType::U8 | ElemType::U16 => unsigned(c, ty, val),
        _ => val,
    }
}

/// A `B32` sign-extended to `B64`.
///
/// Shifted up and down instead of by a signed conversion: Mesa (seen in lavapipe 22.3) takes the order of such a
/// conversion and a constant that a `B32` holds, `i64(x) < 127`, to be the same for every `x`, whatever they are.
/// Compilers for hardware see one operation in the pair.
pub fn sign_extend(c: &mut Code, a: Val) -> Val {
    if let Some(bits) = c.as_const(a) {
        return c.constant(Ty::B64, i64::from(bits as u32 as i32) as u64);
    }
    let half = c.constant(Ty::B64, 32);
    let wide = c.un(UnOp::ZeroExtend, a);
    let up = c.bin(BinOp::Shl, wide, half);
    c.bin(BinOp::ShrS, up, half)
}

/// The value with the bits above the type's width cleared.
fn unsigned(c: &mut Code, ty: ElemType, val: Val) -> Val {
    if ty.bits() >= 32 {
        return val;
    }
    let mask = c.constant(Ty::B32, ty.mask());
    c.bin(BinOp::And, val, mask)
}

fn less(ty: ElemType) -> BinOp {
    if ty.is_signed() { BinOp::Slt } else { BinOp::Ult }
}

fn less_equal(ty: ElemType) -> BinOp {
    if ty.is_signed() { BinOp::Sle } else { BinOp::Ule }
}

/// A unary operation.
pub fn unary(c: &mut Code, op: ScalarOp, ty: ElemType, a: Val) -> Result<Val, String> {
    let r = reg(ty);
    let zero = c.constant(r, 0);
    let value = match op {
        ScalarOp::Neg => c.bin(BinOp::Sub, zero, a),
        ScalarOp::Not => c.un(UnOp::Flip, a),
        ScalarOp::Abs if ty.is_signed() => {
            let negative = c.bin(BinOp::Slt, a, zero);
            let negated = c.bin(BinOp::Sub, zero, a);
            c.select(negative, negated, a)
        }
        ScalarOp::Abs => a,
        ScalarOp::Sgn => {
            let (one, minus) = (c.constant(r, 1), c.constant(r, u64::MAX));
            let above = c.bin(less(ty), zero, a);
            let below = c.bin(less(ty), a, zero);
            let other = c.select(below, minus, zero);
            return Ok(c.select(above, one, other));
        }
        ScalarOp::Popc => {
            let bits = unsigned(c, ty, a);
            return Ok(match halves(c, bits) {
                Some((low, high)) => {
                    let (low, high) = (c.un(UnOp::BitCount, low), c.un(UnOp::BitCount, high));
                    c.bin(BinOp::Add, low, high)
                }
                None => c.un(UnOp::BitCount, bits),
            });
        }
        ScalarOp::Clz => {
            let bits = unsigned(c, ty, a);
            return Ok(match halves(c, bits) {
                Some((low, high)) => {
                    let (below, above) = (leading(c, 64, low), leading(c, 32, high));
                    either(c, high, above, below)
                }
                None => leading(c, ty.bits(), bits),
            });
        }
        ScalarOp::Ctz => {
            let bits = unsigned(c, ty, a);
            return Ok(match halves(c, bits) {
                Some((low, high)) => {
                    let thirty_two = c.constant(Ty::B32, 32);
                    let (below, above) = (trailing(c, 32, low), trailing(c, 32, high));
                    let above = c.bin(BinOp::Add, above, thirty_two);
                    either(c, low, below, above)
                }
                None => trailing(c, ty.bits(), bits),
            });
        }
        _ => return Err(format!("`{op}` on {ty} is not lowered")),
    };
    Ok(wrap(c, ty, value))
}

/// The low and the high half of a `B64`.
fn halves(c: &mut Code, val: Val) -> Option<(Val, Val)> {
    if c.ty(val) != Ty::B64 {
        return None;
    }
    let shift = c.constant(Ty::B64, 32);
    let low = c.un(UnOp::Narrow, val);
    let high = c.bin(BinOp::ShrU, val, shift);
    Some((low, c.un(UnOp::Narrow, high)))
}

/// `a` where `test` is not 0, else `b`.
fn either(c: &mut Code, test: Val, a: Val, b: Val) -> Val {
    let zero = c.constant(Ty::B32, 0);
    let some = c.bin(BinOp::Ne, test, zero);
    c.select(some, a, b)
}

/// `width - 1 - highest bit` of a `B32`, `width` for 0.
fn leading(c: &mut Code, width: u32, bits: Val) -> Val {
    let (one, most, all) = (
        c.constant(Ty::B32, 1),
        c.constant(Ty::B32, u64::from(width - 1)),
        c.constant(Ty::B32, u64::from(width)),
    );
    let safe = either(c, bits, bits, one);
    let high = c.un(UnOp::HighBit, safe);
    let count = c.bin(BinOp::Sub, most, high);
    either(c, bits, count, all)
}

/// Lowest bit of a `B32`, `width` for 0.
fn trailing(c: &mut Code, width: u32, bits: Val) -> Val {
    let (one, all) = (c.constant(Ty::B32, 1), c.constant(Ty::B32, u64::from(width)));
    let safe = either(c, bits, bits, one);
    let low = c.un(UnOp::LowBit, safe);
    either(c, bits, low, all)
}

/// A binary operation.
pub fn binary(c: &mut Code, op: ScalarOp, ty: ElemType, a: Val, b: Val, trap: Trap) -> Result<Val, String> {
    let compared = match op {
        ScalarOp::Eq => Some((BinOp::Eq, a, b)),
        ScalarOp::Ne => Some((BinOp::Ne, a, b)),
        ScalarOp::Lt => Some((less(ty), a, b)),
        ScalarOp::Le => Some((less_equal(ty), a, b)),
        ScalarOp::Gt => Some((less(ty), b, a)),
        ScalarOp::Ge => Some((less_equal(ty), b, a)),
        _ => None,
    };
    if let Some((op, a, b)) = compared {
        return Ok(c.bin(op, a, b));
    }
    let value = match op {
        ScalarOp::Add => c.bin(BinOp::Add, a, b),
        ScalarOp::Sub => c.bin(BinOp::Sub, a, b),
        ScalarOp::Mul => c.bin(BinOp::Mul, a, b),
        ScalarOp::And => c.bin(BinOp::And, a, b),
        ScalarOp::Or => c.bin(BinOp::Or, a, b),
        ScalarOp::Xor => c.bin(BinOp::Xor, a, b),
        ScalarOp::Min => {
            let other = c.bin(less(ty), b, a);
            c.select(other, b, a)
        }
        ScalarOp::Max => {
            let other = c.bin(less(ty), a, b);
            c.select(other, b, a)
        }
        ScalarOp::Div | ScalarOp::Mod | ScalarOp::Quot | ScalarOp::Rem => divide(c, op, ty, a, b, trap),
        ScalarOp::Shl | ScalarOp::Shr | ScalarOp::Ushr => shift(c, op, ty, a, b),
        ScalarOp::Pow => power(c, ty, a, b),
        ScalarOp::MulHi => high_product(c, ty, a, b),
        _ => return Err(format!("`{op}` on {ty} is not lowered")),
    };
    Ok(wrap(c, ty, value))
}

fn divide(c: &mut Code, op: ScalarOp, ty: ElemType, a: Val, b: Val, trap: Trap) -> Val {
    let r = reg(ty);
    let (zero, one) = (c.constant(r, 0), c.constant(r, 1));
    let by_zero = c.bin(BinOp::Eq, b, zero);
    trap.when(c, by_zero);
    if !ty.is_signed() {
        let safe = c.select(by_zero, one, b);
        let wants_quotient = matches!(op, ScalarOp::Div | ScalarOp::Quot);
        return c.bin(if wants_quotient { BinOp::UDiv } else { BinOp::URem }, a, safe);
    }
    // The least value by -1 overflows in the hardware: the quotient by -1 is the negation, which wraps.
    let minus = c.constant(r, u64::MAX);
    let by_minus = c.bin(BinOp::Eq, b, minus);
    let odd = c.bin(BinOp::LOr, by_zero, by_minus);
    let safe = c.select(odd, one, b);
    let quotient = c.bin(BinOp::SDiv, a, safe);
    let negated = c.bin(BinOp::Sub, zero, a);
    let quotient = c.select(by_minus, negated, quotient);
    if op == ScalarOp::Quot {
        return quotient;
    }
    let product = c.bin(BinOp::Mul, quotient, b);
    let rest = c.bin(BinOp::Sub, a, product);
    if op == ScalarOp::Rem {
        return rest;
    }
    let some = c.bin(BinOp::Ne, rest, zero);
    let signs = c.bin(BinOp::Xor, rest, b);
    let differ = c.bin(BinOp::Slt, signs, zero);
    let down = c.bin(BinOp::LAnd, some, differ);
    let corrected =
        if op == ScalarOp::Div { c.bin(BinOp::Sub, quotient, one) } else { c.bin(BinOp::Add, rest, b) };
    c.select(down, corrected, if op == ScalarOp::Div { quotient } else { rest })
}

fn shift(c: &mut Code, op: ScalarOp, ty: ElemType, a: Val, count: Val) -> Val {
    let r = reg(ty);
    let (zero, width, most) =
        (c.constant(r, 0), c.constant(r, u64::from(ty.bits())), c.constant(r, u64::from(ty.bits() - 1)));
    let fits = c.bin(BinOp::Ult, count, width);
    let safe = c.select(fits, count, most);
    match op {
        ScalarOp::Shr if ty.is_signed() => c.bin(BinOp::ShrS, a, safe),
        ScalarOp::Shl => {
            let value = c.bin(BinOp::Shl, a, safe);
            c.select(fits, value, zero)
        }
        _ => {
            let bits = unsigned(c, ty, a);
            let value = c.bin(BinOp::ShrU, bits, safe);
            c.select(fits, value, zero)
        }
    }
}

/// Square and multiply, modulo 2^width of the register, hence also modulo 2^width of the type.
fn power(c: &mut Code, ty: ElemType, base: Val, exponent: Val) -> Val {
    let r = reg(ty);
    let (zero, one) = (c.constant(r, 0), c.constant(r, 1));
    let [result, square, left] = [c.cell(r), c.cell(r), c.cell(r)];
    let exponent = unsigned(c, ty, exponent);
    c.set(result, one);
    c.set(square, base);
    c.set(left, exponent);
    c.while_(
        |c| {
            let left = c.get(left);
            c.bin(BinOp::Ne, left, zero)
        },
        |c| {
            let (rest, factor, so_far) = (c.get(left), c.get(square), c.get(result));
            let low = c.bin(BinOp::And, rest, one);
            let odd = c.bin(BinOp::Ne, low, zero);
            let product = c.bin(BinOp::Mul, so_far, factor);
            let product = c.select(odd, product, so_far);
            let factor = c.bin(BinOp::Mul, factor, factor);
            let rest = c.bin(BinOp::ShrU, rest, one);
            c.set(result, product);
            c.set(square, factor);
            c.set(left, rest);
        },
    );
    c.get(result)
}

fn high_product(c: &mut Code, ty: ElemType, a: Val, b: Val) -> Val {
    let down = if ty.is_signed() { BinOp::ShrS } else { BinOp::ShrU };
    match ty.bits() {
        8 | 16 => {
            let product = c.bin(BinOp::Mul, a, b);
            let width = c.constant(Ty::B32, u64::from(ty.bits()));
            c.bin(down, product, width)
        }
        32 => {
            let [a, b] =
                [a, b].map(|v| if ty.is_signed() { sign_extend(c, v) } else { c.un(UnOp::ZeroExtend, v) });
            let product = c.bin(BinOp::Mul, a, b);
            let width = c.constant(Ty::B64, 32);
            let high = c.bin(down, product, width);
            c.un(UnOp::Narrow, high)
        }
        _ => {
            let high = high_product_64(c, a, b);
            if !ty.is_signed() {
                return high;
            }
            // A negative factor counts 2^64 too much.
            let zero = c.constant(Ty::B64, 0);
            let (a_low, b_low) = (c.bin(BinOp::Slt, a, zero), c.bin(BinOp::Slt, b, zero));
            let (less_b, less_a) = (c.select(a_low, b, zero), c.select(b_low, a, zero));
            let high = c.bin(BinOp::Sub, high, less_b);
            c.bin(BinOp::Sub, high, less_a)
        }
    }
}

/// The high half of an unsigned 64-bit product, by halves.
fn high_product_64(c: &mut Code, a: Val, b: Val) -> Val {
    let (mask, half) = (c.constant(Ty::B64, u64::from(u32::MAX)), c.constant(Ty::B64, 32));
    let (a0, a1) = (c.bin(BinOp::And, a, mask), c.bin(BinOp::ShrU, a, half));
    let (b0, b1) = (c.bin(BinOp::And, b, mask), c.bin(BinOp::ShrU, b, half));
    let p00 = c.bin(BinOp::Mul, a0, b0);
    let p10 = c.bin(BinOp::Mul, a1, b0);
    let p01 = c.bin(BinOp::Mul, a0, b1);
    let p11 = c.bin(BinOp::Mul, a1, b1);
    let carry = c.bin(BinOp::ShrU, p00, half);
    let middle = c.bin(BinOp::Add, p10, carry);
    let (low, high) = (c.bin(BinOp::And, middle, mask), c.bin(BinOp::ShrU, middle, half));
    let other = c.bin(BinOp::Add, p01, low);
    let other = c.bin(BinOp::ShrU, other, half);
    let sum = c.bin(BinOp::Add, p11, high);
    c.bin(BinOp::Add, sum, other)
}
