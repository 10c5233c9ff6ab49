//! Files that other programs make and read: tables and images.
//!
//! - `kind.rs`: what a file is. `problem.rs`: what is wrong with one.
//! - `table.rs`: rows and cells of text. `cell.rs`: a cell as a scalar, and back. `columns.rs`: tables as arrays.
//!   `csv.rs`: arrays as tables.
//! - `samples.rs`: images as they lie in files. `pixels.rs`: images as arrays, and back. `png.rs`, `netpbm.rs`: the formats.
//! - `whole.rs`: files that are written as a whole, or not at all.
//!
//! Invariant: nothing is allocated because a file says that it is large, but only if it is; and what holds elements is counted
//! in the memory of the session.

mod cell;
pub mod columns;
pub mod csv;
mod kind;
pub mod netpbm;
pub mod pixels;
pub mod png;
mod problem;
mod samples;
mod table;
pub mod whole;

pub use kind::{Format, Kind, Written, is_other_image};
pub use problem::Problem;
pub use table::Table;

#[cfg(test)]
mod tests;
