//! Loops over columns for processors with wide vectors.
//!
//! They are the loops of `kernels.rs`, compiled again with the instructions of AVX2 or AVX-512 allowed; nothing is fused, so
//! their results are the same bits. Only operations that compute much for each element have them: others wait for memory.
#![allow(unsafe_code)]

use super::kernels::{Kernel1, Kernel2};
use galopvm_base::{ElemType, ScalarOp};

/// Whether an operation has loops of this kind.
const fn computes_much(op: ScalarOp, ty: ElemType) -> bool {
    matches!(ty, ElemType::F32 | ElemType::F64) && !op.is_exact(ty)
}

/// The loop of a unary operation, if there is one for this processor.
pub(super) fn unary(op: ScalarOp, ty: ElemType) -> Option<Kernel1> {
    #[cfg(target_arch = "x86_64")]
    if computes_much(op, ty) {
        return x86::unary(op, ty);
    }
    None
}

/// The loop of a binary operation, if there is one for this processor.
pub(super) fn binary(op: ScalarOp, ty: ElemType) -> Option<Kernel2> {
    #[cfg(target_arch = "x86_64")]
    if computes_much(op, ty) {
        return x86::binary(op, ty);
    }
    None
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::computes_much;
    use crate::interpret::columns::kernels::{Kernel1, Kernel2, Lane, map1, map2, mapped1, mapped2};
    use crate::interpret::typed::{
        operation, typed_domain, typed_function, typed_result, typed_row, typed_rows, typed_types,
    };
    use galopvm_base::{ElemType, ScalarOp};
    use half::f16;

    /// Loops for a kind of processor: they are called only where `unary` and `binary` below have found it.
    macro_rules! loops {
        ($features:literal: $map1:ident $inner1:ident, $map2:ident $inner2:ident) => {
            #[target_feature(enable = $features)]
            fn $inner1<T: Lane, O: Lane, const OP: u8>(out: &mut [u8], a: &[u8]) {
                mapped1::<T, O, OP>(out, a);
            }

            fn $map1<T: Lane, O: Lane, const OP: u8>(out: &mut [u8], a: &[u8]) {
                if const { computes_much(operation(OP), T::TYPE) } {
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
                if const { computes_much(operation(OP), T::TYPE) } {
                    // SAFETY: whoever handed this function out has found the features.
                    unsafe { $inner2::<T, O, OP>(out, a, b) }
                } else {
                    map2::<T, O, OP>(out, a, b)
                }
            }
        };
    }

    loops!("avx2": map1_avx2 map1_in_avx2, map2_avx2 map2_in_avx2);
    loops!("avx512f,avx512bw,avx512dq,avx512vl": map1_avx512 map1_in_avx512, map2_avx512 map2_in_avx512);

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
}
