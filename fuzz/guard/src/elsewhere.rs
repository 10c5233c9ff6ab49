//! The names of this crate where there is nothing behind them: the allocator of the system, and no signals.

/// The allocator of the process.
pub use std::alloc::System as Guarded;

/// Nothing is guarded.
pub fn guard() -> bool {
    false
}

/// Nothing is guarded.
pub fn is_on() -> bool {
    false
}

/// Nobody will ask.
pub fn at_case(_: u64) {}

/// Nobody will be told.
pub fn tell_cases() {}
