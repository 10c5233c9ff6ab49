//! The blocks that a region makes: sizes, lifetimes, and how far their making can be moved to the front.

use super::Lifetime;
use super::order::Order;
use crate::circuit::{Array, BodyId, Circuits, Inside, Source, may_lie_in};
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
    let (arrays, bodies) = (&circuits.facts.arrays, &circuits.facts.bodies);
    let mut needed: Vec<Option<Need>> = vec![None; arrays.count()];
    for (var, array) in arrays.iter() {
        if let (Some(number), Some(in_loop)) = (arrays.number(*var), is_made(circuits, *var, array)) {
            let home = array.position.body;
            needed[number] = Some(Need { home, in_loop, survives: false, times: None });
        }
    }
    let all: Vec<VarId> = arrays.iter().map(|(var, _)| *var).collect();
    let carried: SmallVec<[VarId; 8]> = arrays.values().filter_map(next).collect();
    for (var, array) in arrays.iter() {
        let Some(number) = arrays.number(*var) else { continue };
        // An array that may lie anywhere keeps everything.
        let blocks = blocks_of(circuits, *var);
        for block in blocks.as_deref().unwrap_or(&all) {
            let Some(need) = arrays.number(*block).and_then(|own| needed[own].as_mut()) else { continue };
            let events = circuits.facts.events_of(number).map(|event| event.position);
            for position in events.chain([array.position]) {
                let stm = bodies.outermost(position) as usize;
                need.extend((stm, stm), order.span(position, need.home));
            }
            need.survives |= carried.contains(var);
        }
    }
    let made = |(var, array): (&VarId, &Array)| {
        let need = needed[arrays.number(*var)?].as_ref()?;
        allocation(region, *var, array, need)
    };
    arrays.iter().filter_map(made).collect()
}

/// Whether a block is made for an array, outside kernels; and if so, whether in a loop.
fn is_made(circuits: &Circuits, var: VarId, array: &Array) -> Option<bool> {
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
    Some(in_loop)
}

/// The value that a carried name has in the next round.
pub(super) fn next(array: &Array) -> Option<VarId> {
    match array.source {
        Source::Carried(_, next) => next,
        _ => None,
    }
}

/// A block that is made, and when it is needed.
#[derive(Clone)]
struct Need {
    home: BodyId,
    in_loop: bool,
    /// The next round may need it.
    survives: bool,
    /// The first and the last statement: of the outermost body, and by the numbers of all.
    times: Option<((usize, usize), (usize, usize))>,
}

impl Need {
    fn extend(&mut self, outermost: (usize, usize), span: (usize, usize)) {
        let join = |a: (usize, usize), b: (usize, usize)| (a.0.min(b.0), a.1.max(b.1));
        self.times = Some(match self.times {
            Some((first, second)) => (join(first, outermost), join(second, span)),
            None => (outermost, span),
        });
    }
}

/// The block that is made for an array, if its size is known.
fn allocation(region: &Region, var: VarId, array: &Array, need: &Need) -> Option<Allocation> {
    let ((from, to), span) = need.times?;
    let extents = array.shape.as_ref()?;
    let size = extents.iter().try_fold(1i64, |all, size| all.checked_mul(size.number()?.max(0)))?;
    let name = region.name_of(var).to_string();
    Some(Allocation {
        array: var,
        lifetime: Lifetime { name, size, from, to },
        span,
        element_bytes: region.vars[var].ty.as_ref().map_or(1, |ty| ty.elem.bytes()),
        in_loop: need.in_loop,
        out_of_loop: need.in_loop && !need.survives,
    })
}

/// The blocks that an array may lie in; nothing if in any.
pub(super) fn blocks_of(circuits: &Circuits, array: VarId) -> Option<SmallVec<[VarId; 2]>> {
    match circuits.places.get(&array) {
        Some(place) => Some(smallvec![place.block]),
        None => Some(may_lie_in(&circuits.facts, &circuits.places, array)?.into()),
    }
}
