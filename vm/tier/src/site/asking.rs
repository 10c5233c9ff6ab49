//! The machine of a question at a site: whether it may be put in this run.

use super::rules::Rules;
use galopvm_analysis::layout::pays;
use std::fmt;

/// Runs between two changes of whether answers pay.
const RUNS_BETWEEN: u64 = 8;

/// A question at a site.
#[derive(Clone, Debug)]
pub struct Asking {
    rules: &'static Rules,
    /// Runs of the site in which the question could be put.
    runs: u64,
    /// Answers that were made, and the nanoseconds that they took.
    made: u32,
    spent: u64,
    /// Nanoseconds of the runs that answers served.
    served: u64,
    /// Whether answers pay, and the run in which that changed last.
    pays: bool,
    changed: Option<u64>,
    /// Answers of no use since one helped, and how often the site has waited since.
    fruitless: u32,
    waits: u32,
    /// The run from which on the question is put again.
    until: u64,
    failures: u32,
}

/// Where a question stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// The site has not run often enough.
    Cold,
    /// The question may be put without asking whether it pays.
    Free,
    /// The question may be put as long as that takes a small part of the time served.
    Paying,
    /// Answers have taken too large a part of that time.
    Dear,
    /// The last answers were of no use.
    Waiting {
        /// The run in which the question may be put again.
        until: u64,
    },
    /// The question is not put again.
    GivenUp,
}

impl Asking {
    /// A site that nobody came to.
    pub const fn new(rules: &'static Rules) -> Asking {
        Asking {
            rules,
            runs: 0,
            made: 0,
            spent: 0,
            served: 0,
            pays: false,
            changed: None,
            fruitless: 0,
            waits: 0,
            until: 0,
            failures: 0,
        }
    }

    /// The site runs: once for each time that the question could be put.
    pub fn come(&mut self) {
        self.runs += 1;
    }

    /// Whether the question may be put in the run that begins.
    pub fn comes_to_ask(&mut self) -> bool {
        self.come();
        self.may_ask()
    }

    /// Whether the question may be put in this run.
    pub fn may_ask(&mut self) -> bool {
        matches!(self.state(), State::Free | State::Paying)
    }

    /// Whether a question that takes so many times the time of those before it fits into the part of the time served.
    pub fn may_spend(&self, times: u64) -> bool {
        let each = self.spent / u64::from(self.made.max(1));
        self.spent.saturating_add(each.saturating_mul(times)) <= self.served / self.rules.part
    }

    /// Where the question stands in this run.
    pub fn state(&mut self) -> State {
        if self.is_given_up() {
            return State::GivenUp;
        }
        if self.runs < self.until {
            return State::Waiting { until: self.until };
        }
        if self.runs <= self.rules.cold {
            return State::Cold;
        }
        if self.made < self.rules.free {
            return State::Free;
        }
        let pays = pays((self.served / self.rules.part).into(), self.spent.into(), self.pays);
        let is_early = self.changed.is_some_and(|changed| self.runs < changed.saturating_add(RUNS_BETWEEN));
        if pays != self.pays && !is_early {
            (self.pays, self.changed) = (pays, Some(self.runs));
        }
        if self.pays { State::Paying } else { State::Dear }
    }

    /// Whether the question is not put any more.
    pub fn is_given_up(&self) -> bool {
        self.failures >= self.rules.failures
    }

    /// An answer was made in so many nanoseconds.
    pub fn made(&mut self, nanos: u64) {
        self.made = self.made.saturating_add(1);
        self.spent = self.spent.saturating_add(nanos);
    }

    /// A run of so many nanoseconds was served by an answer.
    pub fn served(&mut self, nanos: u64) {
        self.served = self.served.saturating_add(nanos);
    }

    /// An answer was of use, or of none.
    pub fn learn(&mut self, is_useful: bool) {
        if is_useful {
            (self.fruitless, self.waits) = (0, 0);
            return;
        }
        self.fruitless = self.fruitless.saturating_add(1);
        if self.fruitless >= self.rules.fruitless {
            let wait = (self.rules.first_wait << self.waits.min(30)).min(self.rules.longest_wait);
            self.until = self.runs.saturating_add(wait);
            self.waits += 1;
            // After the wait one more of no use is enough.
            self.fruitless = self.rules.fruitless - 1;
        }
    }

    /// What was answered did not come off.
    pub fn fail(&mut self) {
        self.failures = self.failures.saturating_add(1);
    }

    /// The question is not put again.
    pub fn give_up(&mut self) {
        self.failures = self.rules.failures;
    }

    /// The failures so far were those of an answer that is not given again.
    pub fn forgive(&mut self) {
        self.failures = 0;
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            State::Cold => f.write_str("cold"),
            State::Free => f.write_str("free"),
            State::Paying => f.write_str("paying"),
            State::Dear => f.write_str("dear"),
            State::Waiting { until } => write!(f, "waiting until {until}"),
            State::GivenUp => f.write_str("given up"),
        }
    }
}
