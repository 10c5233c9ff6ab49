//! Time and memory for what cannot be asked to stop: the process ends when it takes more.

use crate::failure::{RUN, say};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Time between two looks at the memory in use.
const LOOK: Duration = Duration::from_millis(5);

/// The most that something may take, if there is a bound.
#[derive(Clone, Copy, Default)]
pub struct Bounds {
    /// Bytes besides those that the process has already.
    pub memory: Option<u64>,
    /// Time.
    pub time: Option<Duration>,
}

/// Something under way; it is done when this is dropped.
pub struct Deadline {
    /// Closed when it is done.
    _under_way: Option<Sender<()>>,
}

impl Bounds {
    /// Something starts that may take this much.
    pub fn watch(self, what: &'static str) -> Deadline {
        // Without a way to see the memory in use there is no limit to it.
        let memory = self.memory.zip(in_use()).map(|(most, now)| (most, now.saturating_add(most)));
        if memory.is_none() && self.time.is_none() {
            return Deadline { _under_way: None };
        }
        let (under_way, done) = channel();
        let start = Instant::now();
        let watch = move || {
            loop {
                let left = self.time.map(|time| time.saturating_sub(start.elapsed()));
                let wait = match memory {
                    Some(_) => left.map_or(LOOK, |left| left.min(LOOK)),
                    None => left.unwrap_or(Duration::MAX),
                };
                if done.recv_timeout(wait) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
                if let Some(time) = self.time.filter(|time| start.elapsed() >= *time) {
                    end(&format!("{what} took longer than its time of {time:?}."));
                }
                if let Some((most, end_of)) = memory
                    && in_use().is_some_and(|now| now > end_of)
                {
                    end(&format!("Out of memory: {what} takes more, and the limit is {most} bytes."));
                }
            }
        };
        // Without a thread to watch there is no limit.
        let watched = std::thread::Builder::new().spawn(watch).is_ok();
        Deadline { _under_way: watched.then_some(under_way) }
    }
}

impl Deadline {
    /// Something starts that may take this long, or any time.
    pub fn of(what: &'static str, time: Option<Duration>) -> Deadline {
        Bounds { memory: None, time }.watch(what)
    }
}

/// Ends the process as a run that reached a limit ends.
fn end(why: &str) {
    say(&format!("Error: {why}"));
    std::process::exit(RUN.into());
}

/// The bytes of memory that the process has, if the system says it.
fn in_use() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}
