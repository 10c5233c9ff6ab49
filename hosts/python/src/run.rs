//! Calls without Python's lock, which Ctrl-C ends.
//!
//! Python tells only its main thread of signals, and only when that thread asks. So the main thread does not wait for a call that
//! takes long: another thread executes it, and the main one asks now and then. That a call takes long is known from the last one
//! of the entry point, or because it is not done after a while: then it begins again on the other thread. That is no
//! difference to the caller: programs are pure, and what Python lends is never written.

use crate::canceller;
use crate::error::exception;
use crate::forks;
use galopvm::{Error, ErrorKind, Limits, Session, Value};
use pyo3::prelude::*;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// A call that takes longer is one that takes long.
const SHORT: Duration = Duration::from_millis(20);

/// How often the main thread asks for signals.
const BETWEEN: Duration = Duration::from_millis(20);

/// The results of a call.
pub type Outcome = Result<Vec<Value>, Error>;

thread_local! {
    /// Whether this is the main thread; known for one process.
    static IS_MAIN: Cell<Option<(usize, bool)>> = const { Cell::new(None) };
}

/// Whether Python tells this thread of signals.
fn is_main(py: Python<'_>) -> PyResult<bool> {
    let process = forks::count();
    if let Some((_, is_main)) = IS_MAIN.get().filter(|known| known.0 == process) {
        return Ok(is_main);
    }
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    let is_main = main.eq(threading.call_method0("get_ident")?)?;
    IS_MAIN.set(Some((process, is_main)));
    Ok(is_main)
}

/// What is known of an entry point's calls.
#[derive(Default)]
pub struct Known {
    takes_long: AtomicBool,
}

impl Known {
    /// A call takes long, as far as is known: it is not begun again, and not counted twice by whoever listens.
    pub fn to_take_long() -> Known {
        Known { takes_long: AtomicBool::new(true) }
    }
}

/// Calls an entry point. What ends it is what the context of the caller has.
pub fn call(
    py: Python<'_>,
    session: &mut Session,
    limits: &Limits,
    entry: &str,
    arguments: &[Value],
    known: &Known,
) -> PyResult<Vec<Value>> {
    let cancellers = canceller::of_call(py)?;
    if cancellers.is_empty() {
        return called(py, session, limits, entry, arguments, known);
    }
    session.set_cancellers(&cancellers);
    let outcome = called(py, session, limits, entry, arguments, known);
    session.set_cancellers([]);
    outcome
}

fn called(
    py: Python<'_>,
    session: &mut Session,
    limits: &Limits,
    entry: &str,
    arguments: &[Value],
    known: &Known,
) -> PyResult<Vec<Value>> {
    let has_short_time = limits.timeout.is_some_and(|time| time <= SHORT);
    if has_short_time || !is_main(py)? {
        return py.detach(|| finished(session, session_call(entry, arguments))).map_err(|e| exception(&e));
    }
    if !known.takes_long.load(Relaxed) {
        session.set_limits(Limits { timeout: Some(SHORT), ..limits.clone() });
        let outcome = py.detach(|| finished(session, session_call(entry, arguments)));
        session.set_limits(limits.clone());
        let is_late = matches!(&outcome, Err(Error::Run(error)) if error.kind == ErrorKind::Timeout);
        if !is_late {
            return outcome.map_err(|e| exception(&e));
        }
        known.takes_long.store(true, Relaxed);
    }
    let begin = Instant::now();
    let outcome = watched(py, session, entry, arguments)?;
    known.takes_long.store(begin.elapsed() > SHORT / 2, Relaxed);
    outcome.map_err(|e| exception(&e))
}

fn session_call<'a>(entry: &'a str, arguments: &'a [Value]) -> impl FnOnce(&mut Session) -> Outcome + 'a {
    move |session| session.call_values(entry, arguments.to_vec())
}

/// Executes a call; results that lie in memory of arguments are copied, so that no change of these is seen in them.
fn finished(session: &mut Session, call: impl FnOnce(&mut Session) -> Outcome) -> Outcome {
    let mut values = call(session)?;
    for value in &mut values {
        if let Value::Array(array) = value
            && array.block().is_foreign()
        {
            *array = array.copy(session.memory()).map_err(|trap| Error::Run(trap.into()))?;
        }
    }
    Ok(values)
}

/// Executes a call on another thread while this one asks for signals.
fn watched(py: Python<'_>, session: &mut Session, entry: &str, arguments: &[Value]) -> PyResult<Outcome> {
    let flag = session.interrupt_flag();
    py.detach(|| {
        std::thread::scope(|scope| {
            let (done, is_done) = channel();
            let worker = scope.spawn(move || {
                let outcome = finished(session, session_call(entry, arguments));
                // The other end waits for this, unless it was told to end.
                let _ = done.send(outcome);
            });
            let told = loop {
                match is_done.recv_timeout(BETWEEN) {
                    Ok(outcome) => break Ok(outcome),
                    Err(RecvTimeoutError::Disconnected) => {
                        break Ok(Err(Error::Internal("the thread of a call ended".into())));
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
                if let Err(signal) = Python::attach(|py| py.check_signals()) {
                    flag.store(true, Relaxed);
                    break Err(signal);
                }
            };
            // A panic of the other thread is its end, which was told above.
            let _ = worker.join();
            flag.store(false, Relaxed);
            told
        })
    })
}
