//! Kernel and plan to x86-64 machine code.
pub mod isa;
pub mod library;
pub mod lir;
pub mod allocate;
pub mod emit;
pub mod executable;
