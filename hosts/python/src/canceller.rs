//! What ends calls from another thread: `with galopvm.Canceller() as canceller:`, and `canceller.cancel()` elsewhere.
//!
//! Which cancellers a call has is told by its context, as Python knows it (`contextvars`): that of the thread, of a task, or of what
//! `asyncio.to_thread` executes.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Ends the calls inside of its `with` blocks, from any thread. Once it has cancelled it stays so.
#[pyclass(frozen, weakref, module = "galopvm")]
pub struct Canceller(galopvm::Canceller);

/// Whether a context may have one at all: most programs have none.
static ARE_USED: AtomicBool = AtomicBool::new(false);

/// The variable with a tuple of the cancellers of a context, the outermost first.
fn variable(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static VARIABLE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let made = VARIABLE.get_or_try_init(py, || {
        let options = pyo3::types::PyDict::new(py);
        options.set_item("default", PyTuple::empty(py))?;
        let class = py.import("contextvars")?.getattr("ContextVar")?;
        class.call(("galopvm.cancellers",), Some(&options)).map(Bound::unbind)
    })?;
    Ok(made.bind(py))
}

/// Those of the current context.
fn current(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
    Ok(variable(py)?.call_method0(intern!(py, "get"))?.cast_into()?)
}

/// What ends the calls of the current context.
pub fn of_call(py: Python<'_>) -> PyResult<Vec<galopvm::Canceller>> {
    if !ARE_USED.load(Relaxed) {
        return Ok(Vec::new());
    }
    current(py)?.iter().map(|one| Ok(one.cast::<Canceller>()?.get().0.clone())).collect()
}

#[pymethods]
impl Canceller {
    #[new]
    fn new() -> Canceller {
        Canceller(galopvm::Canceller::new())
    }

    /// Ends the calls inside of its `with` blocks, those that run and those that begin.
    fn cancel(&self) {
        self.0.cancel();
    }

    /// Whether it has cancelled.
    #[getter]
    fn cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    fn __enter__<'py>(slf: &Bound<'py, Canceller>) -> PyResult<Bound<'py, Canceller>> {
        let py = slf.py();
        ARE_USED.store(true, Relaxed);
        let with_this = current(py)?.as_sequence().concat(PyTuple::new(py, [slf])?.as_sequence())?;
        variable(py)?.call_method1(intern!(py, "set"), (with_this,))?;
        Ok(slf.clone())
    }

    #[pyo3(signature = (*_how))]
    fn __exit__(&self, py: Python<'_>, _how: &Bound<'_, PyTuple>) -> PyResult<()> {
        let all = current(py)?;
        let outer = all.get_slice(0, all.len().saturating_sub(1));
        variable(py)?.call_method1(intern!(py, "set"), (outer,)).map(drop)
    }
}
