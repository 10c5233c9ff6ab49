//! Memory, arrays, interpreter, profiler, lift to kernels and tiering.
//!
//! - `session.rs`: the way in: a loaded program, its limits, calls. `stop.rs`: what ends a call early. `stack.rs`: room
//!   for recursion.
//! - `memory/`: counted blocks, budgets, mapped files. `array/`: views of blocks; `value.rs`: scalars and arrays.
//! - `data/`: Futhark's data formats. `error.rs`: what goes wrong at run time.
//! - `switches.rs`: what can be turned off. `costs.rs`: what decisions count with.
//! - `interpret/`: the interpreter, which is the meaning. `lift/`: parallel operators as kernel IR.
//! - `fused/`: operators of a block that run together.
//! - `layouts/`: arrays given to operators in the layout that they read.
//! - `region/`: functions and loops as kernel IR, with the numbers of a run.
//! - `explain/`: what was decided, and why, for people and tools.
//! - `shadow/`: a second execution that checks the first one.
//! - `coverage/`: which decisions were met, counted.
//! - `profile.rs`: what was seen at each parallel operator. `tier/`: which of them run compiled.
//!
//! `unsafe` stands in `memory/block.rs`, `memory/slab.rs`, `memory/reserve.rs`, `memory/mapped.rs`, `array/granted.rs`,
//! `stack.rs` and `interpret/columns/wide.rs` only.

pub mod array;
mod costs;
mod coverage;
pub mod data;
pub mod error;
pub mod explain;
pub mod fused;
pub mod interpret;
mod layouts;
pub mod lift;
pub mod memory;
pub mod patience;
mod profile;
pub mod region;
pub mod session;
mod shadow;
pub mod stack;
mod stop;
pub mod switches;
pub mod tier;
pub mod value;

pub use array::{Array, Element, SliceIndex};
pub use costs::LazyCosts;
pub use coverage::{Coverage, Met};
pub use error::{CallSite, ErrorKind, RuntimeError, Trap};
pub use explain::{ExplainSink, Explained};
pub use interpret::{Limits, PlanFigures, PlanPhases, ShowSink, Shown};
pub use memory::{Block, MappedFile, Memory, MemoryStats, OutOfMemory, available as available_memory};
pub use profile::{SiteName, SiteProfile, Tier};
pub use session::{Options, Session};
pub use shadow::ShadowFigures;
pub use switches::{Switch, Switches};
pub use tier::{Event, SiteReport, Tiering, TraceSink};
pub use value::Value;
