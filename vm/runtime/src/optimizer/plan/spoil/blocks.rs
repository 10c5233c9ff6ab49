//! Faults in the schedule of a region's blocks.
//!
//! What a region gives outlives it, and the next round of a loop around it comes to the same block. Results that take two
//! blocks in turn may be needed for longer than a round. No checker of one region sees that: a home that is in use is not
//! given, and nothing else is relied on. So no fault is about it.

use super::Kind;
use galopvm_analysis::memory::{Allocation, Home, Lifetime, Schedule, pack};

/// How a schedule is wrong.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Fault {
    /// A block's life ends with the statement that makes it, and blocks are packed again.
    EndsAtOnce,
    /// A block's life ends before another one is made in its place: the next one but so many of those made meanwhile.
    EndsBefore(usize),
    /// What each round of a loop makes anew, or takes in turn, is made in one place for all rounds.
    Once,
    /// What each round of a loop makes anew takes two blocks in turn.
    InTurn,
    /// What the region gives is made in its block.
    Leaves,
    /// A block reaches into another one by so many lines.
    Reaches(i64),
    /// A block is made where another one is: the next one but so many.
    Same(usize),
}

impl Fault {
    pub(super) fn kind(self) -> Kind {
        match self {
            Fault::EndsAtOnce | Fault::EndsBefore(_) | Fault::Once | Fault::InTurn | Fault::Leaves => {
                Kind::Life
            }
            Fault::Reaches(_) => Kind::Large,
            Fault::Same(_) => Kind::Merged,
        }
    }
}

/// A block's offset in the region's block.
fn offset(schedule: &Schedule, at: usize) -> Option<i64> {
    match schedule.blocks[at].1 {
        Home::Entry { offset } => Some(offset),
        Home::Turns | Home::Round => None,
    }
}

/// The schedule with homes for some of its blocks.
fn with(schedule: &Schedule, homes: impl IntoIterator<Item = (usize, Home)>) -> Schedule {
    let mut schedule = schedule.clone();
    for (at, home) in homes {
        let made = &mut schedule.blocks[at];
        made.1 = home;
        if let Home::Entry { offset } = home {
            schedule.packing.total = schedule.packing.total.max(offset + bytes(&made.0));
        }
    }
    schedule
}

fn bytes(made: &Allocation) -> i64 {
    made.lifetime.size * made.element_bytes as i64
}

/// All schedules that a fault makes of one, each with another block that has it.
pub(super) fn spoilt(schedule: &Schedule, fault: Fault, alignment: i64) -> Vec<Schedule> {
    let count = schedule.blocks.len();
    let mut all: Vec<Schedule> =
        (0..count).filter_map(|at| spoilt_at(schedule, at, fault, alignment)).collect();
    all.retain(|other| other.blocks != schedule.blocks);
    all
}

fn spoilt_at(schedule: &Schedule, at: usize, fault: Fault, alignment: i64) -> Option<Schedule> {
    let made = &schedule.blocks[at].0;
    let aligned = |bytes: i64| (bytes + alignment - 1) / alignment * alignment;
    let after = |by: usize| {
        let others = (at + 1..schedule.blocks.len()).chain(0..at);
        others.filter(|other| offset(schedule, *other).is_some()).nth(by)
    };
    match fault {
        Fault::EndsAtOnce => {
            offset(schedule, at)?;
            let packed = (0..schedule.blocks.len()).filter(|other| offset(schedule, *other).is_some());
            let packed: Vec<usize> = packed.collect();
            let lifetime = |other: &usize| {
                let made = &schedule.blocks[*other].0;
                let (from, to) = made.span;
                let to = if *other == at { from } else { to };
                Lifetime { name: made.lifetime.name.clone(), size: bytes(made), from, to }
            };
            let packing = pack(&packed.iter().map(lifetime).collect::<Vec<_>>(), alignment);
            let home = |k: usize| packing.offset(k).map(|offset| Home::Entry { offset });
            let homes = packed.iter().enumerate().filter_map(|(k, other)| Some((*other, home(k)?)));
            Some(with(schedule, homes))
        }
        Fault::EndsBefore(by) => {
            let offset = offset(schedule, at)?;
            let (from, to) = made.span;
            let mut meanwhile: Vec<(usize, usize)> = (0..schedule.blocks.len())
                .map(|other| (schedule.blocks[other].0.span.0, other))
                .filter(|(made, _)| from < *made && *made <= to)
                .collect();
            meanwhile.sort_unstable();
            let (_, other) = meanwhile.get(by)?;
            self::offset(schedule, *other)?;
            Some(with(schedule, [(*other, Home::Entry { offset })]))
        }
        Fault::Once if made.in_loop => {
            let offset = offset(schedule, at).is_none().then(|| aligned(schedule.packing.total))?;
            Some(with(schedule, [(at, Home::Entry { offset })]))
        }
        Fault::InTurn if made.in_loop && schedule.blocks[at].1 == Home::Round => {
            Some(with(schedule, [(at, Home::Turns)]))
        }
        Fault::Leaves if !made.in_loop && schedule.blocks[at].1 == Home::Round => {
            Some(with(schedule, [(at, Home::Entry { offset: aligned(schedule.packing.total) })]))
        }
        Fault::Once | Fault::InTurn | Fault::Leaves => None,
        Fault::Reaches(lines) => {
            let end = offset(schedule, at)? + aligned(bytes(made));
            let offset = end.checked_sub(lines * alignment).filter(|offset| *offset >= 0)?;
            Some(with(schedule, [(after(0)?, Home::Entry { offset })]))
        }
        Fault::Same(by) => {
            let offset = offset(schedule, at)?;
            Some(with(schedule, [(after(by)?, Home::Entry { offset })]))
        }
    }
}
