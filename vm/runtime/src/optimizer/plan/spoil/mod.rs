//! Wrong decisions, planted on purpose: what each would do to a result, whether the checker refuses it, and whether the
//! execution that checks finds it when it is used all the same.
//!
//! A verdict of short-circuiting is changed before a plan is made of it: an array lies elements further on, with other
//! strides, with a row too many, or in another block. Or the schedule of blocks is: a life ends early, a block reaches into
//! the next one, two blocks are one. What the checker says about such a plan is noted, and the plan is used. A home is given
//! although it is in use; everything else that guards a plan stays on.
//!
//! - `mod.rs`: the faults, and where they are planted. `blocks.rs`: those in schedules. `trial.rs`: the test, which calls programs.

mod blocks;
mod trial;

use galopvm_analysis::affine::Form;
use galopvm_analysis::circuit::{Circuits, Moving, Place, Places};
use galopvm_analysis::memory::Schedule;
use galopvm_check::Verdict;
use galopvm_kir::VarId;
use galopvm_lift::region::Recorded;
use std::cell::RefCell;

/// What a wrong decision is wrong about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kind {
    /// A place is elements off.
    Off,
    /// Strides are not those of the place.
    Strides,
    /// A block's life ends before its last use.
    Life,
    /// A part is too large for where it lies.
    Large,
    /// Two living blocks are one.
    Merged,
}

/// How a decision is wrong.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Fault {
    /// So many elements further on.
    Further(i64),
    /// The strides of two dimensions for each other, or the only one backwards.
    Swapped,
    /// A stride that is so much greater.
    Wider(i64),
    /// A size that is greater by one: of the first dimension, or of the last.
    Larger { last: bool },
    /// In the block of another array: the next one but so many.
    Block(usize),
    /// A fault in a schedule.
    Schedule(blocks::Fault),
}

impl Fault {
    fn kind(self) -> Kind {
        match self {
            Fault::Further(_) => Kind::Off,
            Fault::Swapped | Fault::Wider(_) => Kind::Strides,
            Fault::Larger { .. } => Kind::Large,
            Fault::Block(_) => Kind::Merged,
            Fault::Schedule(fault) => fault.kind(),
        }
    }
}

/// The fault to plant, in one decision of a session.
#[derive(Clone, Debug)]
struct Planted {
    fault: Fault,
    /// Whether all arrays that lie in the same place go along.
    with_equals: bool,
    /// The decision: so many that could have it come before.
    which: usize,
    seen: usize,
    /// Whether it is in the plan that is being made.
    is_here: bool,
    /// What the checker said.
    verdict: Option<Verdict>,
}

thread_local! {
    static PLANTED: RefCell<Option<Planted>> = const { RefCell::new(None) };
}

/// Does something with what is to be planted.
fn planted<T>(with: impl FnOnce(&mut Planted) -> Option<T>) -> Option<T> {
    PLANTED.with_borrow_mut(|planted| planted.as_mut().and_then(with))
}

impl Planted {
    /// Which of so many decisions gets the fault.
    fn chosen(&mut self, count: usize) -> Option<usize> {
        let before = self.seen;
        self.seen += count;
        let at = self.which.checked_sub(before).filter(|at| *at < count)?;
        self.is_here = true;
        Some(at)
    }
}

/// The verdicts with the fault that is planted. A new plan begins here.
pub(super) fn misplaced(mut circuits: Circuits, recorded: &Recorded) -> Circuits {
    planted(|planted| {
        planted.is_here = false;
        if let Fault::Schedule(_) = planted.fault {
            return None;
        }
        let changed = |(var, place): (&VarId, &Place)| {
            let is_moved = place.block != *var && recorded.makers.has(*var);
            let other = is_moved.then(|| moved(&circuits.places, place, planted.fault)).flatten()?;
            Some((*var, place.clone(), other))
        };
        let all: Vec<(VarId, Place, Place)> = circuits.places.iter().filter_map(changed).collect();
        let (var, from, to) = all[planted.chosen(all.len())?].clone();
        let goes = |other: &VarId, at: &Place| *other == var || planted.with_equals && *at == from;
        let changes: Vec<VarId> =
            circuits.places.iter().filter(|(other, at)| goes(other, at)).map(|(other, _)| *other).collect();
        changes.into_iter().for_each(|var| circuits.places.insert(var, to.clone()));
        Some(())
    });
    circuits
}

/// The schedule with the fault that is planted.
pub(super) fn rescheduled(mut schedule: Schedule, alignment: i64) -> Schedule {
    planted(|planted| {
        let Fault::Schedule(fault) = planted.fault else { return None };
        let changed = blocks::spoilt(&schedule, fault, alignment);
        schedule = changed.get(planted.chosen(changed.len())?)?.clone();
        Some(())
    });
    schedule
}

/// What is done about a verdict: a plan with the fault is used.
pub(super) fn judged(verdict: Verdict) -> Verdict {
    let noted = planted(|planted| planted.is_here.then(|| planted.verdict = Some(verdict.clone())));
    if noted.is_some() { Verdict::Proved } else { verdict }
}

/// The place with a fault; nothing if it cannot have it.
fn moved(places: &Places, place: &Place, fault: Fault) -> Option<Place> {
    let view = &place.view;
    let mut axes: Vec<(Form, Form)> = view.axes().collect();
    let mut offset = view.offset.clone();
    let mut block = place.block;
    match fault {
        Fault::Further(by) => offset.constant += by,
        Fault::Swapped if axes.len() > 1 => {
            let stride = axes[0].1.clone();
            axes[0].1 = std::mem::replace(&mut axes[1].1, stride);
        }
        Fault::Swapped => {
            let (size, stride) = axes.first_mut()?;
            offset.constant += (size.number()? - 1) * stride.number()?;
            *stride = stride.times(-1)?;
        }
        Fault::Wider(by) => axes.last_mut()?.1.constant += by,
        Fault::Larger { last: true } => axes.last_mut()?.0.constant += 1,
        Fault::Larger { last: false } => axes.first_mut()?.0.constant += 1,
        Fault::Block(by) => {
            let mut blocks: Vec<VarId> = places.iter().map(|(_, place)| place.block).collect();
            blocks.sort_unstable();
            blocks.dedup();
            blocks.retain(|other| *other != block);
            block = *blocks.get(by)?;
        }
        Fault::Schedule(_) => return None,
    }
    Some(Place { block, view: Moving::new(offset, axes) }).filter(|other| other != place)
}
