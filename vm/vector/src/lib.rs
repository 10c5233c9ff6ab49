//! Kernels on any processor: an operation is done for a group of rows before the next one is.
//!
//! A region becomes steps once, which name their operands by register and know their loops. A register holds a scalar for each row - one
//! number for all rows of the group, a number that grows from row to row, or a column - or an array: a view with one more step,
//! from row to row. Nothing else is compiled, so a launch costs little; it is the fast way where there is no machine code.
//!
//! - `code.rs`: what a region becomes. `translate.rs`: how, with `lives.rs`: which arrays may be changed in place.
//! - `column.rs`, `array.rs`: what values are. `loops/`: loops over columns, one for each scalar operation and type.
//! - `frame.rs`: the room of registers, left from launch to launch.
//! - `body.rs`: steps one after the other, branches and loops. `scalar.rs`: scalar operations. `place.rs`: what indices mean.
//!   `groups.rs`: kernels, reductions and scans, cut into groups of rows. `within.rs`: the same inside a group, where
//!   they are loops. `scatter.rs`: scatters, both ways. `dot.rs`: sums of products. `whole.rs`: operations on whole arrays.
//! - `backend.rs`: the door.
//!
//! Invariants: a value is what the reference evaluator computes, row by row; reductions and scans may be re-associated, and keep
//! the order of the rows. Rows that a mask leaves out have some value, and never end a launch. Memory is only touched
//! through checked slices.

mod array;
mod backend;
mod body;
mod code;
mod column;
mod dot;
mod frame;
mod groups;
mod lives;
mod loops;
mod place;
mod scalar;
mod scatter;
mod translate;
mod whole;
mod within;

pub use backend::Vector;
pub use groups::FEW_ROWS;
pub use loops::{Fold, FoldStrands, MANY_ROWS, STRANDS, fold, fold_strands, start_of_strand, strided};
