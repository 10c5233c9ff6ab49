//! Code for some numbers, and when it is right to make code for others.
//!
//! - `signature.rs`: what of a launch code depends on, and the guard that a version is entered by.
//! - `checks.rs`: how a guard is asked where asking it would take longer than a hundredth of the work behind it.
//! - `site.rs`: the versions of one place: what runs next, when one is compiled, when one is given up.
//! - `hysteresis.rs`: decisions that do not flap, and are dropped when measurements contradict them.
//! - `general.rs`: the least general view that several views are instances of.
//!
//! Invariants: counting is in runs, never in time of day, so that a trace of launches gives the same versions
//! everywhere. Guards that safety depends on are never dropped.

mod checks;
mod general;
mod hysteresis;
mod signature;
mod site;

pub use checks::{Checks, Predicate, QUESTION, STEADY_RUNS, Steady, checks};
pub use general::{General, Number, generalise};
pub use hysteresis::{Switch, Trust};
pub use signature::{ArrayClass, Bucket, Guard, Lane, Signature, guard_for, signature};
pub use site::{MISSES, MOST_COUNTED, MOST_VERSIONS, QUIET_RUNS, Site, Step, UNUSED_RUNS, Work};
