//! How often the process was forked away: a child has none of its parent's threads.
//!
//! Python says so in the child (`os.register_at_fork`). Whoever keeps what has threads, or may be locked by one, keeps the number
//! with it, and makes it anew when that has changed.

use pyo3::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static FORKS: AtomicUsize = AtomicUsize::new(0);

/// The number of forks that led to this process since the package was loaded.
pub fn count() -> usize {
    FORKS.load(Relaxed)
}

#[pyfunction]
fn forked() {
    FORKS.fetch_add(1, Relaxed);
}

/// Has Python tell of forks, on systems that have them.
pub fn watch(py: Python<'_>) -> PyResult<()> {
    let Some(register) = py.import("os")?.getattr_opt("register_at_fork")? else { return Ok(()) };
    let options = pyo3::types::PyDict::new(py);
    options.set_item("after_in_child", wrap_pyfunction!(forked, py)?)?;
    register.call((), Some(&options)).map(drop)
}
