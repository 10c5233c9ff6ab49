//! Kernel and plan to x86-64 machine code.
//!
//! - `backend.rs`: the door. `compiled.rs`: launches and threads. `cut.rs`: the pieces of a launch. `apart.rs`: histograms by several threads. `chain.rs`: scans by several threads. `record.rs`: what code is given at a launch.
//!   `rooms.rs`: memory for arrays that code makes on its way.
//! - `lower/`: KIR to low IR. `lir/`: the low IR. `allocate.rs`: registers. `proofs.rs`: what debug builds have proved. `assemble.rs`: blocks, moves and jumps in order.
//! - `target.rs`: what a machine is to all these. `x86/`: the one that there is.
//! - `library.rs`: functions that code calls for each lane, or where steps in registers do not do. `executable.rs`: memory that can be run. `fetch.rs`: reads in the side of a branch that needs them.
//!
//! Invariants:
//! - Only `x86/` knows registers and instructions.
//! - What cannot be compiled is refused with a reason; nothing panics.
//! - Results are those of `galopvm_base::scalar`, bit for bit, but for re-associated float reductions and fused
//!   multiply-adds in them, neither of which strict mode has.
//! - Code under a mask runs only if some lane is active, and touches memory for active lanes only.

mod allocate;
mod apart;
mod assemble;
mod backend;
mod chain;
mod compiled;
mod cut;
mod executable;
mod fetch;
mod library;
mod lir;
mod lower;
mod proofs;
mod record;
mod rooms;
mod target;
mod x86;

pub use backend::{Installed, InstalledSink, Options, X86Backend};
pub use lir::check_listing as check_lir;
pub use x86::{CpuMode, listing};
