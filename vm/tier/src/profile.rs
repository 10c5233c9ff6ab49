//! What was seen at each parallel operator.

use crate::Site;
use std::fmt;

/// Where an operator was executed last.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Tier {
    /// By the interpreter.
    #[default]
    Interpreter,
    /// By code of this back end.
    Compiled(&'static str),
    /// By kernels that it shares with other operators.
    Group,
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Tier::Interpreter => "interp",
            Tier::Compiled(name) => name,
            Tier::Group => "a group",
        })
    }
}

/// Figures of one site.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SiteProfile {
    /// Executions in all tiers, by itself.
    pub executions: u64,
    /// Executions together with other operators.
    pub grouped: u64,
    /// Iterations of all executions.
    pub elements: u64,
    /// Estimated operations that the interpreter executed.
    pub interpreted_work: u64,
    /// Executions by compiled code.
    pub launches: u64,
    /// Nanoseconds in compiled code. Of short launches, after the first ones, one of several is timed and counts for all of them.
    pub launch_nanos: u64,
    /// Where the last execution happened.
    pub tier: Tier,
    /// Why there.
    pub reason: String,
}

/// Estimated operations of launches each of which is timed.
const LONG: u64 = 1 << 14;

/// Launches each of which is timed, and one of how many is among later ones that are not long: looking at the clock takes as long as
/// a part of them.
const FIRST: u64 = 64;
const ONE_OF: u64 = 16;

impl SiteProfile {
    /// For how many launches the time of the next one stands, of so many operations; 0 if it is not timed.
    pub(crate) fn weight_of_time(&self, work: u64) -> u64 {
        match self.launches {
            ..FIRST => 1,
            _ if work >= LONG => 1,
            launches if launches.is_multiple_of(ONE_OF) => ONE_OF,
            _ => 0,
        }
    }

    /// Notes where an execution happens.
    pub fn choose(&mut self, tier: Tier, reason: &str) {
        self.tier = tier;
        if self.reason != reason {
            self.reason.clear();
            self.reason.push_str(reason);
        }
    }
}

/// A site for people: `rows.fut:3:5-20 map`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SiteName {
    /// Where in the code.
    pub site: Site,
    /// The place in the source or, without a source map, in the bytecode.
    pub place: String,
    /// The instruction's mnemonic.
    pub operator: &'static str,
}

impl fmt::Display for SiteName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.place, self.operator)
    }
}
