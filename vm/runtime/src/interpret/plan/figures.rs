//! What plans cost and what they gave, counted.

use std::time::Duration;

/// What plans cost and what they gave in a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PlanFigures {
    /// Functions, loops and rounds that were recorded and analysed.
    pub made: u64,
    /// Of those, that got a plan.
    pub useful: u64,
    /// Time of all analyses.
    pub making: Duration,
    /// Time of the longest one.
    pub longest: Duration,
    /// Runs whose numbers were known already: with a plan, or known to have none.
    pub found: u64,
    /// Time that finding these took.
    pub finding: Duration,
    /// Time that the longest one took.
    pub longest_find: Duration,
    /// Runs with a plan.
    pub applied: u64,
    /// Analyses that were done once more with ten times the effort, since a limit had cut them short.
    pub thorough: u64,
    /// Blocks that were made in memory that is set aside: at their place of a region's block, or in turn.
    pub merged: u64,
    /// Plans that were given up to make room for others.
    pub dropped: u64,
}

impl PlanFigures {
    /// An analysis took so long.
    pub(super) fn count_made(&mut self, time: Duration, is_useful: bool) {
        self.made += 1;
        self.useful += u64::from(is_useful);
        self.making += time;
        self.longest = self.longest.max(time);
    }

    /// Known numbers were found in this time.
    pub(super) fn count_found(&mut self, time: Duration) {
        self.found += 1;
        self.finding += time;
        self.longest_find = self.longest_find.max(time);
    }

    /// A question was answered in this time, with something to apply or not.
    pub(crate) fn count(&mut self, time: Duration, is_useful: bool, is_known: bool) {
        match is_known {
            true => self.count_found(time),
            false => self.count_made(time, is_useful),
        }
        self.applied += u64::from(is_useful);
    }
}
