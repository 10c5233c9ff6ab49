//! The launch that passed the check last: an equal one passes as well.
//!
//! Invariant: all that the check looks at is kept and compared - the region, the arguments, where results go, and of each buffer its
//! length and whether it may be written - so that [`Passed::holds`] never says more than the check would.

use crate::backend::{Argument, Buffer, Launch, ResultView};
use crate::verify::VerifiedRegion;
use smallvec::SmallVec;

/// What passed the check last; nothing at first.
#[derive(Default, Debug)]
pub struct Passed {
    region: Option<VerifiedRegion>,
    arguments: Vec<Argument>,
    results: Vec<ResultView>,
    buffers: SmallVec<[Room; 4]>,
    /// Launches that were another one, since one was equal.
    misses: u32,
}

/// What the check looks at in a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Room {
    bytes: usize,
    is_written: bool,
}

impl Room {
    fn of(buffer: &Buffer<'_>) -> Room {
        Room { bytes: buffer.bytes().len(), is_written: matches!(buffer, Buffer::Write(_)) }
    }
}

impl Passed {
    /// Whether a launch is the one that passed.
    pub(crate) fn holds(&mut self, launch: &Launch<'_>, region: &VerifiedRegion) -> bool {
        let holds = self.arguments[..] == launch.arguments[..]
            && self.results == launch.results
            && self.buffers.iter().copied().eq(launch.buffers.iter().map(Room::of))
            && self.region.as_ref() == Some(region);
        self.misses = if holds { 0 } else { self.misses.saturating_add(1) };
        holds
    }

    /// Keeps a launch that passed. Where each is another one that is seldom done: it would be in vain.
    pub(crate) fn keep(&mut self, launch: &Launch<'_>, region: &VerifiedRegion) {
        if self.misses.is_power_of_two() {
            self.region = Some(region.clone());
            self.arguments.clear();
            self.arguments.extend_from_slice(&launch.arguments);
            self.results.clone_from(&launch.results);
            self.buffers = launch.buffers.iter().map(Room::of).collect();
        }
    }
}
