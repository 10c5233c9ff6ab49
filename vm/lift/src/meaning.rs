//! What instructions mean whatever their region is for: scalars, and the places of ranges and of counted rows.

use galopvm_base::{ElemType, ScalarOp};
use galopvm_bytecode::{Instr, Operand, RegId, not_on_scalars};
use galopvm_kir::Exp;
use galopvm_kir::algebra::{self, add, int, sub};

/// A scalar that an instruction computes.
pub(crate) struct Scalar {
    pub dst: RegId,
    pub elem: ElemType,
    pub exp: Exp,
}

/// What an instruction computes of scalars alone, with the values of its operands; nothing if it is another kind of
/// instruction.
pub(crate) fn scalar<E>(
    instr: &Instr,
    value: &mut dyn FnMut(Operand) -> Result<Exp, E>,
) -> Result<Option<Scalar>, E> {
    let (dst, op, ty, args) = match instr {
        Instr::Const { dst, value } => {
            return Ok(Some(Scalar { dst: dst.0, elem: value.ty, exp: Exp::Const(*value) }));
        }
        Instr::Convert { dst, from, to, a } => {
            let exp = algebra::convert(*from, *to, value(*a)?);
            return Ok(Some(Scalar { dst: dst.0, elem: *to, exp }));
        }
        Instr::Op1 { dst, op, ty, a } => (dst, *op, *ty, vec![value(*a)?]),
        Instr::Op2 { dst, op, ty, a, b } => (dst, *op, *ty, vec![value(*a)?, value(*b)?]),
        Instr::Op3 { dst, op, ty, a, b, c } => (dst, *op, *ty, vec![value(*a)?, value(*b)?, value(*c)?]),
        not_on_scalars!() => return Ok(None),
    };
    Ok(Some(Scalar { dst: dst.0, elem: op.result_type(ty), exp: algebra::op(op, ty, args) }))
}

/// An element of `iota`.
pub(crate) fn counted(ty: ElemType, index: Exp, start: &Exp, step: &Exp) -> Exp {
    let far = algebra::op(ScalarOp::Mul, ty, vec![algebra::convert(ElemType::I64, ty, index), step.clone()]);
    algebra::op(ScalarOp::Add, ty, vec![far, start.clone()])
}

/// `start:end:step` of a dimension, for a step that is a number.
pub(crate) struct Range {
    pub first: Exp,
    /// The indices lie from here ..
    pub low: Exp,
    /// .. up to here, not included, whatever the direction.
    pub high: Exp,
    pub step: i64,
}

impl Range {
    pub fn new(extent: &Exp, start: Option<Exp>, end: Option<Exp>, step: i64) -> Range {
        let one = || Exp::int(1);
        if step >= 0 {
            let first = start.unwrap_or(Exp::int(0));
            return Range { low: first.clone(), first, high: end.unwrap_or(extent.clone()), step };
        }
        let first = start.unwrap_or_else(|| sub(extent.clone(), one()));
        let low = add(end.unwrap_or(Exp::int(-1)), one());
        Range { high: add(first.clone(), one()), first, low, step }
    }

    /// How many indices there are in so many places.
    pub fn count(&self, length: Exp) -> Exp {
        match self.step.checked_abs() {
            Some(step) if step > 1 => int(ScalarOp::Div, add(length, Exp::int(step - 1)), Exp::int(step)),
            _ => length,
        }
    }
}
