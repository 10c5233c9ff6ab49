//! The low IR: typed virtual registers, instructions, basic blocks with parameters.
//!
//! It is in single assignment and knows nothing of arrays, axes or lanes: a value is one machine register. What a
//! register holds is its [`Class`]; scalar floats live in vector registers. Branches carry no values, jumps do, so
//! no edge is critical. `op.rs` is the table of operations, `field.rs` what they carry. `build.rs` makes code, `fold.rs` says
//! what operations come to, `sweep.rs`
//! removes what nobody uses, `text.rs` and `parse.rs` are its text form, `verify.rs` says what code must be like;
//! `crate::allocate` and the targets consume it.

pub mod build;
mod field;
mod fold;
mod op;
mod parse;
pub mod sweep;
mod text;
mod verify;

pub use field::{Addr, Bin, Change, Class, Cond, Extent, Lane, Mem, Round, Width};
pub use op::{Effect, Op};
#[cfg(test)]
pub use parse::parse;
pub use verify::{check, check_listing};

use galopvm_base::define_id;
use smallvec::SmallVec;

define_id!(
    /// A virtual register.
    pub struct Reg, "%"
);

define_id!(
    /// A basic block.
    pub struct Label, "block"
);

/// One instruction.
#[derive(Clone, PartialEq, Debug)]
pub struct Inst {
    /// Which.
    pub op: Op,
    /// The register it defines.
    pub out: Option<Reg>,
    /// The registers it reads; a jump: the parameters of its target.
    pub args: SmallVec<[Reg; 4]>,
}

/// A basic block.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Block {
    /// Registers that jumps to it define.
    pub params: Vec<Reg>,
    /// In order, without the end.
    pub insts: Vec<Inst>,
    /// The end; there once the block is complete.
    pub end: Option<Inst>,
}

/// A whole function.
#[derive(Clone, PartialEq, Debug)]
pub struct Code {
    /// Blocks by label.
    pub blocks: Vec<Block>,
    /// The order in which they lie in memory; the first is the entry.
    pub order: Vec<Label>,
    /// Class of each register.
    pub classes: Vec<Class>,
    /// The class that masks have.
    pub masks: Class,
}

impl Code {
    /// A function without blocks whose masks have a class.
    pub fn new(masks: Class) -> Code {
        Code { blocks: Vec::new(), order: Vec::new(), classes: Vec::new(), masks }
    }
}

#[cfg(test)]
mod tests;
