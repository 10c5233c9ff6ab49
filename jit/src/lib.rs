//! Kernel and plan to x86-64 machine code.
