//! What is kept of a run: regions, operators, and what became of results, until a document is made of them.

use super::document::Reason;
use super::names::{Lines, Names};
use super::words;
use galopvm_analysis::circuit::Circuits;
use galopvm_analysis::layout::{Costs, Means, Target};
use galopvm_bytecode::{FuncId, Module, Place, RegId, Scope};
use galopvm_kir::{Machine, Observed};
use galopvm_lift::Lifted;
use galopvm_lift::region::Recorded;
use galopvm_tier::FormTaken;
use galopvm_tier::told::{Unasked, Unplanned};
use std::collections::{BTreeMap, BTreeSet};

/// A region that was told.
pub(super) struct KeptRegion {
    pub function: FuncId,
    pub scope: Scope,
    pub place: Option<Place>,
    pub micros: u64,
    /// The region with its verdicts, or why there is none.
    pub recorded: Result<(Recorded, Circuits), String>,
}

/// An operator that was told, at its largest execution.
pub(super) struct KeptOperator {
    pub place: String,
    pub operator: &'static str,
    pub width: i64,
    pub work: u64,
    pub kernel: Result<(Lifted, Observed), String>,
    pub form: FormTaken,
}

/// What became of a result that could have been written over an array.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Happened {
    /// It was written over this register's array.
    Over(RegId),
    /// The analysis says no, or not with what dies here.
    No,
    /// Nobody asked.
    Unasked(Unasked),
}

/// How a function, loop or round ran.
#[derive(Clone, Default)]
pub(super) struct Ran {
    /// How often with a plan.
    pub planned: u64,
    /// The registers that were not made in a block of their own then.
    pub moved: BTreeSet<RegId>,
    /// How often without one, and why.
    pub unplanned: BTreeMap<Unplanned, u64>,
}

impl Ran {
    /// Why it ran without a plan, and how often.
    pub fn reasons(&self) -> Vec<(Reason, u64)> {
        let known = self.unplanned.get(&Unplanned::Known).copied().unwrap_or(0);
        let others = self.unplanned.iter().filter(|(why, _)| **why != Unplanned::Known);
        let mut reasons: Vec<(Reason, u64)> =
            others.map(|(why, count)| (words::unplanned(*why), *count)).collect();
        // Numbers that are known to have no plan are known for one of the other reasons.
        match reasons.last_mut() {
            Some((_, count)) => *count += known,
            None if known > 0 => reasons.push((words::unplanned(Unplanned::Known), known)),
            None => {}
        }
        reasons
    }
}

/// What a document needs to know besides what was told.
pub(super) struct Setting<'a> {
    pub module: &'a Module,
    pub lines: &'a Lines<'a>,
    pub machine: &'a Machine,
    pub costs: &'a Costs,
    pub target: Target,
    pub means: Means,
}

impl Setting<'_> {
    /// Names of the registers of a function.
    pub fn names(&self, function: FuncId) -> Option<Names> {
        self.module.functions.get(function).map(|code| Names::new(self.module, code, self.lines))
    }
}
