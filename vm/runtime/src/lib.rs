//! The interpreter, what makes it faster, and the way in.
//!
//! - `session.rs`: the way in: a loaded program, its limits, calls. `stack.rs`: room for recursion.
//! - `switches.rs`: what can be turned off. `costs.rs`: what decisions count with.
//! - `interpret/`: the interpreter, which is the meaning.
//! - `layouts/`: arrays given to operators in the layout that they read.
//! - `shadow/`: a second execution that checks the first one.
//!
//! Memory and arrays are those of `galopvm-store`, values and formats those of `galopvm-data`; what instructions are to
//! analyses and back ends is said by `galopvm-lift`, which operators run compiled by `galopvm-tier`. `unsafe` stands in `stack.rs` only.

mod costs;
pub mod interpret;
mod layouts;
pub mod session;
mod shadow;
pub mod stack;
pub mod switches;

pub use galopvm_data as data;
pub use galopvm_data::Value;
pub use galopvm_store::memory::available as available_memory;
pub use galopvm_store::{
    Array, Block, CallSite, Element, ErrorKind, MappedFile, Memory, MemoryStats, OutOfMemory, RuntimeError,
    SliceIndex, Trap,
};

pub use costs::LazyCosts;
pub use galopvm_tier::{
    Coverage, Event, ExplainSink, Explained, Met, PlanFigures, PlanPhases, SiteName, SiteProfile, SiteReport,
    Tier, Tiering, TraceSink,
};
pub use interpret::{Limits, ShowSink, Shown};
pub use session::{Options, Session};
pub use shadow::ShadowFigures;
pub use switches::{Switch, Switches};
