//! Verdicts in plain words. The exact word of an analysis stands beside them wherever they are shown.

use super::document::Reason as Told;
use galopvm_analysis::circuit::{Overlap, PointKind, Reason};
use galopvm_analysis::layout::{Condition, Gate, Verdict as LayoutVerdict};
use galopvm_analysis::reuse::Verdict as ReuseVerdict;
use galopvm_kir::{Region, VarId};
use galopvm_tier::told::{Unasked, Unplanned};

/// What a statement does that copies.
pub(super) fn point(kind: &PointKind) -> &'static str {
    match kind {
        PointKind::Concat => "concatenation",
        PointKind::Update(_) => "update",
        PointKind::Copy => "copy",
        PointKind::Manifest => "layout",
        PointKind::Row(_) => "row",
    }
}

/// Why an array is not built in the place it is copied to.
pub(super) fn circuit(reason: &Reason, region: &Region) -> String {
    let name = |var: &VarId| region.name_of(*var);
    match reason {
        Reason::NotLastUse => {
            "it, the array it goes into, or another name of its memory is used afterwards".into()
        }
        Reason::NotUnique => "somebody else holds the memory that it would go into".into(),
        Reason::BlockNotInScope => {
            "it is not made here, or the memory it would go into cannot exist by then".into()
        }
        Reason::SizeVariant => "its size changes from round to round".into(),
        Reason::NotInvertible(a, b) => format!("{} is more than what {} shows of it", name(a), name(b)),
        Reason::IxfnNotAvailable(Some(x)) => {
            format!("where it goes depends on {}, which is not known where it is made", name(x))
        }
        Reason::IxfnNotAvailable(None) => {
            "where it goes cannot be said with the numbers known where it is made".into()
        }
        Reason::Overlap(overlap) => {
            let Overlap { write: (w, what), used: (u, part), witness } = &**overlap;
            let (what, part) = (what.text(region), part.text(region));
            format!(
                "{} would be written at {what} while {} is still used at {part}: place {witness} is in both",
                name(w),
                name(u)
            )
        }
        Reason::OverlapLater { var, at, later: true, witness } => {
            format!("what round {}={at} writes is still used by a later round: place {witness}", name(var))
        }
        Reason::OverlapLater { var, at, later: false, witness } => {
            format!("what iteration {}={at} writes is used by another iteration: place {witness}", name(var))
        }
        Reason::UseUnknown(array) => {
            format!("{} is used meanwhile, at places that are not known", name(array))
        }
        Reason::TwoLiveSources => "both sides of the branch exist before it".into(),
        Reason::LiveRange(array) => format!("{} is made in a loop while it is still read", name(array)),
        Reason::LoopInputLive(a, b) => {
            format!(
                "{} is still read where the next one, {}, is made: two blocks take turns",
                name(b),
                name(a)
            )
        }
        Reason::OtherShape => {
            "its extents are not those of its place: the program ends before it is copied".into()
        }
        Reason::NotInjective => "two indices of its place are one place".into(),
        Reason::Budget => "the question takes too long to answer".into(),
        Reason::LayoutChosen(array) => {
            format!("{} lies as its readers want it, and would not any more", name(array))
        }
        Reason::Unprofitable { saved, added } => {
            format!("the copy costs {saved}, but access there costs {added} more")
        }
    }
}

/// What a condition says against a layout.
pub(super) fn condition(condition: Condition) -> &'static str {
    match condition {
        Condition::RankOne => "it has one dimension only",
        Condition::LastInvariant => "nothing that runs moves along the last dimension",
        Condition::MadeInside => "it is made inside the kernel",
        Condition::Rebuilt => "a loop around the kernel gives it another value in each round",
        Condition::NoTranspose => "it is no exchange of neighbouring blocks of dimensions",
        Condition::Identity => "it lies like that already",
        Condition::Data => "an index comes from memory",
        Condition::Stride => "an index moves by more than 8 at a time",
        Condition::Outside => "the access is outside every kernel",
    }
}

