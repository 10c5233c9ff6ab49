//! Errors as Python's exceptions.

use galopvm::ErrorKind;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;

create_exception!(galopvm, Error, PyException, "What galopvm reports.");
create_exception!(
    galopvm,
    CompileError,
    Error,
    "The source does not compile; the text shows where, with its lines."
);
create_exception!(galopvm, LoadError, Error, "A file cannot be read, or is no program.");
create_exception!(
    galopvm,
    RunError,
    Error,
    "The program failed: an index outside its array, a division by zero, a failed assertion. The text has the call sites."
);
create_exception!(galopvm, LimitError, RunError, "A bound of memory, fuel, time or depth is reached.");
create_exception!(galopvm, Cancelled, RunError, "A canceller ended the call.");

/// The exception of an error.
pub fn exception(error: &galopvm::Error) -> PyErr {
    let text = error.to_string();
    match error {
        galopvm::Error::Compile(_) => CompileError::new_err(text),
        galopvm::Error::Load { .. } => LoadError::new_err(text),
        galopvm::Error::Type(_) => PyTypeError::new_err(text),
        galopvm::Error::Internal(_) => PyRuntimeError::new_err(text),
        galopvm::Error::Run(error) => match error.kind {
            ErrorKind::Usage => PyTypeError::new_err(text),
            ErrorKind::OutOfMemory | ErrorKind::OutOfFuel | ErrorKind::CallDepth | ErrorKind::Timeout => {
                LimitError::new_err(text)
            }
            ErrorKind::Interrupted => Cancelled::new_err("The call was cancelled."),
            ErrorKind::Program | ErrorKind::Input => RunError::new_err(text),
            ErrorKind::Defect => PyRuntimeError::new_err(text),
        },
    }
}
