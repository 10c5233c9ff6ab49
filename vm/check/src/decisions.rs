//! Decisions about memory as plain data: what somebody decided, in numbers.

use galopvm_kir::VarId;
use std::collections::HashMap;

/// A constant and multiples of iteration variables.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Affine {
    /// The constant.
    pub constant: i64,
    /// Each variable with what it is multiplied by.
    pub terms: Vec<(VarId, i64)>,
}

impl Affine {
    /// A number.
    pub fn number(constant: i64) -> Affine {
        Affine { constant, terms: Vec::new() }
    }
}

/// Where one array lies: a view of a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Home {
    /// The array that the block was made for, or a parameter that lies in it.
    pub block: VarId,
    /// Place of the element whose indices are all 0.
    pub offset: Affine,
    /// Size and stride of each axis, outermost first.
    pub dims: Vec<(Affine, Affine)>,
}

/// Where the memory of a block comes from, if it has none of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Memory {
    /// From this byte on of a memory that several blocks share.
    At {
        /// Which memory.
        memory: u32,
        /// The first byte.
        first: i64,
    },
    /// From so many pieces of memory, of which each new block takes the next one.
    InTurn(u32),
}

/// All decisions for a region.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Decisions {
    /// Where arrays lie. An array that is made and has no home lies in a block of its own, one that shows another lies
    /// in that, and an array with a part replaced is a copy.
    pub homes: HashMap<VarId, Home>,
    /// The memory of blocks, by the arrays that these are made for.
    pub memory: HashMap<VarId, Memory>,
    /// Results of kernels that are written over arrays.
    pub over: HashMap<VarId, VarId>,
    /// Whether what comes after the region takes the shared memories again, while results of the region are still needed.
    pub comes_again: bool,
}
