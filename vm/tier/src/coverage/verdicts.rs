//! Which row of the table a verdict is.

use super::{Coverage, Met};
use crate::Changes;
use crate::VersionKey;
use crate::fused::Fate;
use crate::told::{RelaidAnswer, ReuseAnswer, Unasked, Unplanned};
use galopvm_analysis::circuit::{Circuits, Reason};
use galopvm_analysis::layout::{Gate, Verdict as LayoutVerdict};
use galopvm_analysis::reuse::Verdict as ReuseVerdict;
use galopvm_check::Verdict as CheckVerdict;
use galopvm_kir::{Decision, Machine, Vectors};
use galopvm_store::error::ErrorKind;

impl Coverage {
    /// What short-circuiting decided about a region.
    pub fn circuits(&self, circuits: &Circuits) {
        for outcome in &circuits.outcomes {
            self.met(match (outcome.is_no_op(), outcome.implicit) {
                (true, true) => Met::PointRowNoOp,
                (true, false) => Met::PointNoOp,
                (false, _) => Met::PointCopies,
            });
            let also = [
                (outcome.double_buffer.is_some(), Met::PointTurns),
                (outcome.hoisted_before.is_some(), Met::PointHoisted),
                (outcome.copied_first.is_some(), Met::PointCopiedFirst),
            ];
            also.iter().filter(|(is_so, _)| *is_so).for_each(|(_, row)| self.met(*row));
            for entry in &outcome.entries {
                self.met(entry.outcome.as_ref().map_or_else(Met::from, |_| Met::WebMoved));
            }
        }
    }

    /// What a result found that looked for an array to be written over.
    pub fn reuse(&self, answer: &ReuseAnswer<'_>) {
        match answer {
            ReuseAnswer::Analysed { reuse, .. } => {
                reuse.arrays.iter().for_each(|array| self.met(array.verdict.into()));
            }
            ReuseAnswer::Known { over: Some(_) } => self.met(Met::OverKnownYes),
            ReuseAnswer::Known { over: None } => self.met(Met::OverKnownNo),
            ReuseAnswer::Unasked(why) => self.met((*why).into()),
        }
    }

    /// Which elements a map changes that is written over an array.
    pub fn changes(&self, changes: &Changes) {
        let parts = changes.parts();
        let is_matrix = parts.iter().any(|part| part.columns.is_some());
        self.met(if is_matrix { Met::ChangesColumns } else { Met::ChangesRows });
        if parts.len() > 1 {
            self.met(Met::ChangesSeveral);
        }
        if parts.iter().any(|part| part.shift != 0) {
            self.met(Met::ChangesShifted);
        }
    }

    /// A launch came to its end.
    pub fn launch(&self, backend: &str, machine: &Machine, version: &VersionKey) {
        self.met(match (backend, machine.vectors) {
            ("reference", _) => Met::RunReference,
            ("vector", _) => Met::RunVector,
            ("x86", Vectors { lanes: 1, .. }) => Met::RunX86Scalar,
            ("x86", Vectors { masks: false, .. }) => Met::RunX86Avx2,
            ("x86", Vectors { masks: true, .. }) => Met::RunX86Avx512,
            ("vulkan", _) => Met::RunVulkan,
            _ => Met::RunOther,
        });
        let also = [
            (version.threads.is_some() && machine.threads > 1, Met::LaunchThreads),
            (version.lane.is_some(), Met::LaunchLane),
            (version.order.iter().any(|d| matches!(d, Decision::Singly(_))), Met::LaunchSingly),
            (!version.unchecked.is_empty(), Met::LaunchUnchecked),
            (version.is_generic, Met::LaunchGeneric),
        ];
        also.iter().filter(|(is_so, _)| *is_so).for_each(|(_, row)| self.met(*row));
    }
}

impl From<&Decision> for Met {
    fn from(decision: &Decision) -> Met {
        match decision {
            Decision::Threads(..) => Met::PlannedThreads,
            Decision::Lane(..) => Met::PlannedLane,
            Decision::Singly(..) => Met::PlannedSingly,
            Decision::Groups(..) => Met::PlannedGroups,
            Decision::Tile(..) => Met::PlannedTile,
            Decision::Inside(..) => Met::PlannedInside,
            Decision::Stretch(..) => Met::PlannedStretch,
            Decision::Pack(..) => Met::PlannedPack,
            Decision::Stream(..) => Met::PlannedStream,
            Decision::Ahead(..) | Decision::Ready(_) => Met::PlannedAhead,
            Decision::Unchecked(..) => Met::PlannedUnchecked,
            Decision::Contained(..) => Met::PlannedContained,
            Decision::Fresh(..) => Met::PlannedFresh,
        }
    }
}

