//! Switches with two thresholds, and the measurement that has the last word.

use crate::layout::pays;

/// Runs between two changes of a decision.
const RUNS_BETWEEN: u64 = 8;

/// Measured runs before a decision is judged.
const RUNS_TO_JUDGE: u32 = 4;

/// Runs for which a decision that measurements contradicted is not taken again.
const RUNS_REMEMBERED: u64 = 256;

/// A decision that is taken when it pays clearly and kept while it nearly pays.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Switch {
    on: bool,
    /// The run in which it changed last.
    changed: Option<u64>,
}

impl Switch {
    /// Whether it is on.
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// Decides anew in run `run`: on from 1.25 times the cost, off below 0.90 times, at most one change in 8 runs.
    pub fn decide(&mut self, run: u64, benefit: u128, cost: u128) -> bool {
        let wanted = pays(benefit, cost, self.on);
        let early = self.changed.is_some_and(|changed| run < changed.saturating_add(RUNS_BETWEEN));
        if wanted != self.on && !early {
            self.on = wanted;
            self.changed = Some(run);
        }
        self.on
    }
}

/// Measured times before and after a decision.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trust {
    before: u64,
    after: u64,
    runs: u32,
    /// Not to be tried before this run.
    until: u64,
}

impl Trust {
    /// A decision is taken that replaces runs of this time.
    pub fn begin(&mut self, before: u64) {
        self.before = before;
        self.after = 0;
        self.runs = 0;
    }

    /// A run under the decision took so long. False if it is to be dropped: four runs on average are not below 0.95
    /// of the time before.
    pub fn measured(&mut self, run: u64, time: u64) -> bool {
        self.after = self.after.saturating_add(time);
        self.runs += 1;
        if self.runs < RUNS_TO_JUDGE {
            return true;
        }
        let limit = u128::from(self.before) * u128::from(self.runs) * 95;
        let better = u128::from(self.after) * 100 < limit;
        self.after = 0;
        self.runs = 0;
        if !better {
            self.until = run.saturating_add(RUNS_REMEMBERED);
        }
        better
    }

    /// Whether the decision may be taken in this run.
    pub fn allows(&self, run: u64) -> bool {
        run >= self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_waits_between_changes() {
        let mut switch = Switch::default();
        assert!(!switch.decide(1, 124, 100));
        assert!(switch.decide(2, 125, 100));
        assert!(switch.decide(5, 10, 100), "changed three runs ago");
        assert!(!switch.decide(10, 10, 100));
    }

    #[test]
    fn measurements_have_the_last_word() {
        let mut trust = Trust::default();
        trust.begin(100);
        assert!([90, 90, 90, 90].iter().enumerate().all(|(k, time)| trust.measured(k as u64, *time)));
        assert!(trust.allows(5));
        let judged: Vec<bool> = (5..9).map(|run| trust.measured(run, 96)).collect();
        assert_eq!(judged, [true, true, true, false]);
        assert!(!trust.allows(9) && !trust.allows(263) && trust.allows(264));
    }
}
