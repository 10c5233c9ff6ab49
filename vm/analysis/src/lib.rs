//! Pure facts and decisions over kernels.
//!
//! - `numbers.rs`: the numbers behind the names of a region at one launch. `interval.rs`: ranges of values.
//! - `bounds.rs`: which reads stay inside their arrays. `work.rs`: how much there is to do. Facts only; each has a
//!   text form. `plan/`: the decision that back ends are given, made from these facts.
//! - `index/`: where every access goes, through views, and what its index does over the axes around it.
//! - `layout/`: who reads what in which order, and what another layout would be worth. `strategy/`: lanes and layouts
//!   of kernels, one after the other.
//! - `affine/`: index arithmetic over iteration variables, and the places it reaches.
//! - `effort.rs`: how much an answer may cost.
//! - `reuse/`: writing a result over an array it is mostly copied from. `circuit/`: building arrays in the place they
//!   are copied to. `memory/`: blocks that share memory.
//! - `cells.rs`: what a loop reads where it has just written is handed on as a scalar.
//! - `rounds/`: several rounds of a loop in one sweep over the array that it changes.
//! - `rows.rs`: kernels of few rows whose operators are better executed one after the other.
//! - `fusion/`: computing elements where they are read, and kernels that run together.
//!
//! Invariants:
//! - Functions are pure and deterministic: no input or output, no clock, no randomness, no back end.
//! - Unknown absorbs, nothing is guessed where safety depends on it: `bounds` proves, `layout` and `work` estimate.
//! - Facts and decisions are made by different functions. Each choice carries its reason, with numbers.
#![forbid(unsafe_code)]

pub mod affine;
pub mod bounds;
pub mod cells;
pub mod circuit;
mod effort;
pub mod fusion;
pub mod index;
mod interval;
pub mod layout;
pub mod memory;
mod numbers;
pub mod plan;
pub mod reuse;
pub mod rounds;
pub mod rows;
pub mod strategy;
pub mod work;

pub use effort::Effort;
pub use interval::Interval;
pub use plan::decide;
