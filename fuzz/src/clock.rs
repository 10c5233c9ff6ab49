//! Time that somebody had the processor, where the system says so: the machine may have other things to do.

use std::time::{Duration, Instant};

/// A moment that time is measured from.
pub enum Clock {
    /// What the thread had used by then.
    Busy(Duration),
    /// Several threads work, and other cases beside them: the moment, and what the whole process had used by then, if the
    /// system says so.
    Together(Instant, Option<Duration>),
}

impl Clock {
    /// Now, for what the calling thread does alone.
    pub fn start() -> Clock {
        busy().map_or_else(Clock::together, Clock::Busy)
    }

    /// Now, for what other threads may do as well.
    pub fn together() -> Clock {
        Clock::Together(Instant::now(), process())
    }

    /// What was used since, at most: a process that was kept from working all the time did not do it for this either.
    pub fn elapsed(&self) -> Duration {
        match self {
            Clock::Busy(start) => busy().unwrap_or_default().saturating_sub(*start),
            Clock::Together(moment, used) => {
                let wall = moment.elapsed();
                match (used, process()) {
                    (Some(start), Some(now)) => wall.min(now.saturating_sub(*start)),
                    _ => wall,
                }
            }
        }
    }
}

/// What the calling thread had.
fn busy() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// What all threads of the process had, those that ended as well: user and system time are the 14th and 15th field, in
/// hundredths of seconds. The second one is a name in parentheses that may hold anything.
fn process() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let (_, fields) = text.rsplit_once(") ")?;
    let fields: Vec<u64> = fields.split(' ').skip(11).take(2).map_while(|field| field.parse().ok()).collect();
    (fields.len() == 2).then(|| Duration::from_millis(fields.iter().sum::<u64>() * 10))
}
