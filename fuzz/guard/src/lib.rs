//! What the fuzzer runs under: allocations with nothing behind them, and the number of a case that ends the process.
//!
//! - `allocator.rs`: the allocator. When it is told to, it puts each allocation at the end of a page that nothing follows, and
//!   takes its pages away afterwards. Sanitizers see what Rust code does; this is for machine code as well.
//! - `ended.rs`: which case a thread was at when a signal ended the process.
//!
//! Only systems with `mmap` and signals have them; elsewhere the system's allocator does everything.

#[cfg(unix)]
mod allocator;
#[cfg(unix)]
mod ended;

#[cfg(unix)]
pub use allocator::{Guarded, guard, is_on};
#[cfg(unix)]
pub use ended::{at_case, tell_cases};
