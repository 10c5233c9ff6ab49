//! What ends calls from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Ends the calls of the sessions that it was set for, from any thread. Once it has cancelled it stays so: with one for each call, a
/// thread that comes too late ends no other call.
///
/// ```
/// use galopvm::{Canceller, Engine, Error, ErrorKind, Program};
/// use std::time::Duration;
///
/// # fn main() -> Result<(), Error> {
/// let program = Program::from_source("spin.fut", "entry spin (n: i64): i64 = loop x = 0 for i < n do (x ^ i) + 1")?;
/// let mut session = Engine::new().session(&program);
///
/// let canceller = Canceller::new();
/// session.set_cancellers([&canceller]);
/// let other = std::thread::spawn({
///     let canceller = canceller.clone();
///     move || {
///         std::thread::sleep(Duration::from_millis(20));
///         canceller.cancel();
///     }
/// });
/// let ended = session.call::<i64>("spin", (i64::MAX,)).unwrap_err();
/// assert!(matches!(ended, Error::Run(error) if error.kind == ErrorKind::Interrupted));
/// other.join().unwrap();
/// assert!(canceller.is_cancelled());
///
/// // The next call has another one, or none.
/// session.set_cancellers([&Canceller::new()]);
/// assert_eq!(session.call::<i64>("spin", (1i64,))?, 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Canceller(Arc<AtomicBool>);

impl Canceller {
    /// One that has not cancelled.
    pub fn new() -> Canceller {
        Canceller::default()
    }

    /// Ends the running calls that it was set for, and whichever begin while it is set.
    pub fn cancel(&self) {
        self.0.store(true, Relaxed);
    }

    /// Whether it has cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Relaxed)
    }

    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }
}

/// A flag that a host has already, such as one that a signal sets.
impl From<Arc<AtomicBool>> for Canceller {
    fn from(flag: Arc<AtomicBool>) -> Canceller {
        Canceller(flag)
    }
}
