//! Whether a copy of an array into another layout pays: gates, hysteresis, the least number of runs.
//!
//! A gate says "no" before anything is compared: where nothing can be gained, or where a copy could cost more than the
//! accesses that it would help. What passes is switched on if the benefit of the expected runs is 1.25 times the cost,
//! and stays on while it is 0.9 times.
//!
//! Text: `manifest A (1,0) : cost 6291456 ; x0 lane i : time 16777216 -> 2097152 ; benefit 14680064 ; min_runs 1`.

use std::fmt;

/// Why a copy is out of the question.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Gate {
    /// The lanes are neighbours, or all at one place, already.
    Class,
    /// The array stays in the first cache, and only cache lines would be saved.
    Fit,
    /// Fewer elements would be read than copied.
    Uses,
    /// All reads together take no longer than the copy.
    Cap,
    /// Another value in each round of a loop: a copy for each use.
    Accumulator,
    /// There is no memory for it.
    Memory,
}

impl Gate {
    /// The word in text.
    pub fn word(self) -> &'static str {
        match self {
            Gate::Class => "NEVER-CLASS",
            Gate::Fit => "NEVER-FIT",
            Gate::Uses => "NEVER-USES",
            Gate::Cap => "NEVER-CAP",
            Gate::Accumulator => "NEVER-ACC",
            Gate::Memory => "NEVER-MEM",
        }
    }
}

/// Everything the decision looks at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Question {
    /// No access that would use the copy is strided.
    pub best_already: bool,
    /// The array stays in the first cache of a CPU.
    pub fits: bool,
    /// The classes stay as they are; what is saved is cache lines.
    pub misses_only: bool,
    /// How often the accesses are expected to run on this value of the array.
    pub runs: u64,
    /// Elements read in one run.
    pub read: u64,
    /// Elements of the array.
    pub elements: u64,
    /// Time of a run as it is.
    pub before: u64,
    /// Time of a run with the copy.
    pub after: u64,
    /// Cost of the copy.
    pub cost: u64,
    /// A loop gives the array another value in each round.
    pub rebuilt: bool,
    /// Bytes of the copy.
    pub bytes: u64,
    /// Bytes that may be used for copies.
    pub budget: u64,
    /// The copy is there.
    pub held: bool,
}

/// The decision.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Verdict {
    /// However often it runs.
    Never(Option<Gate>),
    /// Not for so many runs.
    No(Option<Gate>),
    /// It pays; the copy is made or kept.
    Manifest,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Never(None) => f.write_str("manifest never"),
            Verdict::Never(Some(gate)) => write!(f, "manifest never ({})", gate.word()),
            Verdict::No(None) => f.write_str("manifest no"),
            Verdict::No(Some(gate)) => write!(f, "manifest no ({})", gate.word()),
            Verdict::Manifest => f.write_str("manifest"),
        }
    }
}

impl Question {
    /// Time saved in a run.
    pub fn benefit(&self) -> i64 {
        let difference = i128::from(self.before) - i128::from(self.after);
        i64::try_from(difference).unwrap_or(if difference > 0 { i64::MAX } else { i64::MIN })
    }

    /// The least number of runs that pays, by the threshold for switching on.
    pub fn min_runs(&self) -> Option<u64> {
        let benefit = u128::try_from(self.benefit()).ok().filter(|benefit| *benefit > 0)?;
        u64::try_from((5 * u128::from(self.cost)).div_ceil(4 * benefit)).ok()
    }

    /// The decision.
    pub fn judge(&self) -> Verdict {
        let runs = u128::from(self.runs);
        let gain = runs * u128::try_from(self.benefit()).unwrap_or(0);
        let cost = u128::from(self.cost);
        if self.best_already {
            Verdict::Never(Some(Gate::Class))
        } else if self.fits && self.misses_only {
            Verdict::Never(Some(Gate::Fit))
        } else if self.benefit() <= 0 {
            Verdict::Never(None)
        } else if runs * u128::from(self.read) < u128::from(self.elements) {
            Verdict::No(Some(Gate::Uses))
        } else if runs * u128::from(self.before) <= cost {
            Verdict::No(Some(Gate::Cap))
        } else if self.rebuilt {
            Verdict::Never(Some(Gate::Accumulator))
        } else if self.bytes > self.budget {
            Verdict::No(Some(Gate::Memory))
        } else if pays(gain, cost, self.held) {
            Verdict::Manifest
        } else {
            Verdict::No(None)
        }
    }
}

/// The thresholds: 5/4 for switching on, 9/10 for staying on.
pub fn pays(gain: u128, cost: u128, held: bool) -> bool {
    match held {
        true => gain.saturating_mul(10) >= cost.saturating_mul(9),
        false => gain.saturating_mul(4) >= cost.saturating_mul(5),
    }
}

/// A number of runs in text.
pub fn runs_text(runs: Option<u64>) -> String {
    runs.map_or("never".into(), |runs| runs.to_string())
}
