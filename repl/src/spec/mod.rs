//! Test blocks: what a program says of its own results, in the comments that Futhark's `test` and `bench` read.
//!
//! - `block.rs`: the grammar. `data.rs`: the values that a case takes and those that it expects. `script.rs`: inputs that the program's
//!   own entry points make. `pattern.rs`: the regular expressions of messages. `programs.rs`: which files are meant.

mod block;
mod data;
mod pattern;
mod programs;
mod script;

pub use block::{Case, Expected, Given, Spec, parse};
pub use data::Data;
pub use pattern::matches;
pub use programs::programs;
