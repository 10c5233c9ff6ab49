//! Memory, arrays, interpreter, profiler, lift to kernels and tiering.
#![forbid(unsafe_code)]

pub mod lift;
