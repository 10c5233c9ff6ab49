//! Regions: a function or a loop that is about to run, as kernel IR with the numbers of this run.
//!
//! A region names the arrays of the code one to one: what the analyses say of a name holds for a register. Scalars that
//! are known are numbers, so sizes and places are as exact as they can be.
//!
//! - `record.rs`: the walk over the code. `arrays.rs`: instructions on arrays. `operators.rs`: operators and calls.
//!   `control.rs`: loops and branches.
//! - `code.rs`: what is the same for all numbers. `idle.rs`: scalars that need no statement.
//! - `sizes.rs`: sizes that are known inside a block only.
//!
//! Invariants: nothing is guessed. What could make two names share memory without the region showing it is refused with its
//! reason. A size that is not known has a name that nothing is known of, or that the statement gives along with the array:
//! analyses leave such an array where it is. Contents of arrays are never looked at.

mod arrays;
mod code;
mod control;
mod idle;
mod operators;
mod record;
mod sizes;

pub use code::Code;
pub use record::record;
pub use record::record_for;

use galopvm_base::{ElemType, IdTable, Scalar};
use galopvm_bytecode::{BlockId, FuncId, RegId};
use galopvm_kir::{CheckedRegion, Observed, VarId};
use galopvm_lmad::Lmad;
use std::collections::BTreeSet;
use std::fmt;

/// A table by the names of a region.
pub type ByName<T> = IdTable<VarId, T>;

/// What a recording is for, and so what it may leave out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// Nothing is left out.
    Everything,
    /// Where arrays lie in blocks: scalars that this does not depend on are left out.
    Places,
    /// How arrays lie, and where: the same, unless elements are indices or the like.
    Layouts,
}

/// What a register holds.
#[derive(Clone, PartialEq, Debug)]
pub enum Seen {
    /// A scalar.
    Scalar(Scalar),
    /// An array.
    Array {
        /// Element type.
        elem: ElemType,
        /// How it lies in its block.
        lmad: Lmad,
        /// A number that no other block has.
        block: usize,
        /// Elements of the block.
        block_elements: i64,
        /// How many hold the block.
        references: u32,
    },
}

/// The instruction that makes a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Maker {
    /// Its block.
    pub block: BlockId,
    /// Its number in the block.
    pub index: usize,
    /// Which of its results.
    pub result: usize,
}

/// What counts an iteration variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Counter {
    /// The rows of the operator whose body this is.
    Rows(BlockId),
    /// The loop whose counter this register is.
    Loop(RegId),
}

/// A recorded region.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The region.
    pub region: CheckedRegion,
    /// What its parameters are now.
    pub observed: Observed,
    /// The register of each name that has one.
    pub registers: ByName<RegId>,
    /// The register, in which function, of each name that belongs to a called function: for names and places only.
    pub inner: ByName<(FuncId, RegId)>,
    /// The instruction that makes each name, where one does.
    pub makers: ByName<Maker>,
    /// What the iteration variables count.
    pub counters: ByName<Counter>,
    /// Arrays whose elements the region computes where the program reads them. To the region they are not used there, but
    /// they have to be as they were made.
    pub unread: BTreeSet<VarId>,
}

/// Why something is not recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordRefusal {
    /// What stands in the way.
    pub reason: String,
}

impl fmt::Display for RecordRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}
