//! The instruction sets of the x86-64 that code is made for, by name.

use galopvm_kir::Vectors;
use std::fmt;
use std::str::FromStr;

/// An instruction set. Ordered: a mode includes the ones before it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum CpuMode {
    /// SSE2, one element at a time.
    Scalar,
    /// 256-bit vectors.
    Avx2,
    /// 512-bit vectors with masks.
    Avx512,
}

impl CpuMode {
    /// Every mode.
    pub const ALL: [CpuMode; 3] = [CpuMode::Scalar, CpuMode::Avx2, CpuMode::Avx512];

    /// The widest mode whose vectors fit into a shape.
    pub fn of(shape: Vectors) -> CpuMode {
        let fits = |mode: &CpuMode| mode.vectors().fits(shape);
        CpuMode::ALL.into_iter().rev().find(fits).unwrap_or(CpuMode::Scalar)
    }

    /// The word on the command line and in listings.
    pub const fn name(self) -> &'static str {
        match self {
            CpuMode::Scalar => "scalar",
            CpuMode::Avx2 => "avx2",
            CpuMode::Avx512 => "avx512",
        }
    }

    /// The shape of its vectors. Emission keeps the last three registers for itself.
    pub const fn vectors(self) -> Vectors {
        match self {
            CpuMode::Scalar => Vectors { lanes: 1, registers: 13, masks: false, fma: false },
            CpuMode::Avx2 => Vectors { lanes: 8, registers: 13, masks: false, fma: true },
            CpuMode::Avx512 => Vectors { lanes: 16, registers: 29, masks: true, fma: true },
        }
    }
}

impl fmt::Display for CpuMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for CpuMode {
    type Err = ();

    fn from_str(text: &str) -> Result<CpuMode, ()> {
        CpuMode::ALL.into_iter().find(|m| m.name() == text).ok_or(())
    }
}
