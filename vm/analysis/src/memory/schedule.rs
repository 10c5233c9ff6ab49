//! Where and how often each block of a region is made: the change that lifetimes allow.
//!
//! Blocks of known size that nothing survives a round of are made once, at entry, at their offsets in one block for
//! the region; what a loop carries from round to round takes two blocks in turn; everything else is made where it
//! stands.
//!
//! Text, bytes: `asq 24 : at 0, for statements 1 to 1, once for all rounds`, `y 4000 : 2 blocks in turn`,
//! `v 16 : anew in each round`, `total 24 ; live at most 24 at statement 1 ; side by side 24`.

use super::lifetimes::{Allocation, allocations_of, blocks_of};
use super::order::Order;
use super::packing::{Lifetime, Packing, pack};
use crate::circuit::{Array, Circuits, Facts, Inside, Source, settled};
use galopvm_kir::{Observed, Region, VarId};
use std::fmt::{self, Write};

/// Blocks that a carried array takes in turn.
pub const IN_TURN: usize = 2;

/// Where a block is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Home {
    /// At entry, at this byte of the region's block.
    Entry {
        /// The first byte.
        offset: i64,
    },
    /// At entry of its loop: [`IN_TURN`] blocks, of which each round takes the next one.
    Turns,
    /// In each round.
    Round,
}

/// All blocks of a region.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// Each block with its home, in the order of the arrays.
    pub blocks: Vec<(Allocation, Home)>,
    /// The region's block, in bytes.
    pub packing: Packing,
}

/// The schedule of a region whose arrays lie as short-circuiting says; offsets are multiples of `alignment`.
pub fn schedule(region: &Region, observed: &Observed, circuits: &Circuits, alignment: i64) -> Schedule {
    schedule_of(region, observed, circuits, alignment, &|_| true, &[])
}

/// The schedule of those blocks that can be given a place (`can_move`), and that none of `leaving`, which outlive the
/// region, may lie in. The others are made where they stand.
pub fn schedule_of(
    region: &Region,
    observed: &Observed,
    circuits: &Circuits,
    alignment: i64,
    can_move: &dyn Fn(VarId) -> bool,
    leaving: &[VarId],
) -> Schedule {
    let (facts, _) = settled(region, observed);
    let made = allocations_of(&facts, circuits);
    let left: Option<Vec<Vec<VarId>>> =
        leaving.iter().map(|array| blocks_of(&facts, circuits, *array)).collect();
    let leaves = |made: &Allocation| left.as_ref().is_none_or(|left| left.concat().contains(&made.array));
    let once =
        |made: &Allocation| (made.out_of_loop || !made.in_loop) && can_move(made.array) && !leaves(made);
    let lifetimes: Vec<Lifetime> = made.iter().filter(|made| once(made)).map(Allocation::spanned).collect();
    let mut packing = pack(&lifetimes, alignment);
    packing.at = Order::of(&region.body).outermost(packing.at);
    let carried = carried(&facts, circuits);
    let mut packed = 0;
    let blocks = made.into_iter().map(|made| {
        let home = if once(&made) {
            packed += 1;
            packing.offset(packed - 1).map_or(Home::Round, |offset| Home::Entry { offset })
        } else if carried.contains(&made.array) && can_move(made.array) {
            Home::Turns
        } else {
            Home::Round
        };
        (made, home)
    });
    let blocks = blocks.collect();
    Schedule { blocks, packing }
}

/// The arrays that are made in each round of an outermost loop, outside kernels and branches, and that one name
/// alone carries to the next round.
fn carried(facts: &Facts<'_>, circuits: &Circuits) -> Vec<VarId> {
    let mut all = Vec::new();
    for array in facts.arrays.values() {
        let Source::Carried(_, Some(next)) = array.source else { continue };
        all.extend(circuits.places.get(&next).map(|place| place.block));
    }
    let own = |var: &VarId| {
        let place = circuits.places.get(var);
        let array = facts.arrays.get(var);
        let simple = array.is_some_and(|array| {
            let ways: Vec<_> = array.position.iter().filter_map(|frame| frame.inside.as_ref()).collect();
            matches!(ways[..], [Inside::Loop(_)])
        });
        place.is_some_and(|place| place.block == *var) && simple
    };
    // What two names carry outlives the next round.
    let once = |var: &VarId| all.iter().filter(|other| *other == var).count() == 1;
    all.iter().copied().filter(|var| own(var) && once(var) && !is_kept(facts, circuits, *var)).collect()
}

/// Whether another carried name than the one whose next value lies in the block may come to hold it.
fn is_kept(facts: &Facts<'_>, circuits: &Circuits, block: VarId) -> bool {
    let carried = |(var, array): (&VarId, &Array)| match array.source {
        Source::Carried(_, Some(next)) => Some((*var, next)),
        _ => None,
    };
    let direct: Vec<VarId> = facts
        .arrays
        .iter()
        .filter_map(carried)
        .filter(|(_, next)| circuits.places.get(next).is_some_and(|place| place.block == block))
        .map(|(var, _)| var)
        .collect();
    facts.arrays.iter().filter_map(carried).filter(|(var, _)| !direct.contains(var)).any(|(_, next)| {
        crate::circuit::may_lie_in(facts, &circuits.places, next).is_none_or(|blocks| blocks.contains(&block))
    })
}

impl Allocation {
    /// Its lifetime by numbers of all statements, with its size in bytes.
    fn spanned(&self) -> Lifetime {
        let (from, to) = self.span;
        Lifetime { from, to, ..self.in_bytes() }
    }

    /// Its lifetime, with its size in bytes.
    fn in_bytes(&self) -> Lifetime {
        let bytes = i64::try_from(self.element_bytes).unwrap_or(i64::MAX);
        Lifetime { size: self.lifetime.size.saturating_mul(bytes), ..self.lifetime.clone() }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut side_by_side = 0i64;
        for (made, home) in &self.blocks {
            let Lifetime { name, size, from, to } = made.in_bytes();
            let mut words = match home {
                Home::Entry { offset } => {
                    side_by_side = side_by_side.saturating_add(size);
                    format!("at {offset}, for statements {from} to {to}")
                }
                Home::Turns => format!("{IN_TURN} blocks in turn"),
                Home::Round => "anew in each round".into(),
            };
            if made.out_of_loop {
                let _ = write!(words, ", once for all rounds");
            }
            writeln!(f, "{name} {size} : {words}")?;
        }
        let Packing { total, bound, at, .. } = &self.packing;
        writeln!(f, "total {total} ; live at most {bound} at statement {at} ; side by side {side_by_side}")
    }
}
