//! Scalar operations that have no instruction of their own: one function for each operation and type.

use galopvm_base::scalar::{Native, ScalarTrap, convert_inlined, eval3, operation};
use galopvm_base::{Bits, ElemType, ScalarOp, typed_conversion, typed_function};
use half::f16;

/// A unary operation, or a conversion.
pub(crate) type Function1 = fn(Bits) -> Bits;
/// A binary operation.
pub(crate) type Function2 = fn(Bits, Bits) -> Result<Bits, ScalarTrap>;

#[allow(
    clippy::extra_unused_type_parameters,
    reason = "all functions that are chosen by the table have the same ones"
)]
fn one<T: Native, O, const OP: u8>(a: Bits) -> Bits {
    T::unary(const { operation(OP) }, T::of_bits(a))
}

#[allow(
    clippy::extra_unused_type_parameters,
    reason = "all functions that are chosen by the table have the same ones"
)]
fn two<T: Native, O, const OP: u8>(a: Bits, b: Bits) -> Result<Bits, ScalarTrap> {
    T::binary(const { operation(OP) }, T::of_bits(a), T::of_bits(b))
}

fn converted<T: Native, O: Native>(a: Bits) -> Bits {
    convert_inlined(T::TYPE, O::TYPE, a)
}

/// The function of a unary operation.
pub(crate) fn unary(op: ScalarOp, ty: ElemType) -> Option<Function1> {
    typed_function!(1 one op ty)
}

/// The function of a binary operation.
pub(crate) fn binary(op: ScalarOp, ty: ElemType) -> Option<Function2> {
    typed_function!(2 two op ty)
}

/// The function of a conversion.
pub(crate) fn conversion(from: ElemType, to: ElemType) -> Function1 {
    typed_conversion!(converted from to)
}

/// A ternary operation that has no instruction of its own.
pub(crate) fn ternary(op: ScalarOp, ty: ElemType, a: Bits, b: Bits, c: Bits) -> Bits {
    eval3(op, ty, a, b, c)
}
