//! Which of a few answers goes for another one. What no answer is for is served by a general one; only what nobody used for long
//! is given up: launches that take turns do not compile each other's code away.
//!
//! ```text
//!     a miss of a kind ──▶ COUNTED ──(8 of that kind, twice as many after each change)──▶ DUE
//!     DUE ──(the answer used least lately was not used in 64 launches)──▶ that one goes
//!     256 launches without a miss ──▶ 8 again
//! ```
//!
//! Counting is in launches, never in time.

use super::memo::Memo;

/// Answers beside the general one.
pub const MOST_VERSIONS: usize = 4;

/// Misses of one kind that make an answer for it.
const MISSES: u32 = 8;

/// How often that number is doubled at most.
const MOST_DOUBLED: u32 = 16;

/// Kinds of misses that are counted.
const MOST_COUNTED: usize = 64;

/// Launches without use before an answer may be given up.
const UNUSED_LAUNCHES: u64 = 64;

/// Launches without a miss after which the number of misses is the first one again.
const QUIET_LAUNCHES: u64 = 256;

/// The launches of a site, as far as its answers depend on them.
#[derive(Debug)]
pub struct Turnover {
    launches: u64,
    misses: Memo<u32>,
    doubled: u32,
    last_miss: u64,
}

impl Default for Turnover {
    fn default() -> Turnover {
        Turnover { launches: 0, misses: Memo::new(MOST_COUNTED), doubled: 0, last_miss: 0 }
    }
}

impl Turnover {
    /// Counts a launch, and gives its number.
    pub fn launch(&mut self) -> u64 {
        self.launches += 1;
        self.launches
    }

    /// Counts a launch of a kind that no answer is for while there is no room for another one. `used` are the positions of the
    /// answers that may go, each with the launch that used it last. Gives the one that goes, if it is time to.
    pub fn miss(&mut self, kind: &[u64], used: impl Iterator<Item = (usize, u64)>) -> Option<usize> {
        if self.launches.saturating_sub(self.last_miss) > QUIET_LAUNCHES {
            self.doubled = 0;
        }
        self.last_miss = self.launches;
        let count = match self.misses.find(kind) {
            Some(count) => {
                *count = count.saturating_add(1);
                *count
            }
            None => {
                self.misses.keep(kind, 1, 1);
                1
            }
        };
        if count < MISSES << self.doubled {
            return None;
        }
        let (oldest, last) = used.min_by_key(|(_, last)| *last)?;
        if self.launches.saturating_sub(last) <= UNUSED_LAUNCHES {
            return None;
        }
        self.misses.keep(kind, 0, 1);
        self.doubled = (self.doubled + 1).min(MOST_DOUBLED);
        Some(oldest)
    }
}
