//! Strategies: which variable may be the lane of a kernel, and which dimensions of arrays then have to be innermost.
//!
//! - `restriction.rs`: what one access demands, and how demands combine. `kernel.rs`: the demands of a kernel, and the
//!   choice with real sizes, which may leave a demand unmet at the price of its class.
//! - `sequence.rs`: the exact choice over a sequence of kernels, by dynamic programming over the layouts held.
//!   `recorded.rs`: that problem for the kernels of a region. `decide.rs`: the decision that follows.

pub mod decide;
pub mod kernel;
pub mod recorded;
pub mod restriction;
pub mod sequence;

pub use decide::{RegionChoice, decide};
pub use kernel::{access_strategies, kernel_strategies};
pub use recorded::{Recorded, recorded};
pub use restriction::{Conflict, Restriction, fold};
pub use sequence::{Access, Cycle, Held, Holdings, Kernel, Lane, Problem, Solution, Write, solve, steady};
