//! A plan: how a region is to be executed. Data, not code; each line carries its reason.
//!
//! Text form, one decision per line, reason after the colon:
//! ```text
//! plan
//!   threads i : 4096 iterations, 16777216 element operations
//!   lane j : innermost parallel axis
//!   unchecked read0 read2 : the index range lies inside the array
//!   fresh r : nobody else holds a block it could use
//! ```

use crate::ir::{ReadId, Region, VarId};

/// One decision.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Decision {
    /// This axis is cut into pieces for threads.
    Threads(VarId),
    /// This axis runs across the lanes of vectors (GPU: neighbouring invocations).
    Lane(VarId),
    /// These reads are proven to stay inside their arrays for the observed sizes.
    Unchecked(Vec<ReadId>),
    /// This result of the region gets a block of its own.
    Fresh(VarId),
}

/// A decision and why it was taken.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PlanLine {
    /// What.
    pub decision: Decision,
    /// Why, for people; one line, never empty.
    pub reason: String,
}

/// How a region is to be executed.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Plan {
    /// In the order in which they were taken.
    pub lines: Vec<PlanLine>,
}

impl Plan {
    /// Adds a decision.
    pub fn decide(&mut self, decision: Decision, reason: impl Into<String>) {
        self.lines.push(PlanLine { decision, reason: reason.into() });
    }

    /// The axis that is cut for threads.
    pub fn threads(&self) -> Option<VarId> {
        self.lines.iter().find_map(|l| if let Decision::Threads(v) = l.decision { Some(v) } else { None })
    }

    /// The axis across vector lanes.
    pub fn lane(&self) -> Option<VarId> {
        self.lines.iter().find_map(|l| if let Decision::Lane(v) = l.decision { Some(v) } else { None })
    }

    /// True if this read needs no bounds check.
    pub fn is_unchecked(&self, read: ReadId) -> bool {
        self.lines.iter().any(|l| matches!(&l.decision, Decision::Unchecked(reads) if reads.contains(&read)))
    }
}

/// A plan that was checked against its region: every name is an axis or a result of it, each at most once.
/// (`Unchecked` is a claim about numbers; whoever makes the plan proves it for the launch, see `Unit`.)
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct VerifiedPlan(Plan);

impl VerifiedPlan {
    /// Checks a plan; the error says what is wrong with it.
    pub fn new(plan: Plan, region: &Region) -> Result<VerifiedPlan, String> {
        let axes = region.parallel_axes();
        let name = |var: VarId| region.vars.get(var).map_or_else(|| var.to_string(), |v| v.name.to_string());
        let (mut threads, mut lanes) = (0, 0);
        for line in &plan.lines {
            match &line.decision {
                Decision::Threads(v) | Decision::Lane(v) => {
                    if !axes.contains(v) {
                        return Err(format!(
                            "`{}` is not a parallel or reduction axis of the region",
                            name(*v)
                        ));
                    }
                    let count =
                        if matches!(line.decision, Decision::Lane(_)) { &mut lanes } else { &mut threads };
                    *count += 1;
                    if *count > 1 {
                        return Err("an axis is chosen twice for the same purpose".into());
                    }
                }
                Decision::Unchecked(reads) => {
                    if let Some(read) = reads.iter().find(|r| r.0 >= region.reads) {
                        return Err(format!("{read} is not a read of the region"));
                    }
                }
                Decision::Fresh(v) => {
                    let results = &region.body.results;
                    if !results.contains(&crate::ir::Exp::Var(*v)) {
                        return Err(format!("`{}` is not a result of the region", name(*v)));
                    }
                }
            }
            if line.reason.trim().is_empty() || line.reason.contains('\n') {
                return Err("a reason is empty or longer than a line".into());
            }
        }
        Ok(VerifiedPlan(plan))
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.0
    }
}
