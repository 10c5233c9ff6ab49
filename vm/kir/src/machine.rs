//! The machine that code is made for, as decisions see it.

use std::fmt;
use std::str::FromStr;

/// The instruction set that the x86 back end uses. Ordered: a mode includes the ones before it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum CpuMode {
    /// One element at a time.
    Scalar,
    /// 256-bit vectors.
    Avx2,
    /// 512-bit vectors with masks.
    Avx512,
}

impl CpuMode {
    /// Every mode.
    pub const ALL: [CpuMode; 3] = [CpuMode::Scalar, CpuMode::Avx2, CpuMode::Avx512];

    /// The word on the command line and in plans.
    pub const fn name(self) -> &'static str {
        match self {
            CpuMode::Scalar => "scalar",
            CpuMode::Avx2 => "avx2",
            CpuMode::Avx512 => "avx512",
        }
    }

    /// Bytes of one vector register (8 for scalar code).
    pub const fn vector_bytes(self) -> usize {
        match self {
            CpuMode::Scalar => 8,
            CpuMode::Avx2 => 32,
            CpuMode::Avx512 => 64,
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

/// Numbers of the machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Machine {
    /// The greatest usable mode (the CPU's, or a lower one by request).
    pub cpu: CpuMode,
    /// Worker threads for parallel loops.
    pub threads: usize,
    /// Bytes of the first-level data cache.
    pub l1_bytes: usize,
    /// Bytes of the second-level cache.
    pub l2_bytes: usize,
    /// Element operations below which a loop is not worth splitting over threads.
    pub thread_grain: u64,
}

impl Default for Machine {
    fn default() -> Machine {
        Machine {
            cpu: CpuMode::Scalar,
            threads: 1,
            l1_bytes: 32 << 10,
            l2_bytes: 1 << 20,
            thread_grain: 1 << 16,
        }
    }
}
