//! Where and how often each block of a region is made: the change that lifetimes allow.
//!
//! Blocks of known size that nothing survives a round of are made once, at entry, at their offsets in one block for
//! the region; what a loop carries from round to round takes two blocks in turn; everything else is made where it
//! stands.
//!
//! Text, bytes: `asq 24 : at 0, for statements 1 to 1, once for all rounds`, `y 4000 : 2 blocks in turn`,
//! `v 16 : anew in each round`, `total 24 ; live at most 24 at statement 1 ; side by side 24`.

use super::lifetimes::{Allocation, allocations_in, blocks_of, next};
use super::order::Order;
use super::packing::{Lifetime, Packing, pack};
use crate::circuit::{Circuits, Inside, may_lie_in};
use galopvm_kir::{Region, VarId};
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
pub fn schedule(region: &Region, circuits: &Circuits, alignment: i64) -> Schedule {
    schedule_of(region, circuits, alignment, &|_| true, &[])
}

/// The schedule of those blocks that can be given a place (`can_move`), and that none of `leaving`, which outlive the
/// region, may lie in. The others are made where they stand.
pub fn schedule_of(
    region: &Region,
    circuits: &Circuits,
    alignment: i64,
    can_move: &dyn Fn(VarId) -> bool,
    leaving: &[VarId],
) -> Schedule {
    let order = Order::of(&circuits.facts.bodies);
    let made = allocations_in(region, circuits, &order);
    // Nothing if they may lie anywhere.
    let mut left = Some(Vec::new());
    for array in leaving {
        left = left.zip(blocks_of(circuits, *array)).map(|(mut left, blocks)| {
            left.extend(blocks);
            left
        });
    }
    let once = |made: &Allocation| {
        (made.out_of_loop || !made.in_loop)
            && can_move(made.array)
            && left.as_ref().is_some_and(|left| !left.contains(&made.array))
    };
    let is_once: Vec<bool> = made.iter().map(once).collect();
    let packed = made.iter().zip(&is_once).filter(|(_, is_once)| **is_once);
    let lifetimes: Vec<Lifetime> = packed.map(|(made, _)| made.spanned()).collect();
    let mut packing = pack(&lifetimes, alignment);
    packing.at = order.outermost(packing.at);
    let carried = carried(circuits);
    let mut packed = 0;
    let blocks = made.into_iter().zip(is_once).map(|(made, is_once)| {
        let home = if is_once {
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
fn carried(circuits: &Circuits) -> Vec<VarId> {
    let (arrays, bodies) = (&circuits.facts.arrays, &circuits.facts.bodies);
    // The next values of carried names, each with the block that it lies in.
    let values: Vec<(VarId, Option<VarId>)> = arrays
        .values()
        .filter_map(next)
        .map(|next| (next, circuits.places.get(&next).map(|place| place.block)))
        .collect();
    let own = |var: &VarId| {
        circuits.places.get(var).is_some_and(|place| place.block == *var)
            && arrays.get(var).is_some_and(|array| {
                let mut around = bodies.around(array.position);
                matches!((around.next(), around.next()), (Some((_, Inside::Loop(_))), None))
            })
    };
    // What two names carry outlives the next round, and so does what another one may come to hold.
    let once = |var: &VarId| values.iter().filter(|(_, block)| *block == Some(*var)).count() == 1;
    let is_kept = |var: &VarId| {
        let others = values.iter().filter(|(_, block)| *block != Some(*var));
        let blocks = |next| may_lie_in(&circuits.facts, &circuits.places, next);
        others.into_iter().any(|(next, _)| blocks(*next).is_none_or(|blocks| blocks.contains(var)))
    };
    let blocks = values.iter().filter_map(|(_, block)| *block);
    blocks.filter(|var| own(var) && once(var) && !is_kept(var)).collect()
}

impl Allocation {
    /// Its lifetime by numbers of all statements, with its size in bytes.
    fn spanned(&self) -> Lifetime {
        let (from, to) = self.span;
        Lifetime { name: self.lifetime.name.clone(), size: self.bytes(), from, to }
    }

    /// Its size in bytes.
    fn bytes(&self) -> i64 {
        let bytes = i64::try_from(self.element_bytes).unwrap_or(i64::MAX);
        self.lifetime.size.saturating_mul(bytes)
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut side_by_side = 0i64;
        for (made, home) in &self.blocks {
            let (Lifetime { name, from, to, .. }, size) = (&made.lifetime, made.bytes());
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
