//! Which operators run as compiled code, what is known of them, and what is told of it.
//!
//! - `execution.rs`: an operator that is about to run, and the registers that it finds. `executor.rs`: who executes it.
//! - `tiers/`: the policy, versions of code, launches. `fused/`: operators of a block that run together.
//! - `site/`: what a place of the program remembers, and what it may spend on finding out more.
//! - `changes.rs`: the elements that a map changes. `figures.rs`: what decisions cost and gave. `profile.rs`: what was seen at
//!   each operator.
//! - `told/`: what is told of decisions while a program runs. `coverage/`: which decisions were met, counted.
//!   `sentence.rs`: sentences about registers.
//!
//! Nothing here executes an instruction: what cannot be launched, or traps, is the caller's, whose meaning it is.
#![forbid(unsafe_code)]

mod changes;
mod coverage;
mod execution;
mod executor;
mod figures;
pub mod fused;
mod profile;
mod sentence;
pub mod site;
mod tiers;
pub mod told;

pub use changes::{Changes, Part, Rows};
pub use coverage::{Coverage, Met};
pub use execution::{Execution, Registers};
pub use executor::Executor;
pub use figures::{PlanFigures, PlanPhases, Watch};
pub use galopvm_interp::{FormTaken, Site, Way, Work};
pub use profile::{SiteName, SiteProfile, Tier};
pub use sentence::Sentence;
pub use tiers::{
    Choice, Code, Event, Interpreted, KernelFigures, Kernels, Over, Run, SiteReport, Tiering, Tiers,
    TraceSink, Version, VersionKey, Why, Wish,
};
pub use told::{Doing, ExplainSink, Explained, Moment, MomentSink, Moments};
