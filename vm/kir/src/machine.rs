//! The machine that code is made for, as decisions see it: shapes and sizes, never instructions.

/// The shape of the vectors that code may use. Which instructions stand behind it is a back end's business.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Vectors {
    /// Lanes of 32 bits, a power of two; 1: code takes one element at a time.
    pub lanes: usize,
    /// Vector registers that values can have.
    pub registers: usize,
    /// Masks have registers of their own, and elements of any size are read and written under them.
    pub masks: bool,
    /// Floats have a fused multiply-add.
    pub fma: bool,
}

impl Vectors {
    /// No vectors.
    pub const NONE: Vectors = Vectors { lanes: 1, registers: 13, masks: false, fma: false };

    /// Bytes of one vector register (8 where code takes one element at a time).
    pub const fn bytes(self) -> usize {
        if self.lanes == 1 { 8 } else { 4 * self.lanes }
    }

    /// True if code for vectors of this shape keeps to what `other` offers.
    pub const fn fits(self, other: Vectors) -> bool {
        self.lanes <= other.lanes
            && self.registers <= other.registers
            && (other.masks || !self.masks)
            && (other.fma || !self.fma)
    }
}

/// Numbers of the machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Machine {
    /// The widest vectors that code may use (the processor's, or narrower ones by request).
    pub vectors: Vectors,
    /// Worker threads for parallel loops.
    pub threads: usize,
    /// Bytes of the first-level data cache.
    pub l1_bytes: usize,
    /// Bytes of the second-level cache.
    pub l2_bytes: usize,
    /// Bytes from which on places belong to different stretches of memory: processors do not look beyond a page.
    pub page_bytes: usize,
    /// Stretches of memory that the processor follows by itself.
    pub followed: u64,
    /// Element operations below which a loop is not worth splitting over threads.
    pub thread_grain: u64,
}

impl Default for Machine {
    fn default() -> Machine {
        Machine {
            vectors: Vectors::NONE,
            threads: 1,
            l1_bytes: 32 << 10,
            l2_bytes: 1 << 20,
            page_bytes: 1 << 12,
            followed: 12,
            thread_grain: 1 << 16,
        }
    }
}
