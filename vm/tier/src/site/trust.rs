//! Whether measurements bear out what was decided: the time of a piece of work before has the last word.
//!
//! ```text
//!                  a run without             a run under the decision
//!     UNTIMED ───────────────────▶ TRUSTED ──────────────────────────▶ MEASURED, run by run
//!     (allowed for a few runs)        ▲                                      │ after four: not below
//!                                     │ 256 runs later                       │ 0.95 of the time before
//!                                     └───────────── DISTRUSTED ◀────────────┘
//! ```

use std::fmt;

/// Runs in which a decision is followed though no time before is known; the next one goes without.
const RUNS_UNTIMED: u64 = 4;

/// Measured runs before a decision is judged.
const RUNS_TO_JUDGE: u32 = 4;

/// Runs for which a decision that measurements contradicted is not followed.
const RUNS_REMEMBERED: u64 = 256;

/// What measurements say of a decision.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    runs: u64,
    /// The least time of a piece of work without the decision.
    before: Option<u64>,
    measured: Option<Measured>,
    /// The run from which on the decision is followed again.
    until: u64,
}

/// Runs under a decision.
#[derive(Clone, Copy, Debug)]
struct Measured {
    /// The time that they are compared with.
    before: u64,
    /// Their times together.
    after: u64,
    runs: u32,
}

impl Trust {
    /// Whether the decision is followed in the next run.
    pub fn allows(&self) -> bool {
        (self.before.is_some() || self.runs < RUNS_UNTIMED) && self.runs >= self.until
    }

    /// A run took so long for a piece of work, under the decision or without it.
    pub fn ran(&mut self, time: u64, is_under: bool) {
        self.runs += 1;
        let Some(before) = self.before else {
            self.before = (!is_under).then_some(time);
            return;
        };
        if !is_under {
            self.before = Some(before.min(time));
            return;
        }
        // The first run is not counted: it may have compiled.
        let Some(measured) = &mut self.measured else {
            self.measured = Some(Measured { before, after: 0, runs: 0 });
            return;
        };
        measured.after = measured.after.saturating_add(time);
        measured.runs += 1;
        if measured.runs < RUNS_TO_JUDGE {
            return;
        }
        let limit = u128::from(measured.before) * u128::from(measured.runs) * 95;
        if u128::from(measured.after) * 100 < limit {
            (measured.after, measured.runs) = (0, 0);
        } else {
            self.measured = None;
            self.until = self.runs.saturating_add(RUNS_REMEMBERED);
        }
    }
}

impl fmt::Display for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.before, &self.measured) {
            _ if self.runs < self.until => write!(f, "distrusted until {}", self.until)?,
            (None, _) => f.write_str("untimed")?,
            (Some(_), None) => f.write_str("trusted")?,
            (Some(_), Some(measured)) => write!(f, "measured in {} of {RUNS_TO_JUDGE}", measured.runs)?,
        }
        f.write_str(if self.allows() { ", allowed" } else { ", not allowed" })
    }
}
