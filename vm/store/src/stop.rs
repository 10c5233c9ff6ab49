//! What ends a call from outside: a flag that somebody sets - its session's, or one of its own - or the end of its time.

use crate::error::{ErrorKind, Trap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Bytes of bulk work between two looks at whether to go on: some milliseconds, with fresh pages.
const BYTES_BETWEEN: usize = galopvm_lmad::PIECE;

/// The flag of a session, those of the running call, and the end of its time. Asking costs little.
#[derive(Clone, Default)]
pub struct Stop {
    flag: Arc<AtomicBool>,
    /// Those that other calls of the session do not look at.
    own: Vec<Arc<AtomicBool>>,
    /// When the time ends, and how much there was.
    end: Option<(Instant, Duration)>,
}

impl Stop {
    /// For a call that starts now.
    #[inline]
    pub fn new(flag: Arc<AtomicBool>, timeout: Option<Duration>) -> Stop {
        // A time that no clock reaches is none.
        let end = timeout.and_then(|time| Some((Instant::now().checked_add(time)?, time)));
        Stop { flag, own: Vec::new(), end }
    }

    /// The same, which these flags end as well.
    pub fn also_by(self, own: Vec<Arc<AtomicBool>>) -> Stop {
        Stop { own, ..self }
    }

    #[inline]
    fn is_interrupted(&self) -> bool {
        self.flag.load(Relaxed) || self.own.iter().any(|own| own.load(Relaxed))
    }

    /// The error to end with, if one of the flags is set.
    #[inline]
    pub fn check_flags(&self) -> Result<(), Trap> {
        match self.is_interrupted() {
            true => Err(Trap::of_kind(ErrorKind::Interrupted, "Interrupted.")),
            false => Ok(()),
        }
    }

    /// Whether the call is to end.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.is_interrupted() || self.end.is_some_and(|(end, _)| Instant::now() >= end)
    }

    /// The error to end with, if the call is to end.
    pub fn check(&self) -> Result<(), Trap> {
        self.check_flags()?;
        match self.end {
            Some((end, time)) if Instant::now() >= end => {
                let message = format!("The program ran longer than its time of {time:?}.");
                Err(Trap::of_kind(ErrorKind::Timeout, message))
            }
            _ => Ok(()),
        }
    }

    /// For bulk work that asks now and then.
    #[inline]
    pub fn pace(&self) -> Pace<'_> {
        Pace { stop: self, left: BYTES_BETWEEN }
    }
}

/// Bulk work under way: says after how many bytes to ask again whether to go on.
pub struct Pace<'s> {
    stop: &'s Stop,
    left: usize,
}

impl Pace<'_> {
    /// The most that may be done at once, in bytes.
    pub const STRETCH: usize = BYTES_BETWEEN;

    /// Counts bytes that are about to be moved; the error to end with, if the call is to end.
    #[inline]
    pub fn go(&mut self, bytes: usize) -> Result<(), Trap> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                self.left = BYTES_BETWEEN;
                self.stop.check()
            }
        }
    }
}
