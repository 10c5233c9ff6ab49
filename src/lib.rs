//! galopvm runs data-parallel array programs in the Futhark language inside a host program.
//!
//! Three nouns: an [`Engine`] knows the machine and the back ends, a [`Program`] is verified bytecode, a
//! [`Session`] calls a program's entry points.
//!
//! ```
//! use galopvm::{Engine, Program};
//!
//! fn main() -> Result<(), galopvm::Error> {
//!     let program = Program::from_source(
//!         "stats.fut",
//!         "entry mean [n] (xs: [n]f64): f64 = reduce (+) 0 xs / f64.i64 n
//!          entry scale [n] (a: f64) (xs: [n]f64): [n]f64 = map (* a) xs",
//!     )?;
//!     let engine = Engine::new();
//!     let mut session = engine.session(&program);
//!
//!     let mean: f64 = session.call("mean", (&[1.0, 2.0, 6.0],))?;
//!     assert_eq!(mean, 3.0);
//!
//!     let scaled: Vec<f64> = session.call("scale", (10.0, vec![1.0, 2.5]))?;
//!     assert_eq!(scaled, [10.0, 25.0]);
//!     Ok(())
//! }
//! ```
//!
//! - Arrays of any rank are [`Array`]. [`Session::array`] copies elements, [`Session::give`] takes a vector,
//!   [`Session::borrow`] and [`Session::borrow_view`] look at elements where they are. Arrays are passed on without copying;
//!   [`Array::as_slice`] looks at results where they are, and [`Array::into_vec`] takes them.
//! - [`Engine`] and [`Program`] can be used from any thread, at the same time; a [`Session`] can be sent to another thread. Many threads
//!   have a session each. An [`Array`] can be given to calls in several sessions.
//! - Errors carry what people need: source messages with line, caret and hint ([`Error::Compile`]), run-time
//!   errors with a stack of places ([`Error::Run`]). Nothing panics, whatever the program or its arguments are;
//!   a mistake of galopvm itself is an error, too ([`Error::Internal`]).
//! - A back end that is missing or refuses a kernel is no error: the interpreter does that work.
//! - [`EngineBuilder`] sets limits (memory, fuel, time), the back end, the instruction set, threads and [`Switches`];
//!   a [`Canceller`] stops a call from another thread.
//!
//! C and Python have the same: `docs/embedding.md` says what holds in each language.
//!
//! This crate ties the parts together and adds no logic.
#![forbid(unsafe_code)]

// The first program in Rust of the page for users.
#[cfg(doctest)]
#[doc = include_str!("../docs/embedding.md")]
mod embedding_page {}

#[cfg(feature = "arrow")]
pub mod arrow;
mod canceller;
mod convert;
pub mod costs;
pub mod elements;
mod engine;
mod entry;
mod error;
pub mod machine;
#[cfg(feature = "ndarray")]
pub mod ndarray;
mod parts;
pub mod program;
mod session;
#[cfg(test)]
mod tests;
mod threads;
mod types;
mod written;

pub use canceller::Canceller;
pub use convert::{Arguments, FromValue, IntoValue, Results, scalar};
pub use engine::{BackendChoice, Engine, EngineBuilder};
pub use entry::TypedEntry;
pub use error::{Error, Messages};
pub use parts::{Argument, ArrayOf, Outcome, Rows};
pub use program::{Compiling, Program};
pub use session::Session;
pub use types::Type;

/// Structs as records and enums as sums; the page of `galopvm-derive` says how.
pub use galopvm_derive::{Argument, Outcome};

/// What derived code calls, and hosts that know a type only when they run.
#[doc(hidden)]
pub mod derived {
    pub use crate::convert::single;
    pub use crate::parts::{no_constructor, put_sum, take_sum};
}

pub use galopvm_analysis::layout::{Costs, CpuCosts, CpuTimes};
pub use galopvm_base::{Diagnostic, ElemType, Scalar, Severity};
pub use galopvm_bytecode::{Entry, EntryValue, Form, Purpose, ValueType};
pub use galopvm_frontend::Imports;
pub use galopvm_gpu::{Route, Traffic};
pub use galopvm_jit::{CpuMode, Installed, InstalledSink};
pub use galopvm_kir::{Backend, Machine};
pub use galopvm_runtime::{
    Array, Block, CallSite, Doing, Element, ErrorKind, Event, ExplainSink, Explained, FailedRow, Given,
    KernelFigures, Limits, Memory, MemoryStats, Moment, MomentSink, PlanFigures, PlanPhases, RuntimeError,
    ShowSink, Shown, Site, SiteReport, Switch, Switches, Tier, TraceSink, Value, Way, available_memory, data,
    f16,
};
