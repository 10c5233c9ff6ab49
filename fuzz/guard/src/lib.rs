//! What the fuzzer runs under: allocations with nothing behind them, and the number of a case that ends the process.
//!
//! - `allocator.rs`: the allocator. When it is told to, it puts each allocation at the end of a page that nothing follows, and
//!   takes its pages away afterwards. Sanitizers see what Rust code does; this is for machine code as well.
//! - `ended.rs`: which cases were under way when a signal ended the process.
//! - `elsewhere.rs`: what there is of it without `mmap` and signals: nothing.

#[cfg(unix)]
mod allocator;
#[cfg(unix)]
mod ended;

#[cfg(unix)]
pub use allocator::{Guarded, guard, is_on};
#[cfg(unix)]
pub use ended::{at_case, tell_cases};

#[cfg(not(unix))]
mod elsewhere;
#[cfg(not(unix))]
pub use elsewhere::{Guarded, at_case, guard, is_on, tell_cases};
