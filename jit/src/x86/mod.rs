//! The x86-64: all that knows its registers, its instructions or its assembler macro.
//!
//! - `mode.rs`: the instruction sets. `isa.rs`: each of them as a [`crate::target::Target`]. `emitter.rs`: the assembler: frame, jumps, moves, calls.
//! - `ops.rs`: what each operation becomes, by `general.rs` (general registers, dynasm), `vector.rs`, `memory.rs`,
//!   `masks.rs`, `constants.rs` (constants behind the code), `poll.rs` (asking the host whether to go on) and `mend.rs` (values
//!   that rarely need a helper).
//! - `encode.rs`, `evex.rs`, `rows.rs`: vector instructions in all three encodings. `listing.rs`: disassembly.

mod constants;
mod emitter;
mod encode;
#[cfg(test)]
mod encode_tests;
mod evex;
mod general;
mod isa;
pub mod listing;
mod masks;
mod memory;
mod mend;
mod mode;
mod ops;
mod poll;
mod rows;
mod spaced;
#[cfg(test)]
mod tests;
mod vector;

pub use isa::Isa;
pub use mode::CpuMode;
