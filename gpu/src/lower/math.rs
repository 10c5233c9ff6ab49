//! Library functions in shaders.

use crate::shader::{Code, Val};
use galopvm_base::{ElemType, ScalarOp};

/// A library function of one operand, if there is one for this type.
pub fn unary(_c: &mut Code, _op: ScalarOp, _ty: ElemType, _a: Val) -> Option<Val> {
    None
}

/// A library function of two operands, if there is one for this type.
pub fn binary(_c: &mut Code, _op: ScalarOp, _ty: ElemType, _a: Val, _b: Val) -> Option<Val> {
    None
}
