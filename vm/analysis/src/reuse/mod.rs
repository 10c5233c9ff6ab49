//! Which array's block a kernel may write its result into, where most of the result is copied from that array.
//!
//! A kernel writes each place of its result once, as the last action of that place's iteration. Where the written
//! value is the array's own value at the same place, nothing has to be written at all. So the block of `A` can be
//! taken if no iteration reads a place of `A` that another one changes: the places read (apart from each
//! iteration's own) and the places changed have nothing in common.
//!
//! - `accesses.rs`: what each iteration reads, and what its value is a copy of. `sets.rs`: the sets of places RDS
//!   (read), CDS (copied), MOD (changed), and the verdict for each array. `decide.rs`: which candidate, at launch.
//!
//! Invariant: what is not understood makes RDS or MOD larger, never smaller. No order of iterations is assumed.

mod accesses;
mod decide;
mod sets;

pub use crate::Effort;
pub use decide::{Choice, Fresh, Holding, choose, decide, outcome};
pub use sets::{ArrayReuse, ControlPath, Reuse, Verdict, analyse, analyse_first};
