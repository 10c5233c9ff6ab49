//! A plan is used only if a checker that shares nothing with the analyses finds nothing against it.
//!
//! What the analyses decided about the region goes there as plain numbers: where its arrays lie, and which of its blocks
//! share memory. All of that is checked, also what the plan cannot apply: arrays that nobody can place are made as always.
//! What comes after the region takes the region's block again while its results are needed: none may lie there. Whether those that
//! take blocks in turn are needed for longer than a round is not checked: a home in use is not given (`merge.rs`), which is
//! enough.

use super::build::RegionPlan;
use super::record::Place;
use galopvm_analysis::affine::Form;
use galopvm_analysis::circuit::{Circuits, Moving};
use galopvm_analysis::memory::IN_TURN;
use galopvm_check::{Affine, Budget, Decisions, Home, Memory, Verdict, check};
use galopvm_kir::VarId;
use galopvm_lift::region::Recorded;
use galopvm_tier::{Coverage, Met};

/// What the checker says of a plan.
pub(super) fn verdict(
    plan: &RegionPlan,
    recorded: &Recorded,
    circuits: &Circuits,
    budget: Budget,
    coverage: &Coverage,
) -> Verdict {
    let decisions = decisions(circuits, plan);
    let verdict = check(&recorded.region, &recorded.observed, &decisions, budget);
    coverage.met(Met::from(&verdict));
    #[cfg(all(test, debug_assertions))]
    let verdict = super::spoil::judged(verdict);
    verdict
}

/// Everything that is decided about memory.
fn decisions(circuits: &Circuits, plan: &RegionPlan) -> Decisions {
    // The block of the region is that of the next round of a loop around it, or of the next call.
    let mut decisions = Decisions { comes_again: true, ..Decisions::default() };
    for (var, place) in circuits.places.iter() {
        decisions.homes.insert(*var, home(place.block, &place.view));
    }
    for (block, home) in plan.record.homes() {
        let memory = match home.place {
            Place::At(first) => Memory::At { memory: 0, first: first as i64 },
            Place::InTurn(_) => Memory::InTurn(IN_TURN as u32),
        };
        decisions.memory.insert(block, memory);
    }
    decisions
}

fn home(block: VarId, view: &Moving) -> Home {
    let affine = |form: &Form| Affine { constant: form.constant, terms: form.terms().to_vec() };
    let dims = view.axes().map(|(size, stride)| (affine(&size), affine(&stride)));
    Home { block, offset: affine(&view.offset), dims: dims.collect() }
}
