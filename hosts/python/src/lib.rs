//! galopvm for Python: the native half of the package `galopvm`.
//!
//! - `arrays.rs`: arrays in and out without a copy; all `unsafe` is there. `parts.rs`: how a value of the source is made of
//!   values of the machine. `convert.rs`: Python's objects to values and back, by these parts.
//! - `program.rs`: programs and their entry points as objects. `run.rs`: calls without Python's lock, which Ctrl-C ends.
//!   `canceller.rs`: which another thread ends.
//!   `told.rs`: what was decided in calls, and where their time went. `options.rs`: how programs are executed and bounded. `forks.rs`: children of the process. `error.rs`: exceptions.
//!
//! Invariants: what Python holds is never written, and no result lies in the memory of an argument; the lock is released while a
//! program runs; a session is used by one thread at a time.

mod arrays;
mod canceller;
mod convert;
mod error;
mod forks;
mod options;
mod parts;
mod program;
mod run;
mod told;

use pyo3::prelude::*;

/// The native half of `galopvm`.
#[pymodule]
fn _galopvm(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    forks::watch(py)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("Error", py.get_type::<error::Error>())?;
    module.add("CompileError", py.get_type::<error::CompileError>())?;
    module.add("LoadError", py.get_type::<error::LoadError>())?;
    module.add("RunError", py.get_type::<error::RunError>())?;
    module.add("LimitError", py.get_type::<error::LimitError>())?;
    module.add("Cancelled", py.get_type::<error::Cancelled>())?;
    module.add_class::<canceller::Canceller>()?;
    module.add_class::<program::Program>()?;
    module.add_class::<program::Entry>()?;
    module.add_class::<convert::Opaque>()?;
    module.add_function(wrap_pyfunction!(program::compile, module)?)?;
    module.add_function(wrap_pyfunction!(program::load, module)?)?;
    module.add_function(wrap_pyfunction!(program::from_bytecode, module)?)
}