/// Why a copy into another layout is made, or is not.
pub(super) fn layout(verdict: LayoutVerdict) -> &'static str {
    let gate = match verdict {
        LayoutVerdict::Manifest => return "the copy pays",
        LayoutVerdict::Never(gate) | LayoutVerdict::No(gate) => gate,
    };
    match gate {
        Some(Gate::Class) => "neighbouring lanes read neighbouring places, or one place, already",
        Some(Gate::Fit) => "the array stays in the first cache, and only cache lines would be saved",
        Some(Gate::Uses) => "less would be read than copied",
        Some(Gate::Cap) => "all reads together take no longer than the copy",
        Some(Gate::Accumulator) => "it has another value in each round of a loop",
        Some(Gate::Memory) => "there is no memory for the copy",
        None if matches!(verdict, LayoutVerdict::Never(_)) => "nothing would be faster",
        None => "what is saved is less than 1.25 times the cost",
    }
}

/// Whether a result may be written over an array.
pub(super) fn reuse(verdict: ReuseVerdict) -> String {
    match verdict {
        ReuseVerdict::Candidate => "no iteration reads what another one changes".into(),
        ReuseVerdict::NoCopies => "nothing of it is copied into the result".into(),
        ReuseVerdict::Conflict { place } => {
            format!("one iteration changes place {place} and another one reads it")
        }
        ReuseVerdict::DataIndex => "it is read at places that are not known".into(),
        ReuseVerdict::Budget => "the places are too intricate".into(),
    }
}

/// Why nobody asked whether a result may be written over an array.
pub(super) fn unasked(why: Unasked) -> (&'static str, &'static str) {
    match why {
        Unasked::LittleWork => ("too little work for the question to pay", "little-work"),
        Unasked::NothingDies => ("no array of its type dies here that nobody else holds", "nothing-dies"),
        Unasked::Waiting => ("the answer was no so often that it is asked rarely", "waiting"),
        Unasked::NoKernel => ("the map is no kernel", "no-kernel"),
        Unasked::SwitchedOff => ("it is switched off", "switched-off"),
    }
}

/// Why a function, loop or round ran without a plan.
pub(super) fn unplanned(why: Unplanned) -> Told {
    let (plain, exact) = match why {
        Unplanned::SwitchedOff => ("it is switched off", "switched-off"),
        Unplanned::Around => ("what is around it runs with a plan of its own", "around"),
        Unplanned::Small => ("there are too few elements for a plan to pay", "small"),
        Unplanned::Waiting => ("plans for new numbers cost more than they gave so far", "waiting"),
        Unplanned::Unrecorded => ("it could not be recorded", "unrecorded"),
        Unplanned::Rounds => (
            "not every copy can be saved as a whole, so the rounds of its loops are planned one by one",
            "rounds",
        ),
        Unplanned::Nothing => ("no instruction of its own can make its array there", "nothing"),
        Unplanned::Refused => ("the checker refused its plan", "refused"),
        Unplanned::Idle => ("nothing ever asked for the places of its plan", "idle"),
        Unplanned::Known => ("there is no plan for these numbers", "known"),
    };
    Told { plain: plain.into(), exact: exact.into() }
}

/// Why an array is made as always although the plan around it is applied.
pub(super) fn not_moved(in_callee: bool) -> Told {
    let (plain, exact) = match in_callee {
        true => ("a called function makes it, and plans go no further than calls", "callee"),
        false => ("a loop that runs as flat code updates it in a block of its own", "flat-code"),
    };
    Told { plain: plain.into(), exact: exact.into() }
}

/// A number of bytes for people.
pub fn bytes(count: i64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.iter().find(|(size, _)| count >= *size) {
        Some((size, unit)) => {
            let tenths = i128::from(count) * 10 / i128::from(*size);
            let (whole, part) = (tenths / 10, tenths % 10);
            if part == 0 { format!("{whole} {unit}") } else { format!("{whole}.{part} {unit}") }
        }
        None if count == 1 => "1 byte".into(),
        None => format!("{count} bytes"),
    }
}
