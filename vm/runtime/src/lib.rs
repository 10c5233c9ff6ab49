//! Memory, arrays, interpreter, profiler, lift to kernels and tiering.
//!
//! - `memory/`: counted blocks, budgets, mapped files. `array/`: views of blocks; `value.rs`: scalars and arrays.
//! - `data/`: Futhark's data formats.
//!
//! `unsafe` stands in `memory/block.rs` and `memory/mapped.rs` only.

pub mod array;
pub mod data;
pub mod error;
pub mod memory;
pub mod value;

pub use array::{Array, Element, SliceIndex};
pub use error::{CallSite, ErrorKind, RuntimeError, Trap};
pub use memory::{Block, MappedFile, Memory, MemoryStats, OutOfMemory};
pub use value::Value;
