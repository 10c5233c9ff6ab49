//! The blocks that a region makes: sizes, lifetimes, and how far their making can be moved to the front.

use super::Lifetime;
use super::order::Order;
use crate::circuit::{Array, Circuits, Facts, Frame, Inside, Source, body_of, may_lie_in, settled};
use galopvm_kir::{Observed, Region, VarId};
use std::collections::BTreeMap;

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
pub fn allocations(region: &Region, observed: &Observed, circuits: &Circuits) -> Vec<Allocation> {
    let (facts, _) = settled(region, observed);
    allocations_of(&facts, circuits)
}

/// The same, when it is known what the region does.
pub(super) fn allocations_of(facts: &Facts<'_>, circuits: &Circuits) -> Vec<Allocation> {
    let order = Order::of(&facts.region.body);
    let mut needed: BTreeMap<VarId, Need> = BTreeMap::new();
    let mut need = |block: VarId, position: &[Frame]| {
        let home = facts.arrays.get(&block).map_or(&[][..], |array| body_of(&array.position));
        let span = order.span(position, home);
        let stm = position[0].stm;
        let need = needed.entry(block).or_insert(Need { outermost: (stm, stm), span });
        need.outermost = (need.outermost.0.min(stm), need.outermost.1.max(stm));
        need.span = (need.span.0.min(span.0), need.span.1.max(span.1));
    };
    let all: Vec<VarId> = facts.arrays.keys().copied().collect();
    for (var, array) in &facts.arrays {
        for block in blocks_of(facts, circuits, *var).as_ref().unwrap_or(&all) {
            need(*block, &array.position);
        }
    }
    for event in &facts.events {
        // An array that may lie anywhere keeps everything.
        for block in blocks_of(facts, circuits, event.array).as_ref().unwrap_or(&all) {
            need(*block, &event.position);
        }
    }
    let made = |(var, array): (&VarId, &Array)| allocation(facts, circuits, *var, array, needed.get(var)?);
    facts.arrays.iter().filter_map(made).collect()
}

/// When a block is needed.
struct Need {
    outermost: (usize, usize),
    span: (usize, usize),
}

/// The block that is made for an array, if there is one.
fn allocation(
    facts: &Facts<'_>,
    circuits: &Circuits,
    var: VarId,
    array: &Array,
    needed: &Need,
) -> Option<Allocation> {
    let own = circuits.places.get(&var).is_some_and(|place| place.block == var);
    let is_kernel = |frame: &Frame| matches!(frame.inside, Some(Inside::Kernel(_) | Inside::Operator));
    if !own || array.position.iter().any(is_kernel) || array.source == Source::Param {
        return None;
    }
    let extents = array.shape.as_ref()?;
    let size = extents.iter().try_fold(1i64, |all, size| all.checked_mul(size.number()?.max(0)))?;
    let in_loop = array.position.iter().any(|frame| matches!(frame.inside, Some(Inside::Loop(_))));
    let survives = facts.arrays.values().any(|other| match &other.source {
        Source::Carried(_, Some(next)) => {
            blocks_of(facts, circuits, *next).is_none_or(|blocks| blocks.contains(&var))
        }
        _ => false,
    });
    let name = facts.region.name_of(var).to_string();
    let (from, to) = needed.outermost;
    Some(Allocation {
        array: var,
        lifetime: Lifetime { name, size, from, to },
        span: needed.span,
        element_bytes: facts.region.vars[var].ty.as_ref().map_or(1, |ty| ty.elem.bytes()),
        in_loop,
        out_of_loop: in_loop && !survives,
    })
}

/// The blocks that an array may lie in; nothing if in any.
pub(super) fn blocks_of(facts: &Facts<'_>, circuits: &Circuits, array: VarId) -> Option<Vec<VarId>> {
    match circuits.places.get(&array) {
        Some(place) => Some(vec![place.block]),
        None => Some(may_lie_in(facts, &circuits.places, array)?.into_iter().collect()),
    }
}
