//! Time that a thread had the processor, where the system says so: the machine may have other things to do.

use std::time::{Duration, Instant};

/// A moment that time is measured from.
pub enum Clock {
    /// What the thread had used by then.
    Busy(Duration),
    /// The system does not say.
    Wall(Instant),
}

impl Clock {
    /// Now.
    pub fn start() -> Clock {
        busy().map_or_else(|| Clock::Wall(Instant::now()), Clock::Busy)
    }

    /// What the thread used since.
    pub fn elapsed(&self) -> Duration {
        match self {
            Clock::Busy(start) => busy().unwrap_or_default().saturating_sub(*start),
            Clock::Wall(start) => start.elapsed(),
        }
    }
}

fn busy() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}
