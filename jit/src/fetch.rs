//! Elements that are fetched where they are needed: what only one side of a branch uses is read there.
//!
//! Lanes that fetch from places of their own fetch one element after the other, so it pays to ask first.

use galopvm_kir::linear::{Definitions, reads_neighbours};
use galopvm_kir::sink::sunk;
use galopvm_kir::{Decision, Plan, VerifiedRegion};

/// What it costs to fetch from places of their own, where neighbours are fetched at once.
const APART: u32 = 4;

/// The region with such reads moved, if there are any that are worth it. Nobody writes over what it reads while it runs.
pub fn fetched_late(region: &VerifiedRegion, plan: &Plan, has_lanes: bool) -> Option<VerifiedRegion> {
    use Decision::{Pack, Stretch, Tile};
    // Rows that share operands are lowered as they were decided on.
    if plan.lines.iter().any(|line| matches!(line.decision, Tile(..) | Stretch(..) | Pack(_))) {
        return None;
    }
    let whole = region.region();
    let definitions = Definitions::of(&whole.body);
    let lane = plan.lane().filter(|_| has_lanes);
    // What a loop or an update makes may be changed where it lies as soon as nobody reads it any more.
    sunk(region, &|read| {
        let is_safe = plan.is_unchecked(read.id) && whole.params.contains(&read.array);
        // What is the same everywhere is fetched once.
        let mut moves = false;
        read.index.each_exp(&mut |part| part.each_use(&mut |var| moves |= !whole.params.contains(&var)));
        let is_apart = lane.is_some_and(|lane| !reads_neighbours(read, lane, &definitions));
        (is_safe && moves).then_some(if is_apart { APART } else { 1 })
    })
}
