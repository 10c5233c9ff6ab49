//! What the analyses decide, as decisions that can be checked.

use galopvm_analysis::circuit::{Circuits, Moving};
use galopvm_analysis::memory::{Home as Scheduled, IN_TURN, Schedule};
use galopvm_check::{Affine, Decisions, Home, Memory};

fn affine(form: &galopvm_analysis::affine::Form) -> Affine {
    Affine { constant: form.constant, terms: form.terms().to_vec() }
}

/// A place as a home.
pub fn home(block: galopvm_kir::VarId, view: &Moving) -> Home {
    let dims = view.axes().map(|(size, stride)| (affine(&size), affine(&stride)));
    Home { block, offset: affine(&view.offset), dims: dims.collect() }
}

/// Places by short-circuiting, and blocks where the schedule has them.
pub fn decided(circuits: &Circuits, schedule: Option<&Schedule>) -> Decisions {
    let mut decisions = Decisions::default();
    for (var, place) in circuits.places.iter() {
        decisions.homes.insert(*var, home(place.block, &place.view));
    }
    for (made, scheduled) in schedule.iter().flat_map(|schedule| &schedule.blocks) {
        let memory = match scheduled {
            Scheduled::Entry { offset } => Memory::At { memory: 0, first: *offset },
            Scheduled::Turns => Memory::InTurn(IN_TURN as u32),
            Scheduled::Round => continue,
        };
        decisions.memory.insert(made.array, memory);
    }
    decisions
}
