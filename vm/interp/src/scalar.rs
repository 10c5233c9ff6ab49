//! Scalar operations: short ways for the frequent ones, `galopvm_base::scalar::eval` (the meaning) for the others.

use galopvm_base::scalar::{ScalarTrap, eval2};
use galopvm_base::{Bits, ElemType, ScalarOp};

/// A binary operation.
#[inline]
pub(super) fn op2(op: ScalarOp, ty: ElemType, a: Bits, b: Bits) -> Result<Bits, ScalarTrap> {
    let quick = match ty {
        ElemType::I64 => integer(op, a as i64, b as i64, |x| x as u64),
        ElemType::I32 => integer(op, i64::from(a as i32), i64::from(b as i32), |x| u64::from(x as u32)),
        ElemType::F32 => {
            let (a, b) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
            let float = match op {
                ScalarOp::Add => a + b,
                ScalarOp::Sub => a - b,
                ScalarOp::Mul => a * b,
                ScalarOp::Div => a / b,
                _ => {
                    return compare(op, a, b)
                        .map_or_else(|| slow(op, ty, a.to_bits().into(), b.to_bits().into()), Ok);
                }
            };
            Some(u64::from(float.to_bits()))
        }
        ElemType::F64 => {
            let (a, b) = (f64::from_bits(a), f64::from_bits(b));
            let float = match op {
                ScalarOp::Add => a + b,
                ScalarOp::Sub => a - b,
                ScalarOp::Mul => a * b,
                ScalarOp::Div => a / b,
                _ => return compare(op, a, b).map_or_else(|| slow(op, ty, a.to_bits(), b.to_bits()), Ok),
            };
            Some(float.to_bits())
        }
        _ => None,
    };
    match quick {
        Some(bits) => Ok(bits),
        None => slow(op, ty, a, b),
    }
}

#[inline(never)]
fn slow(op: ScalarOp, ty: ElemType, a: Bits, b: Bits) -> Result<Bits, ScalarTrap> {
    eval2(op, ty, a, b)
}

/// On numbers widened to 64 bits: the low bits of wrapping sums and products do not depend on the width.
#[inline]
fn integer(op: ScalarOp, a: i64, b: i64, narrow: impl Fn(i64) -> Bits) -> Option<Bits> {
    let value = match op {
        ScalarOp::Add => a.wrapping_add(b),
        ScalarOp::Sub => a.wrapping_sub(b),
        ScalarOp::Mul => a.wrapping_mul(b),
        ScalarOp::Min => a.min(b),
        ScalarOp::Max => a.max(b),
        _ => return compare(op, a, b),
    };
    Some(narrow(value))
}

#[inline]
fn compare<T: PartialOrd>(op: ScalarOp, a: T, b: T) -> Option<Bits> {
    Some(u64::from(match op {
        ScalarOp::Lt => a < b,
        ScalarOp::Le => a <= b,
        ScalarOp::Eq => a == b,
        ScalarOp::Ne => a != b,
        ScalarOp::Gt => a > b,
        ScalarOp::Ge => a >= b,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_ways_mean_the_same() {
        let interesting: Vec<Bits> =
            [0, 1, 2, 7, 0x7f, 0x80, 0xffff_ffff, 0x8000_0000, 0x7fff_ffff, u64::MAX, 1 << 63]
                .into_iter()
                .chain([1.5f64, -0.0, f64::NAN, f64::INFINITY].map(f64::to_bits))
                .chain([1.5f32, -0.0, f32::NAN, f32::NEG_INFINITY].map(|x| u64::from(x.to_bits())))
                .collect();
        for ty in ElemType::ALL {
            for op in ScalarOp::ALL.iter().copied().filter(|op| op.arity() == 2 && op.accepts(ty)) {
                for a in &interesting {
                    for b in &interesting {
                        let (a, b) = (a & ty.mask(), b & ty.mask());
                        let (quick, meaning) = (op2(op, ty, a, b), eval2(op, ty, a, b));
                        let is_nan = |r: Result<Bits, ScalarTrap>| {
                            let ty = op.result_type(ty);
                            ty.is_float()
                                && r.is_ok_and(|bits| galopvm_base::Scalar::new(ty, bits).as_f64().is_nan())
                        };
                        assert!(
                            quick == meaning || is_nan(quick) && is_nan(meaning),
                            "{op} {ty} {a:#x} {b:#x}"
                        );
                    }
                }
            }
        }
    }
}
