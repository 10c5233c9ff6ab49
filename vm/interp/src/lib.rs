//! The interpreter: the meaning of the bytecode, which can be read alone.
//!
//! - `interpreter.rs`: calls, blocks, the one loop over instructions; fuel, interrupts, back traces. `frame.rs`: registers.
//!   `prepare.rs`: facts of the code. `stack.rs`: room for recursion.
//! - `scalar.rs`, `arrays.rs`, `join.rs`, `control.rs`, `soac.rs`, `index_space.rs`, `select.rs`: instructions by family.
//!   `show.rs`: what programs show and what hosts tell them.
//! - `delay.rs`: ranges that need no memory. `machine/`: loops and operators of scalar code as flat code. `strands.rs`: the
//!   order in which reductions combine. `refused.rs`: why a faster form is not taken.
//! - `shape.rs`: shapes of values that were never computed, and the work that a block will be.
//! - `adviser.rs`: the one door for everything that executes operators in another way, says where arrays are made, or looks on.
//!   [`Plain`] is nobody at that door.
//!
//! Invariant: whoever advises, values and errors are those of the plain meaning. Recursion over blocks and calls uses the
//! Rust stack; where that gets short, the next block continues on a thread with a fresh stack, so that only the call-depth
//! limit bounds programs. `unsafe` stands in `stack.rs` only.

mod adviser;
mod arrays;
mod control;
mod delay;
mod frame;
mod index_space;
mod interpreter;
mod join;
mod machine;
mod prepare;
mod refused;
mod scalar;
mod select;
mod shape;
mod show;
mod soac;
pub mod stack;
mod strands;

pub use adviser::{Adviser, LoopRun, Plain, Way};
pub use arrays::mismatch;
pub use frame::Registers;
pub use interpreter::{Interpreter, Limits, Outcome, Rooms, Setup, iterations};
pub use join::copy_to;
pub use machine::{Forms, Inner, Unit};
pub use prepare::{Prepared, PreparedBlock, PreparedFunction, Site};
pub use refused::{FormTaken, Refused};
pub use shape::{Work, work};
pub use show::{Host, ShowSink, Shown};
pub use soac::{Arrays, PIECE, inputs, set_rows};
