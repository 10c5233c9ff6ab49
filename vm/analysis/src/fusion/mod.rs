//! Fusion: arrays between kernels that need not be made, and kernels that can run together.
//!
//! - `prove.rs`: sizes and indices as polynomials, and what can be shown of them. `view.rs`: where an index into a view
//!   goes in the array behind it. `reads.rs`: who reads a kernel's results, where, how often. `traps.rs`: which bodies
//!   cannot trap. `price.rs`: what a fusion costs and saves. `known.rs`: what is kept of all that. Facts only.
//! - `judge.rs`: whether a fusion is right, and whether it pays. `decide.rs`: all fusions of a region, in order, each
//!   with its reason; `feed.rs`: scans whose prefixes are read as they are computed; `reason.rs` has the reasons, `lines.rs` is the
//!   text form.
//! - `inline.rs`, `join.rs`, `turn.rs`: the changes. `apply.rs`: the region after a decision.
//!
//! Invariants:
//! - Values and traps stay. A read that becomes a computation is shown to lie inside its array by its index alone (never by
//!   observed numbers); a body that may trap is still computed for each of its elements.
//! - A change is judged again where it is made: a decision about another region changes nothing.
//! - What is not shown is not done. Work is bounded by the constants of `decide.rs` and `prove.rs`.

mod apply;
mod decide;
mod feed;
mod inline;
mod join;
mod judge;
mod known;
mod lines;
mod price;
mod prove;
mod reads;
mod reason;
mod traps;
mod turn;
mod view;

pub use apply::apply;
pub use decide::{Fused, MOST_FUSIONS, MOST_NODES, MOST_RESULTS, decide, fuse};
pub use lines::{Fusion, FusionLine, Fusions, Saving};
pub use price::work;
pub use reason::{Reason, Word};
