//! Loops over columns for processors with wide vectors.
//!
//! They are the loops of `mod.rs`, compiled again with the instructions of AVX2 or AVX-512 allowed; nothing is fused, so
//! their results are the same bits. Most operations wait for memory, and have no such loops.
#![allow(unsafe_code)]

use super::{FoldStrands, Kernel1, Kernel2};
use galopvm_base::{ElemType, ScalarOp};

/// Whether an operation has loops of this kind: those that compute much for each element, and those for which every
/// x86-64 processor has no good instructions.
const fn gains(op: ScalarOp, ty: ElemType) -> bool {
    let float = matches!(ty, ElemType::F32 | ElemType::F64);
    let int = matches!(ty, ElemType::I32 | ElemType::I64 | ElemType::U32 | ElemType::U64);
    match op {
        ScalarOp::Min | ScalarOp::Max => float || int,
        ScalarOp::Eq | ScalarOp::Ne | ScalarOp::Lt | ScalarOp::Le | ScalarOp::Gt | ScalarOp::Ge => {
            float || int
        }
        ScalarOp::Mul | ScalarOp::Shl | ScalarOp::Shr | ScalarOp::Ushr => int,
        ScalarOp::Floor | ScalarOp::Ceil | ScalarOp::Trunc | ScalarOp::Round | ScalarOp::Sqrt => float,
        _ => float && !op.is_exact(ty),
    }
}

/// The loop of a unary operation, if there is one for this processor.
pub(super) fn unary(op: ScalarOp, ty: ElemType) -> Option<Kernel1> {
    #[cfg(target_arch = "x86_64")]
    if gains(op, ty) {
        return x86::unary(op, ty);
    }
    None
}

/// The loop of a binary operation, if there is one for this processor.
pub(super) fn binary(op: ScalarOp, ty: ElemType) -> Option<Kernel2> {
    #[cfg(target_arch = "x86_64")]
    if gains(op, ty) {
        return x86::binary(op, ty);
    }
    None
}

/// The loop that combines elements in strands, if there is one for this processor; the operation is one of those.
pub(super) fn fold_strands(op: ScalarOp, ty: ElemType) -> Option<FoldStrands> {
    #[cfg(target_arch = "x86_64")]
    return x86::fold_strands(op, ty);
    #[cfg(not(target_arch = "x86_64"))]
    None
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::gains;
    use crate::loops::{
        FoldStrands, Kernel1, Kernel2, Lane, STRANDS, folded_strands, map1, map2, mapped1, mapped2,
        stranded_function,
    };
    use galopvm_base::scalar::operation;
    use galopvm_base::{Bits, ElemType, ScalarOp, typed_function};
    use half::f16;

    /// Loops for a kind of processor: they are called only where `unary` and `binary` below have found it.
    macro_rules! loops {
        ($features:literal: $map1:ident $inner1:ident, $map2:ident $inner2:ident,
         $fold:ident $inner_fold:ident) => {
            #[target_feature(enable = $features)]
            fn $inner1<T: Lane, O: Lane, const OP: u8>(out: &mut [u8], a: &[u8]) {
                mapped1::<T, O, OP>(out, a);
            }

            fn $map1<T: Lane, O: Lane, const OP: u8>(out: &mut [u8], a: &[u8]) {
                if const { gains(operation(OP), T::TYPE) } {
                    // SAFETY: whoever handed this function out has found the features.
                    unsafe { $inner1::<T, O, OP>(out, a) }
                } else {
                    map1::<T, O, OP>(out, a);
                }
            }

            #[target_feature(enable = $features)]
            fn $inner2<T: Lane, O: Lane, const OP: u8>(out: &mut [u8], a: &[u8], b: &[u8]) -> bool {
                mapped2::<T, O, OP>(out, a, b)
            }

            fn $map2<T: Lane, O: Lane, const OP: u8>(out: &mut [u8], a: &[u8], b: &[u8]) -> bool {
                if const { gains(operation(OP), T::TYPE) } {
                    // SAFETY: whoever handed this function out has found the features.
                    unsafe { $inner2::<T, O, OP>(out, a, b) }
                } else {
                    map2::<T, O, OP>(out, a, b)
                }
            }

            #[target_feature(enable = $features)]
            fn $inner_fold<T: Lane, const OP: u8>(strands: &mut [Bits; STRANDS], items: &[u8]) {
                folded_strands::<T, OP>(strands, items);
            }

            fn $fold<T: Lane, const OP: u8>(strands: &mut [Bits; STRANDS], items: &[u8]) {
                // SAFETY: whoever handed this function out has found the features.
                unsafe { $inner_fold::<T, OP>(strands, items) }
            }
        };
    }

    loops!("avx2": map1_avx2 map1_in_avx2, map2_avx2 map2_in_avx2, fold_avx2 fold_in_avx2);
    loops!("avx512f,avx512bw,avx512dq,avx512vl": map1_avx512 map1_in_avx512, map2_avx512 map2_in_avx512,
        fold_avx512 fold_in_avx512);

    fn has_avx512() -> bool {
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
    }

    pub(super) fn unary(op: ScalarOp, ty: ElemType) -> Option<Kernel1> {
        if has_avx512() {
            typed_function!(1 map1_avx512 op ty)
        } else if is_x86_feature_detected!("avx2") {
            typed_function!(1 map1_avx2 op ty)
        } else {
            None
        }
    }

    pub(super) fn binary(op: ScalarOp, ty: ElemType) -> Option<Kernel2> {
        if has_avx512() {
            typed_function!(2 map2_avx512 op ty)
        } else if is_x86_feature_detected!("avx2") {
            typed_function!(2 map2_avx2 op ty)
        } else {
            None
        }
    }

    pub(super) fn fold_strands(op: ScalarOp, ty: ElemType) -> Option<FoldStrands> {
        if has_avx512() {
            Some(stranded_function!(fold_avx512 op ty))
        } else if is_x86_feature_detected!("avx2") {
            Some(stranded_function!(fold_avx2 op ty))
        } else {
            None
        }
    }
}
