//! The blocks that a region makes: sizes, lifetimes, and how far their making can be moved to the front.

use super::Lifetime;
use super::order::Order;
use crate::circuit::{Array, Circuits, Inside, Names, OUTERMOST, Position, Source, may_lie_in};
use galopvm_kir::{Region, VarId};
use smallvec::{SmallVec, smallvec};

/// A block that a region makes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Allocation {
    /// The array that it is made for.
    pub array: VarId,
    /// Its elements and the statements of the outermost body that need it.
    pub lifetime: Lifetime,
    /// The first and the last statement that need it, inside loops and branches as well: their numbers in the order of
    /// the text. In a loop they are those of a round.
    pub span: (usize, usize),
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
pub fn allocations(region: &Region, circuits: &Circuits) -> Vec<Allocation> {
    allocations_in(region, circuits, &Order::of(&circuits.facts.bodies))
}

/// The same, when the statements are numbered.
pub(super) fn allocations_in(region: &Region, circuits: &Circuits, order: &Order<'_>) -> Vec<Allocation> {
    let arrays = &circuits.facts.arrays;
    let mut needed: Vec<Option<Need>> = vec![None; arrays.count()];
    let mut survive = Names::new();
    let all: Vec<VarId> = arrays.iter().map(|(var, _)| *var).collect();
    let carried: SmallVec<[VarId; 8]> = arrays.values().filter_map(next).collect();
    for (var, array) in arrays.iter() {
        let Some(number) = arrays.number(*var) else { continue };
        // An array that may lie anywhere keeps everything.
        let blocks = blocks_of(circuits, *var);
        for block in blocks.as_deref().unwrap_or(&all) {
            let Some(own) = arrays.number(*block) else { continue };
            let home = arrays.at(own).map_or(OUTERMOST, |array| array.position.body);
            let mut need = |position: Position| {
                let span = order.span(position, home);
                let stm = circuits.facts.bodies.outermost(position) as usize;
                let need = needed[own].get_or_insert(Need { outermost: (stm, stm), span });
                need.outermost = (need.outermost.0.min(stm), need.outermost.1.max(stm));
                need.span = (need.span.0.min(span.0), need.span.1.max(span.1));
            };
            need(array.position);
            circuits.facts.events_of(number).for_each(|event| need(event.position));
            if carried.contains(var) {
                survive.insert(own);
            }
        }
    }
    let made = |(var, array): (&VarId, &Array)| {
        let number = arrays.number(*var)?;
        allocation(region, circuits, *var, array, (needed[number].as_ref()?, survive.contains(number)))
    };
    arrays.iter().filter_map(made).collect()
}

/// The value that a carried name has in the next round.
pub(super) fn next(array: &Array) -> Option<VarId> {
    match array.source {
        Source::Carried(_, next) => next,
        _ => None,
    }
}

/// When a block is needed.
#[derive(Clone)]
struct Need {
    outermost: (usize, usize),
    span: (usize, usize),
}

/// The block that is made for an array, if there is one.
fn allocation(
    region: &Region,
    circuits: &Circuits,
    var: VarId,
    array: &Array,
    (needed, survives): (&Need, bool),
) -> Option<Allocation> {
    let own = circuits.places.get(&var).is_some_and(|place| place.block == var);
    if !own || array.source == Source::Param {
        return None;
    }
    let mut in_loop = false;
    for (_, inside) in circuits.facts.bodies.around(array.position) {
        match inside {
            Inside::Kernel(_) | Inside::Operator => return None,
            Inside::Loop(_) => in_loop = true,
            Inside::Branch(_) => {}
        }
    }
    let extents = array.shape.as_ref()?;
    let size = extents.iter().try_fold(1i64, |all, size| all.checked_mul(size.number()?.max(0)))?;
    let name = region.name_of(var).to_string();
    let (from, to) = needed.outermost;
    Some(Allocation {
        array: var,
        lifetime: Lifetime { name, size, from, to },
        span: needed.span,
        element_bytes: region.vars[var].ty.as_ref().map_or(1, |ty| ty.elem.bytes()),
        in_loop,
        out_of_loop: in_loop && !survives,
    })
}

/// The blocks that an array may lie in; nothing if in any.
pub(super) fn blocks_of(circuits: &Circuits, array: VarId) -> Option<SmallVec<[VarId; 2]>> {
    match circuits.places.get(&array) {
        Some(place) => Some(smallvec![place.block]),
        None => Some(may_lie_in(&circuits.facts, &circuits.places, array)?.into()),
    }
}
