//! The interpreter, what makes it faster, and the way in.
//!
//! - `session.rs`: the way in: a loaded program, its limits, calls. `stack.rs`: room for recursion.
//! - `switches.rs`: what can be turned off. `costs.rs`: what decisions count with.
//! - `interpret/`: the interpreter, which is the meaning.
//! - `fused/`: operators of a block that run together.
//! - `layouts/`: arrays given to operators in the layout that they read.
//! - `told/`: what is told of decisions while a program runs.
//! - `shadow/`: a second execution that checks the first one.
//! - `coverage/`: which decisions were met, counted.
//! - `site/`: what a place of the program remembers, and what it may spend on finding out more.
//! - `profile.rs`: what was seen at each parallel operator. `tier/`: which of them run compiled.
//!
//! Memory and arrays are those of `galopvm-store`, values and formats those of `galopvm-data`; what instructions are to
//! analyses and back ends is said by `galopvm-lift`. `unsafe` stands in `stack.rs` only.

mod costs;
mod coverage;
pub mod fused;
pub mod interpret;
mod layouts;
mod profile;
pub mod session;
mod shadow;
mod site;
pub mod stack;
pub mod switches;
pub mod tier;
pub mod told;

pub use galopvm_data as data;
pub use galopvm_data::Value;
pub use galopvm_store::memory::available as available_memory;
pub use galopvm_store::{
    Array, Block, CallSite, Element, ErrorKind, MappedFile, Memory, MemoryStats, OutOfMemory, RuntimeError,
    SliceIndex, Trap,
};

pub use costs::LazyCosts;
pub use coverage::{Coverage, Met};
pub use interpret::{Limits, PlanFigures, PlanPhases, ShowSink, Shown};
pub use profile::{SiteName, SiteProfile, Tier};
pub use session::{Options, Session};
pub use shadow::ShadowFigures;
pub use switches::{Switch, Switches};
pub use tier::{Event, SiteReport, Tiering, TraceSink};
pub use told::{ExplainSink, Explained};
