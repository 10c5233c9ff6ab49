//! Scalars in registers, and every scalar operation on them.
//!
//! A scalar of type `t` lives in a value of type [`reg`]`(t)`, in one form only: 8- and 16-bit integers sign- or
//! zero-extended to 32 bits, halves as the single of the same value. Each operation keeps that form and gives the
//! bits `galopvm_base::scalar::eval` gives (within a few units in the last place for library functions).

use super::{float, half, integer, math};
use crate::shader::{BinOp, Binding, Cell, Code, Ty, UnOp, Val};
use galopvm_base::{ElemType, Scalar, ScalarOp};

/// The register type of an element type.
pub fn reg(ty: ElemType) -> Ty {
    match ty {
        ElemType::Bool => Ty::Bool,
        ElemType::I64 | ElemType::U64 => Ty::B64,
        ElemType::F16 | ElemType::F32 => Ty::F32,
        ElemType::F64 => Ty::F64,
        _ => Ty::B32,
    }
}

/// How a kernel reports that it trapped. Traps gather in a cell of the invocation, which loops ask, and which is
/// reported once at the end: devices that run invocations in lock step pay for every report in the code.
#[derive(Clone, Copy, Debug)]
pub struct Trap {
    /// The buffer whose first bit says so to the host.
    pub flag: Binding,
    /// The cell.
    pub cell: Cell,
}

impl Trap {
    /// Traps where `bad` is true. The invocation goes on; its results will not be looked at.
    pub fn when(self, c: &mut Code, bad: Val) {
        if c.as_const(bad) == Some(0) {
            return;
        }
        c.may_trap = true;
        let before = c.get(self.cell);
        let now = c.bin(BinOp::LOr, before, bad);
        c.set(self.cell, now);
    }

    /// Reports to the host, at the end of the shader. A loop that a driver ended and a number that it does not keep are told like traps:
    /// somebody else has to compute that.
    pub fn report(self, c: &mut Code) {
        for failed in [c.ended_early(), c.has_lost()].into_iter().flatten() {
            self.when(c, failed);
        }
        if c.may_trap {
            let trapped = c.get(self.cell);
            c.when(trapped, |c| c.raise(self.flag));
        }
    }
}

/// A constant.
pub fn constant(c: &mut Code, scalar: Scalar) -> Val {
    let bits = match scalar.ty {
        ty if ty.is_signed() => scalar.as_i64() as u64,
        ElemType::F16 => u64::from((scalar.as_f64() as f32).to_bits()),
        _ => scalar.bits,
    };
    let value = c.constant(reg(scalar.ty), bits);
    c.admit(value);
    value
}

/// From the bits a buffer holds (as loaded, zero-extended) to the register form.
pub fn from_bits(c: &mut Code, ty: ElemType, bits: Val) -> Val {
    match ty {
        ElemType::Bool => {
            let zero = c.constant(c.ty(bits), 0);
            c.bin(BinOp::Ne, bits, zero)
        }
        ElemType::I8 | ElemType::I16 => integer::wrap(c, ty, bits),
        ElemType::F16 => half::widen(c, bits),
        ElemType::F32 | ElemType::F64 => {
            let value = c.un(UnOp::OfBits, bits);
            c.admit(value);
            value
        }
        _ => bits,
    }
}

/// From the register form to the bits a buffer holds; bits above the element's width are not defined.
pub fn to_bits(c: &mut Code, ty: ElemType, val: Val) -> Val {
    match ty {
        ElemType::Bool => {
            let (one, zero) = (c.constant(Ty::B32, 1), c.constant(Ty::B32, 0));
            c.select(val, one, zero)
        }
        ElemType::F16 => half::narrow(c, val),
        ElemType::F32 | ElemType::F64 => c.un(UnOp::BitsOf, val),
        _ => val,
    }
}

/// Applies an operation that works on type `ty`. The error says what the back end lacks.
pub fn apply(c: &mut Code, op: ScalarOp, ty: ElemType, args: &[Val], trap: Trap) -> Result<Val, String> {
    match (op, ty, args) {
        _ if !op.accepts(ty) || args.len() != op.arity() => Err(format!("`{op}` does not exist on {ty}")),
        (ScalarOp::Select, _, [cond, a, b]) => Ok(c.select(*cond, *a, *b)),
        (_, ElemType::Bool, [a]) => Ok(c.un(UnOp::Not, *a)),
        (_, ElemType::Bool, [a, b]) => truth(c, op, *a, *b),
        (_, ty, [a]) if ty.is_int() => integer::unary(c, op, ty, *a),
        (_, ty, [a, b]) if ty.is_int() => integer::binary(c, op, ty, *a, *b, trap),
        _ => {
            let value = match args {
                [a] => match math::unary(c, op, ty, *a, trap) {
                    Some(value) => value,
                    None => float::unary(c, op, ty, *a)?,
                },
                [a, b] => match math::binary(c, op, ty, *a, *b, trap) {
                    Some(value) => value,
                    None => float::binary(c, op, ty, *a, *b)?,
                },
                [a, b, d] => return float::fma(c, ty, *a, *b, *d),
                _ => return Err(format!("`{op}` has {} operands", args.len())),
            };
            let rounds = ty == ElemType::F16 && op.result_type(ty) == ty;
            let value = if rounds { half::round(c, value) } else { value };
            c.admit(value);
            Ok(value)
        }
    }
}

fn truth(c: &mut Code, op: ScalarOp, a: Val, b: Val) -> Result<Val, String> {
    let (not_a, not_b) = (c.un(UnOp::Not, a), c.un(UnOp::Not, b));
    Ok(match op {
        ScalarOp::And | ScalarOp::Min => c.bin(BinOp::LAnd, a, b),
        ScalarOp::Or | ScalarOp::Max => c.bin(BinOp::LOr, a, b),
        ScalarOp::Xor | ScalarOp::Ne => c.bin(BinOp::LXor, a, b),
        ScalarOp::Eq => c.bin(BinOp::LXor, a, not_b),
        ScalarOp::Lt => c.bin(BinOp::LAnd, not_a, b),
        ScalarOp::Le => c.bin(BinOp::LOr, not_a, b),
        ScalarOp::Gt => c.bin(BinOp::LAnd, a, not_b),
        ScalarOp::Ge => c.bin(BinOp::LOr, a, not_b),
        _ => return Err(format!("`{op}` on bool is not lowered")),
    })
}
