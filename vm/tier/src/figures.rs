//! What plans cost and what they gave, counted.

use std::time::{Duration, Instant};

/// The parts of an analysis, one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PlanPhases {
    /// Recording a region, or gathering what is known of a kernel.
    pub record: Duration,
    /// Finding out: circuits, what sets are read and changed, the cheapest sequence.
    pub analyse: Duration,
    /// From verdicts to what is applied: schedules and places, advice, the elements that change.
    pub plan: Duration,
    /// Going through it once more, by a checker that shares nothing with the analyses.
    pub check: Duration,
}

impl PlanPhases {
    /// All of them together.
    pub fn sum(&self) -> Duration {
        self.record + self.analyse + self.plan + self.check
    }

    /// Another analysis was made.
    pub fn add(&mut self, other: &PlanPhases) {
        self.record += other.record;
        self.analyse += other.analyse;
        self.plan += other.plan;
        self.check += other.check;
    }
}

/// Takes the times of phases.
pub struct Watch(Instant);

impl Watch {
    /// Starts now.
    pub fn start() -> Watch {
        Watch(Instant::now())
    }

    /// The time since the start, or since this was asked last.
    pub fn lap(&mut self) -> Duration {
        let before = std::mem::replace(&mut self.0, Instant::now());
        self.0.duration_since(before)
    }
}

/// What plans cost and what they gave in a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PlanFigures {
    /// Functions, loops and rounds that were recorded and analysed.
    pub made: u64,
    /// Of those, that got a plan.
    pub useful: u64,
    /// Time of all analyses.
    pub making: Duration,
    /// The same by phase.
    pub phases: PlanPhases,
    /// Time of the longest one.
    pub longest: Duration,
    /// The same by phase.
    pub longest_phases: PlanPhases,
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
    /// Plans that the checker refused.
    pub refused: u64,
    /// Plans that were given up to make room for others.
    pub dropped: u64,
}

impl PlanFigures {
    /// An analysis took so long.
    pub fn count_made(&mut self, time: Duration, phases: &PlanPhases, is_useful: bool) {
        self.made += 1;
        self.useful += u64::from(is_useful);
        self.making += time;
        self.phases.add(phases);
        if time > self.longest {
            (self.longest, self.longest_phases) = (time, *phases);
        }
    }

    /// Known numbers were found in this time.
    pub fn count_found(&mut self, time: Duration) {
        self.found += 1;
        self.finding += time;
        self.longest_find = self.longest_find.max(time);
    }

    /// A question was answered in this time, with something to apply or not; `phases` if it was not known.
    pub fn count(&mut self, time: Duration, is_useful: bool, phases: Option<&PlanPhases>) {
        match phases {
            None => self.count_found(time),
            Some(phases) => self.count_made(time, phases, is_useful),
        }
        self.applied += u64::from(is_useful);
    }
}
