//! Bytecode as kernel IR: what each instruction is to analyses and back ends.
//!
//! - `kernels/`: a parallel operator, or several of a block, as a region that holds for all numbers. Views are dissolved into
//!   index arithmetic, so the region is a kernel as back ends want it.
//! - `region/`: a function, a loop or a round as a region with the numbers of this run. Each array of the code has a name
//!   there, so what an analysis says of a name holds for a register.
//! - `meaning.rs`: what both say in the same words.
//!
//! Invariants: code alone is looked at, and the numbers that are given; nothing is executed. What is decided, as which operators
//! inside another one are fused, holds for all numbers.
#![forbid(unsafe_code)]

mod kernels;
mod meaning;
pub mod region;

pub use kernels::{Binding, LiftRefusal, Lifted, Sequence, lift, lift_sequence};
