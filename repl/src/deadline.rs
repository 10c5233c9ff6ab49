//! Time for what cannot be asked to stop: the process ends when it takes longer.

use crate::failure::{RUN, say};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Something under way; it is done when this is dropped.
pub struct Deadline {
    /// Closed when it is done.
    _under_way: Option<Sender<()>>,
}

impl Deadline {
    /// Something starts that may take this long, or any time.
    pub fn of(what: &'static str, time: Option<Duration>) -> Deadline {
        let Some(time) = time else { return Deadline { _under_way: None } };
        let (under_way, done) = channel();
        let watch = move || {
            if done.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
                say(&format!("Error: {what} took longer than its time of {time:?}."));
                std::process::exit(RUN.into());
            }
        };
        // Without a thread to watch there is no limit.
        let watched = std::thread::Builder::new().spawn(watch).is_ok();
        Deadline { _under_way: watched.then_some(under_way) }
    }
}
