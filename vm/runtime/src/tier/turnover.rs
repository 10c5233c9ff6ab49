//! Which version of a site goes for another one. What no version is for runs by a generic one, and only what nobody
//! used for long is given up: views that take turns do not compile each other away.
//!
//! Counting is in launches, never in time.

use super::version::Version;
use galopvm_analysis::version::{MISSES, MOST_COUNTED, QUIET_RUNS, UNUSED_RUNS};
use galopvm_kir::ReadId;
use galopvm_kir::backend::StrideClass;

/// How often patience is doubled at most.
const MOST_DOUBLED: u32 = 16;

/// What a launch that no version is for looks like: the classes of its strides, and the reads that are proven for it.
type Missed = (Vec<StrideClass>, Vec<ReadId>);

/// The launches of a site, as far as versions depend on them.
#[derive(Default)]
pub(super) struct Turnover {
    launches: u64,
    misses: Vec<(Missed, u32)>,
    /// How often patience was doubled: each time that a version had to go.
    doubled: u32,
    last_miss: u64,
}

impl Turnover {
    /// Counts a launch, and gives its number.
    pub(super) fn count(&mut self) -> u64 {
        self.launches += 1;
        self.launches
    }

    /// Counts a launch that no version is for while there is no room for another one. Gives the position of the version
    /// to give up, if it is time to.
    pub(super) fn miss(&mut self, missed: Missed, versions: &[Version]) -> Option<usize> {
        if self.launches.saturating_sub(self.last_miss) > QUIET_RUNS {
            self.doubled = 0;
        }
        self.last_miss = self.launches;
        let at = match self.misses.iter().position(|(known, _)| *known == missed) {
            Some(at) => at,
            None => {
                if self.misses.len() == MOST_COUNTED {
                    self.misses.remove(0);
                }
                self.misses.push((missed, 0));
                self.misses.len() - 1
            }
        };
        let count = &mut self.misses[at].1;
        *count = count.saturating_add(1);
        if *count < MISSES << self.doubled {
            return None;
        }
        let special = versions.iter().enumerate().filter(|(_, version)| !version.key.is_generic);
        let (oldest, version) = special.min_by_key(|(_, version)| version.used)?;
        if self.launches.saturating_sub(version.used) <= UNUSED_RUNS {
            return None;
        }
        self.misses.remove(at);
        self.doubled = (self.doubled + 1).min(MOST_DOUBLED);
        Some(oldest)
    }
}
