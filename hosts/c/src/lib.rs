//! galopvm for hosts in C: what `galopvm.h` declares.
//!
//! - `boundary.rs`: how functions are exported, and what comes from C and goes there: handles, texts, arrays. `lent.rs`: a
//!   host's memory. All `unsafe` is in these two.
//! - `status.rs`: errors as numbers and texts. `engine.rs`, `program.rs`, `session.rs`, `value.rs`: the functions, by handle. `elements.rs`: those
//!   on elements of arrays.
//!
//! Invariants: no panic leaves a function; a missing argument is an error; nothing is written to an output unless the function
//! succeeds; a session is used by one thread at a time, which is looked at.

mod boundary;
mod elements;
mod engine;
mod lent;
mod program;
mod session;
mod status;
mod value;

pub use elements::*;
pub use engine::*;
pub use program::*;
pub use session::*;
pub use status::*;
pub use value::*;
