//! Loops around operators, in blocks of rounds, or round after round.
//!
//! A loop that changes an array in its place, round by round, is a site of its own if blocks of its rounds give the same
//! (`vm/analysis/src/rounds/`). The code of such a loop runs on one thread: where there are many, they share the operators of
//! a round, unless these are too small for that. Where they are so small that launches take most of the time, code does the loop as
//! it stands.

use super::{Event, SiteState, Tiers};
use crate::Site;
use galopvm_analysis::rounds;
use galopvm_lift::{LiftRefusal, Lifted};

/// Threads that, sharing the operators of each round, take as long as one that does blocks of rounds.
const THREADS_FOR_BLOCKS: usize = 4;

impl Tiers {
    /// The number of the site that a loop in blocks of rounds is; none where it is better executed round by round.
    pub fn rounds_site(&mut self, site: Site, work: u64, turns: i64) -> Option<u32> {
        let is_shared = self.tiering.machine.threads > THREADS_FOR_BLOCKS
            && work / turns.max(1).unsigned_abs() >= self.tiering.machine.thread_grain;
        if !self.has_backends() || is_shared {
            return None;
        }
        let known = self.rounds.get(&site).copied();
        let number = known.unwrap_or_else(|| {
            let number = self.sites.len() as u32;
            self.sites.push(SiteState { in_blocks: true, ..SiteState::default() });
            self.names.push(site);
            self.rounds.insert(site, number);
            number
        });
        (!self.is_no_kernel(number)).then_some(number)
    }

    /// The number of the site that a loop around small operators is, code of which does all rounds as they stand; none where
    /// there can be no such code.
    pub fn small_rounds_site(&mut self, site: Site) -> Option<u32> {
        let number = self.loop_site(site);
        (!self.is_no_kernel(number)).then_some(number)
    }

    /// Whether a site is known to be no kernel.
    pub fn is_no_kernel(&self, site: u32) -> bool {
        matches!(self.sites[site as usize].lifted, Some(Err(_)))
    }

    /// A loop in blocks of rounds.
    pub(super) fn in_blocks(&self, site: u32, lifted: Lifted) -> Result<Lifted, LiftRefusal> {
        let (rounds, reason) = rounds::choose(&self.tiering.machine);
        let region = rounds::block(&lifted.region, rounds)
            .map_err(|reason| LiftRefusal::new(format!("no blocks of rounds: {reason}")))?;
        self.tell(site, |name| Event::InBlocks { site: name, rounds, reason: &reason });
        Ok(Lifted { region, ..lifted })
    }
}
