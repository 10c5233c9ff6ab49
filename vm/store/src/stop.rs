//! What ends a call from outside: a flag that somebody sets, or the end of its time.

use crate::error::{ErrorKind, Trap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Bytes of bulk work between two looks at whether to go on: some milliseconds, with fresh pages.
const BYTES_BETWEEN: usize = galopvm_lmad::PIECE;

/// The flag of a session and the end of the running call's time. Asking costs little.
#[derive(Clone, Default)]
pub struct Stop {
    flag: Arc<AtomicBool>,
    /// When the time ends, and how much there was.
    end: Option<(Instant, Duration)>,
}

impl Stop {
    /// For a call that starts now.
    #[inline]
    pub fn new(flag: Arc<AtomicBool>, timeout: Option<Duration>) -> Stop {
        // A time that no clock reaches is none.
        let end = timeout.and_then(|time| Some((Instant::now().checked_add(time)?, time)));
        Stop { flag, end }
    }

    /// Whether the call is to end.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.flag.load(Relaxed) || self.end.is_some_and(|(end, _)| Instant::now() >= end)
    }

    /// The error to end with, if the call is to end.
    pub fn check(&self) -> Result<(), Trap> {
        if self.flag.load(Relaxed) {
            return Err(Trap::of_kind(ErrorKind::Interrupted, "Interrupted."));
        }
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
