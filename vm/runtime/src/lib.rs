//! What makes the interpreter faster, and the way in.
//!
//! - `session.rs`: the way in: a loaded program, its limits, calls.
//! - `switches.rs`: what can be turned off. `costs.rs`: what decisions count with.
//! - `optimizer/`: what stands beside the interpreter: who executes an operator, and where its results live.
//! - `shadow/`: a second execution that checks the first one.
//!
//! Memory and arrays are those of `galopvm-store`, values and formats those of `galopvm-data`; what instructions are to
//! analyses and back ends is said by `galopvm-lift`, which operators run compiled by `galopvm-tier`. The meaning is `galopvm-interp`.
#![forbid(unsafe_code)]

mod costs;
mod optimizer;
pub mod session;
mod shadow;
pub mod switches;

pub use galopvm_data as data;
pub use galopvm_data::Value;
pub use galopvm_store::memory::available as available_memory;
pub use galopvm_store::{
    Array, Block, CallSite, Element, ErrorKind, FailedRow, Given, MappedFile, Memory, MemoryStats,
    OutOfMemory, RuntimeError, SliceIndex, Trap, f16,
};

pub use costs::LazyCosts;
pub use galopvm_analysis::layout::Costs;
pub use galopvm_interp::{Limits, ShowSink, Shown, stack};
pub use galopvm_tier::{
    Coverage, Doing, Event, ExplainSink, Explained, KernelFigures, Kernels, Met, Moment, MomentSink,
    PlanFigures, PlanPhases, Site, SiteName, SiteProfile, SiteReport, Tier, Tiering, TraceSink, Way,
};
pub use session::{Options, Session};
pub use shadow::ShadowFigures;
pub use switches::{Switch, Switches};
