//! A unit: an instruction of the bytecode (a loop, a parallel operator) with all its blocks, as machine code.
//!
//! Nothing in a unit calls anything: it reads scalars and arrays from outside, which stay as they are, keeps cells
//! (arrays of its own, which it updates in place), and leaves scalars and cells behind.

use super::code::Ins;
use super::functions::{Function1, Function2};
use super::run::Word;
use galopvm_base::{Bits, ElemType, ScalarOp};
use galopvm_bytecode::{BlockId, RegId};
use smallvec::SmallVec;
use std::ops::Range;

/// The number of a slot.
pub(super) type Slot = u16;

/// Where an array that a unit only reads comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Source {
    /// A register that is defined outside.
    Free(RegId),
    /// An array that the operator goes over, by number.
    Operand(usize),
}

/// Where the array of a cell comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// The initial value of a loop's result of this number.
    Init(usize),
    /// A destination of a histogram, by number.
    Given(usize),
    /// A fresh vector for a result of the operator.
    Output(ElemType),
}

/// An array of the unit's own.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellPlan {
    pub(super) origin: Origin,
    /// Whether anything is stored to it.
    pub(super) stored: bool,
}

/// An array by its base.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Base {
    /// An array that is only read.
    Input(u16),
    /// A cell.
    Cell(u16),
}

/// An array within a unit: a base at some leading indices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub(super) base: Base,
    pub(super) lead: SmallVec<[Slot; 2]>,
}

/// Indices into a base.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) base: u16,
    pub(super) index: SmallVec<[Slot; 4]>,
    /// How many of the indices are known to be inside; messages speak of the others.
    pub(super) lead: usize,
}

/// An assertion.
#[derive(Clone, Debug)]
pub(super) struct Assertion {
    pub(super) message: String,
    pub(super) args: Vec<(Slot, ElemType)>,
}

/// What becomes of a result of the instruction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Left {
    Scalar(Slot),
    Cell(u16),
}

/// A loop over the rows of an operator.
#[derive(Debug)]
pub(super) struct RowLoop {
    /// Its instructions.
    pub(super) code: Range<usize>,
    /// The number of the row.
    pub(super) counter: Slot,
    /// The operator, if it is not the one that the unit consists of: of that one these may be some of the rows.
    pub(super) operator: Option<(BlockId, u32)>,
}

/// A unit.
#[derive(Debug, Default)]
pub struct Unit {
    pub(super) code: Vec<Ins>,
    /// The code as it is executed.
    pub(super) words: Vec<Word>,
    /// The instruction of the bytecode that each instruction comes from.
    pub(super) origins: Vec<(BlockId, u32)>,
    /// Its loops over the rows of operators, inner ones first.
    pub(super) row_loops: Vec<RowLoop>,
    pub(super) constants: Vec<(Slot, Bits)>,
    /// Scalars from outside.
    pub(super) scalars: Vec<(RegId, Slot)>,
    /// The number of rows that an operator goes over this time: all of them, or those of a piece.
    pub(super) rows: Option<Slot>,
    pub(super) inputs: Vec<Source>,
    /// Extents of arrays, which never change.
    pub(super) extents: Vec<(Slot, Base, u32)>,
    pub(super) cells: Vec<CellPlan>,
    pub(super) accesses: Vec<Access>,
    pub(super) unary: Vec<Function1>,
    pub(super) binary: Vec<Function2>,
    /// Ternary operations with the slot of the third operand.
    pub(super) ternary: Vec<(ScalarOp, ElemType, Slot)>,
    pub(super) assertions: Vec<Assertion>,
    /// For each result of the instruction.
    pub(super) results: Vec<Left>,
    /// Turns of operators inside that others could do as well, with the number from which they do it faster.
    pub(super) limits: Vec<(Slot, i64)>,
}