impl From<&Reason> for Met {
    fn from(reason: &Reason) -> Met {
        match reason {
            Reason::NotLastUse => Met::WebNotLastUse,
            Reason::NotUnique => Met::WebNotUnique,
            Reason::BlockNotInScope => Met::WebNotInScope,
            Reason::SizeVariant => Met::WebSizeVariant,
            Reason::NotInvertible(..) => Met::WebNotInvertible,
            Reason::IxfnNotAvailable(_) => Met::WebNotAvailable,
            Reason::Overlap(_) => Met::WebOverlap,
            Reason::OverlapLater { .. } => Met::WebOverlapLater,
            Reason::UseUnknown(_) => Met::WebUseUnknown,
            Reason::TwoLiveSources => Met::WebTwoSources,
            Reason::LiveRange(_) => Met::WebLiveRange,
            Reason::LoopInputLive(..) => Met::WebLoopInput,
            Reason::OtherShape => Met::WebOtherShape,
            Reason::NotInjective => Met::WebNotInjective,
            Reason::Budget => Met::WebBudget,
            Reason::LayoutChosen(_) => Met::WebLayout,
            Reason::Unprofitable { .. } => Met::WebPrice,
        }
    }
}

impl From<&CheckVerdict> for Met {
    fn from(verdict: &CheckVerdict) -> Met {
        match verdict {
            CheckVerdict::Proved => Met::CheckProved,
            CheckVerdict::TooLarge(_) => Met::CheckTooLarge,
            CheckVerdict::Refused(_) => Met::CheckRefused,
        }
    }
}

impl From<Unplanned> for Met {
    fn from(why: Unplanned) -> Met {
        match why {
            Unplanned::SwitchedOff => Met::PlanSwitchedOff,
            Unplanned::Around => Met::PlanAround,
            Unplanned::Small => Met::PlanSmall,
            Unplanned::Waiting => Met::PlanWaiting,
            Unplanned::Unrecorded => Met::PlanUnrecorded,
            Unplanned::Rounds => Met::PlanRounds,
            Unplanned::Nothing => Met::PlanNothing,
            Unplanned::Refused => Met::PlanRefused,
            Unplanned::Idle => Met::PlanIdle,
            Unplanned::Known => Met::PlanKnown,
        }
    }
}

impl From<ReuseVerdict> for Met {
    fn from(verdict: ReuseVerdict) -> Met {
        match verdict {
            ReuseVerdict::Candidate => Met::OverCandidate,
            ReuseVerdict::NoCopies => Met::OverNoCopies,
            ReuseVerdict::Conflict { .. } => Met::OverConflict,
            ReuseVerdict::DataIndex => Met::OverDataIndex,
            ReuseVerdict::Budget => Met::OverBudget,
        }
    }
}

impl From<Unasked> for Met {
    fn from(why: Unasked) -> Met {
        match why {
            Unasked::LittleWork => Met::OverLittleWork,
            Unasked::NothingDies => Met::OverNothingDies,
            Unasked::Waiting => Met::OverWaiting,
            Unasked::NoKernel => Met::OverNoKernel,
            Unasked::SwitchedOff => Met::OverSwitchedOff,
        }
    }
}

impl From<RelaidAnswer> for Met {
    fn from(answer: RelaidAnswer) -> Met {
        match answer {
            RelaidAnswer::Made => Met::RelaidMade,
            RelaidAnswer::Kept => Met::RelaidKept,
            RelaidAnswer::Measured => Met::RelaidMeasured,
            RelaidAnswer::NoMemory => Met::RelaidMemory,
            RelaidAnswer::Lane => Met::RelaidLane,
            RelaidAnswer::Little => Met::RelaidLittle,
            RelaidAnswer::No(LayoutVerdict::Never(gate) | LayoutVerdict::No(gate)) => match gate {
                Some(Gate::Class) => Met::RelaidClass,
                Some(Gate::Fit) => Met::RelaidFit,
                Some(Gate::Uses) => Met::RelaidUses,
                Some(Gate::Cap) => Met::RelaidCap,
                Some(Gate::Accumulator) => Met::RelaidAccumulator,
                Some(Gate::Memory) => Met::RelaidMemory,
                None => Met::RelaidCost,
            },
            RelaidAnswer::No(LayoutVerdict::Manifest) => Met::RelaidMade,
        }
    }
}

impl From<&Fate> for Met {
    fn from(fate: &Fate) -> Met {
        match fate {
            Fate::Computed(_) => Met::FusionComputed,
            Fate::Joined(_) => Met::FusionJoined,
            Fate::Fed(_) => Met::FusionFed,
            Fate::Turned => Met::FusionTurned,
            Fate::Kept => Met::FusionKept,
        }
    }
}

impl From<ErrorKind> for Met {
    fn from(kind: ErrorKind) -> Met {
        match kind {
            ErrorKind::Program => Met::EndProgram,
            ErrorKind::Usage => Met::EndUsage,
            ErrorKind::OutOfMemory => Met::EndMemory,
            ErrorKind::OutOfFuel => Met::EndFuel,
            ErrorKind::CallDepth => Met::EndDepth,
            ErrorKind::Interrupted | ErrorKind::Timeout => Met::EndStopped,
            ErrorKind::Input => Met::EndInput,
            ErrorKind::Defect => Met::EndDefect,
        }
    }
}
