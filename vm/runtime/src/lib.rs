//! Memory, arrays, interpreter, profiler, lift to kernels and tiering.
