//! The blocks that a region makes: sizes, lifetimes, and how far their making can be moved to the front.

use super::Lifetime;
use crate::circuit::{Circuits, Inside, Source, may_lie_in, settled};
use galopvm_kir::{Observed, Region, VarId};
use std::collections::BTreeMap;

/// A block that a region makes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Allocation {
    /// The array that it is made for.
    pub array: VarId,
    /// Its elements and the statements of the outermost body that need it.
    pub lifetime: Lifetime,
    /// Bytes of an element.
    pub element_bytes: usize,
    /// It is made in a loop, once for each round.
    pub in_loop: bool,
    /// It is made in a loop, but its size does not change and nothing of it survives a round: it can be made once,
    /// before the loop.
    pub out_of_loop: bool,
}

/// The blocks of known size that a region makes outside kernels, when arrays lie as short-circuiting says. Their sizes
/// being numbers, all can be made at entry.
pub fn allocations(region: &Region, observed: &Observed, circuits: &Circuits) -> Vec<Allocation> {
    let (facts, _) = settled(region, observed);
    let mut needed: BTreeMap<VarId, (usize, usize)> = BTreeMap::new();
    let mut need = |block: VarId, stm: usize| {
        let interval = needed.entry(block).or_insert((stm, stm));
        *interval = (interval.0.min(stm), interval.1.max(stm));
    };
    let all: Vec<VarId> = facts.arrays.keys().copied().collect();
    let blocks = |array: VarId| match circuits.places.get(&array) {
        Some(place) => vec![place.block],
        // An array that may lie anywhere keeps everything.
        None => may_lie_in(&facts, &circuits.places, array)
            .map_or_else(|| all.clone(), |blocks| blocks.into_iter().collect()),
    };
    for (var, array) in &facts.arrays {
        for block in blocks(*var) {
            need(block, array.position[0].stm);
        }
    }
    for event in &facts.events {
        for block in blocks(event.array) {
            need(block, event.position[0].stm);
        }
    }
    let mut made = Vec::new();
    for (var, array) in &facts.arrays {
        let own = circuits.places.get(var).is_some_and(|place| place.block == *var);
        let in_kernel = array
            .position
            .iter()
            .any(|frame| matches!(frame.inside, Some(Inside::Kernel(_) | Inside::Operator)));
        if !own || in_kernel || array.source == Source::Param {
            continue;
        }
        let sizes = array.shape.as_ref().and_then(|shape| {
            shape.iter().try_fold(1i64, |all, size| all.checked_mul(size.number()?.max(0)))
        });
        let (Some(size), Some(&(from, to))) = (sizes, needed.get(var)) else { continue };
        let in_loop = array.position.iter().any(|frame| matches!(frame.inside, Some(Inside::Loop(_))));
        let survives = facts.arrays.values().any(|other| match &other.source {
            Source::Carried(_, Some(next)) => blocks(*next).contains(var),
            _ => false,
        });
        let name = region.name_of(*var).to_string();
        made.push(Allocation {
            array: *var,
            lifetime: Lifetime { name, size, from, to },
            element_bytes: region.vars[*var].ty.as_ref().map_or(1, |ty| ty.elem.bytes()),
            in_loop,
            out_of_loop: in_loop && !survives,
        });
    }
    made
}
