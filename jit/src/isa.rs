//! The instruction sets and what each of them can do, so that the lowering asks for nothing else.

use crate::lir::{Bin, Change, Class, Lane};
use galopvm_kir::CpuMode;

/// An instruction set with its register shapes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Isa {
    /// Which one.
    pub mode: CpuMode,
}

impl Isa {
    /// The greatest set that this processor has and `wanted` allows.
    pub fn of(wanted: CpuMode) -> Isa {
        Isa { mode: wanted.min(detect()) }
    }

    /// True for AVX-512.
    pub fn is_512(self) -> bool {
        self.mode == CpuMode::Avx512
    }

    /// Narrow (32-bit) lanes of a vector register.
    pub fn lanes(self) -> usize {
        match self.mode {
            CpuMode::Scalar => 1,
            CpuMode::Avx2 => 8,
            CpuMode::Avx512 => 16,
        }
    }

    /// Bytes of a vector register.
    pub fn vector_bytes(self) -> usize {
        self.mode.vector_bytes()
    }

    /// Where masks live.
    pub fn mask_class(self) -> Class {
        if self.is_512() { Class::Mask } else { Class::Vec }
    }

    /// True if scalar code may use instructions beyond SSE2 (rounding, fused multiply-add).
    pub fn has_fma(self) -> bool {
        self.mode != CpuMode::Scalar
    }

    /// True if vectors have this operation on these lanes.
    pub fn has_bin(self, bin: Bin, lane: Lane) -> bool {
        match bin {
            Bin::Div | Bin::FMin | Bin::FMax => lane.is_float(),
            Bin::MinU | Bin::MaxU => lane == Lane::I32 || self.is_512() && lane == Lane::I64,
            Bin::MinS | Bin::MaxS | Bin::Shl | Bin::Shr => !lane.is_float(),
            Bin::Sar => lane == Lane::I32 || self.is_512() && lane == Lane::I64,
            _ => true,
        }
    }

    /// True if vectors have this conversion.
    pub fn has_change(self, change: Change, from: Lane, to: Lane) -> bool {
        match change {
            Change::Extend | Change::ExtendZero | Change::Float => true,
            Change::Signed => self.is_512() || from != Lane::I64 && to != Lane::I64,
            Change::Unsigned => self.is_512(),
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn detect() -> CpuMode {
    let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    let avx512 = avx2
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    match (avx512, avx2) {
        (true, _) => CpuMode::Avx512,
        (false, true) => CpuMode::Avx2,
        _ => CpuMode::Scalar,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> CpuMode {
    CpuMode::Scalar
}
