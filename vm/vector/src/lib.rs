//! Kernels on any processor: an operation is done for a group of rows before the next one is.
//!
//! The back end walks over the kernel IR as the reference evaluator does, but a scalar is a column - one number for all rows of
//! the group, a number that grows from row to row, or one for each - and an array is a view with one more step, from row to row.
//! Nothing is compiled, so a launch costs little; it is the fast way where there is no machine code.
//!
//! - `loops/`: loops over columns, one for each scalar operation and type.
//! - `column.rs`, `array.rs`: what values are. `expression.rs`: expressions and places. `body.rs`: statements, branches
//!   and loops. `groups.rs`: kernels, reductions, scans and scatters, cut into groups of rows. `within.rs`: the same inside a group, where
//!   they are loops. `dot.rs`: sums of products among them. `whole.rs`: operations on whole arrays.
//! - `lives.rs`: which arrays may be changed in place. `backend.rs`: the door.
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
mod groups;
mod lives;
pub mod loops;
mod place;
mod scalar;
mod scatter;
mod translate;
mod whole;
mod within;

pub use backend::Vector;
