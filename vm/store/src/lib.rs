//! Memory, and arrays as views of it.
//!
//! - `memory/`: counted blocks, budgets, reserves, mapped files. `array/`: views of blocks, and what moves their elements.
//! - `error.rs`: what goes wrong at run time. `stop.rs`: what ends a call early; bulk work asks it.
//!
//! `unsafe` stands in `memory/block.rs`, `memory/slab.rs`, `memory/reserve.rs`, `memory/mapped.rs`,
//! `array/element.rs` and `array/granted.rs` only.
//! Whoever executes programs uses all of this; a host uses [`Array`] and [`Memory`]. Of what is here for executors alone
//! - [`array::Granted`], blocks that several hold - each says what it is trusted with.

pub mod array;
pub mod error;
pub mod memory;
pub mod stop;

pub use array::{Array, Element, SliceIndex};
pub use error::{CallSite, ErrorKind, FailedRow, RuntimeError, Trap};
pub use half::f16;
pub use memory::{Block, Given, MappedFile, Memory, MemoryStats, OutOfMemory};
