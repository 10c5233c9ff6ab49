//! What is told of decisions while a program runs, to whoever wants to know: what is looked at, what was found, what was done.
//!
//! - `mod.rs`: what is told. `watch.rs`: who tells it, and how often. `decision.rs`: the kinds of decisions. `relaid.rs`: arrays
//!   that were given in other layouts. `moment.rs`: what a call is doing, for those with a clock.
//!
//! Invariants: telling changes nothing of what is done, but that loops with parallel operators are executed block by
//! block, so that each operator is seen. Facts are told as facts; `galopvm-explain` makes documents of them.

mod decision;
mod moment;
mod relaid;
mod watch;

pub use decision::{DecisionKind, DecisionSeen, NotDone, Unplanned};
pub use moment::{Doing, Moment, MomentSink, Moments};
pub use relaid::{RelaidAnswer, RelaidSeen};
pub use watch::Explainer;

use crate::FormTaken;
use crate::fused::Line;
use crate::profile::SiteName;
use galopvm_analysis::circuit::Circuits;
use galopvm_analysis::reuse::Reuse;
use galopvm_bytecode::{FuncId, Place, RegId, Scope};
use galopvm_kir::{Observed, Region};
use galopvm_lift::Lifted;
use galopvm_lift::region::{RecordRefusal, Recorded};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Receives what is told.
pub type ExplainSink = Arc<dyn Fn(Explained<'_>) + Send + Sync>;

/// What whoever tells of a run says of inputs that are small; `so` is what follows from that.
pub fn small_inputs(so: &str) -> String {
    format!("These inputs are small: {so}. Larger ones say more.")
}

/// Something that was looked at, and what was found.
#[derive(Clone, Debug)]
pub enum Explained<'a> {
    /// A function or loop was recorded, and its copies judged.
    Region(RegionSeen<'a>),
    /// A function or loop could not be recorded.
    Unrecorded(RefusalSeen<'a>),
    /// A region runs with its plan.
    Applied(AppliedSeen),
    /// Layouts were decided for a region as a whole.
    Advised(AdvisedSeen),
    /// A region runs without a plan.
    Unplanned(UnplannedSeen),
    /// Something else was decided, and done or not.
    Decided(DecisionSeen),
    /// A parallel operator is about to be executed.
    Operator(OperatorSeen<'a>),
    /// Operators of a block run together.
    Fused(FusedSeen<'a>),
    /// An operator would like an array to lie otherwise.
    Relaid(RelaidSeen<'a>),
    /// A result of a map might have been written over an array.
    Reuse(ReuseSeen<'a>),
}

/// A recorded region with what became of its points.
#[derive(Clone, Debug)]
pub struct RegionSeen<'a> {
    /// Its function.
    pub function: FuncId,
    /// What of it.
    pub scope: Scope,
    /// Where it begins in the source, if that is known.
    pub place: Option<Place>,
    /// The region.
    pub recorded: &'a Recorded,
    /// The verdicts.
    pub circuits: &'a Circuits,
    /// Time that recording and analysis took.
    pub micros: u64,
}

/// Why something was not recorded.
#[derive(Clone, Debug)]
pub struct RefusalSeen<'a> {
    /// Its function.
    pub function: FuncId,
    /// What of it.
    pub scope: Scope,
    /// Where it begins in the source, if that is known.
    pub place: Option<Place>,
    /// What stands in the way.
    pub refusal: &'a RecordRefusal,
}

/// A region that runs with its plan: registers are made where the verdicts say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AppliedSeen {
    /// Its function.
    pub function: FuncId,
    /// What of it.
    pub scope: Scope,
    /// The registers that are not made in a block of their own.
    pub moved: BTreeSet<RegId>,
}

/// A region whose operators are given copies, or make results, in layouts that were chosen for all of them together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AdvisedSeen {
    /// Its function.
    pub function: FuncId,
    /// What of it.
    pub scope: Scope,
    /// The decision in text.
    pub lines: Vec<String>,
}

/// A function, loop or round that runs without a plan of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnplannedSeen {
    /// Its function.
    pub function: FuncId,
    /// What of it.
    pub scope: Scope,
    /// Why there is none.
    pub why: Unplanned,
}

/// A parallel operator with the numbers of this execution.
#[derive(Clone, Debug)]
pub struct OperatorSeen<'a> {
    /// Which one.
    pub site: SiteName,
    /// Its iterations.
    pub width: i64,
    /// Operations, estimated.
    pub work: u64,
    /// Its kernel and what the parameters are now, or why it has none.
    pub kernel: Result<(&'a Lifted, &'a Observed), &'a str>,
    /// The form in which the interpreter would execute it.
    pub form: FormTaken,
}

/// Operators that run together.
#[derive(Clone, Debug)]
pub struct FusedSeen<'a> {
    /// The first one.
    pub site: SiteName,
    /// What was decided about each of them.
    pub lines: &'a [Line],
}

/// What was found when a result looked for an array that it could be written over.
#[derive(Clone, Debug)]
pub struct ReuseSeen<'a> {
    /// The map.
    pub site: SiteName,
    /// Which of its results.
    pub result: usize,
    /// What was found.
    pub answer: ReuseAnswer<'a>,
}

/// Whether a result is written over an array.
#[derive(Clone, Copy, Debug)]
pub enum ReuseAnswer<'a> {
    /// The analysis was asked.
    Analysed {
        /// The lifted region.
        region: &'a Region,
        /// Its verdicts.
        reuse: &'a Reuse,
        /// The register whose array is written over.
        over: Option<RegId>,
    },
    /// Another launch with the same numbers had this answer.
    Known {
        /// The register whose array is written over.
        over: Option<RegId>,
    },
    /// Nobody asked, or could ask.
    Unasked(Unasked),
}

/// Why the analysis was not asked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Unasked {
    /// There are fewer operations than the question costs.
    LittleWork,
    /// No array of the type dies there that nobody else holds.
    NothingDies,
    /// The answer was no so often that only every so many launches ask.
    Waiting,
    /// The map is no kernel.
    NoKernel,
    /// The switch is off.
    SwitchedOff,
}
