//! Futhark source to checked, first-order core to bytecode; never runs anything.
#![forbid(unsafe_code)]

pub mod names;
pub mod stack;
pub mod syntax;
pub mod types;
