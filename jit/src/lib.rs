//! Kernel and plan to x86-64 machine code.
//!
//! - `backend.rs`: the door. `compiled.rs`: launches and threads. `apart.rs`: histograms by several threads. `record.rs`: what code is given at a launch.
//! - `lower/`: KIR to low IR. `lir/`: the low IR. `allocate.rs`: registers. `emit/`: bytes.
//! - `isa.rs`: what each instruction set can do. `library.rs`: functions that code calls. `executable.rs`: memory
//!   that can be run. `listing.rs`: disassembly.
//!
//! Invariants:
//! - What cannot be compiled is refused with a reason; nothing panics.
//! - Results are those of `galopvm_base::scalar`, bit for bit, but for re-associated float reductions and fused
//!   multiply-adds in them, neither of which strict mode has.
//! - Code under a mask runs only if some lane is active, and touches memory for active lanes only.

mod allocate;
mod apart;
mod backend;
mod compiled;
mod emit;
mod executable;
mod isa;
mod library;
mod lir;
pub mod listing;
mod lower;
mod record;

pub use backend::{Options, X86Backend};
