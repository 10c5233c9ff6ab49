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
    /// Nanoseconds in compiled code.
    pub launch_nanos: u64,
    /// Where the last execution happened.
    pub tier: Tier,
    /// Why there.
    pub reason: String,
}

impl SiteProfile {
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
