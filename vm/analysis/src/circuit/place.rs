//! Where arrays lie before anything is changed, which names share memory, and until when memory is used.

use super::arrays::Names;
use super::facts::{Array, Change, Facts, PointKind, Source};
use super::moving::Moving;
use super::part::{Indices, Part};
use super::position::{BodyId, Inside, Position};
use super::verdict::Place;
use crate::affine::Form;
use galopvm_base::TypedId;
use galopvm_kir::{Observed, ObservedParam, Region, VarId};
use galopvm_lmad::{Dim, Dims, Lmad, Overlap, disjoint};
use smallvec::{SmallVec, smallvec};

/// No place.
const NONE: u32 = u32::MAX;

/// The places of arrays; arrays that lie now here, now there have none.
#[derive(Clone, Debug, Default)]
pub struct Places {
    list: Vec<(VarId, Place)>,
    /// By variable: where in the list.
    at: Vec<u32>,
}

impl Places {
    /// The place of an array.
    pub fn get(&self, var: &VarId) -> Option<&Place> {
        let at = *self.at.get(var.index())?;
        self.list.get(at as usize).map(|(_, place)| place)
    }

    /// Gives an array a place.
    pub fn insert(&mut self, var: VarId, place: Place) {
        if self.at.len() <= var.index() {
            self.at.resize(var.index() + 1, NONE);
        }
        match self.list.get_mut(self.at[var.index()] as usize) {
            Some((_, known)) => *known = place,
            None => {
                self.at[var.index()] = self.list.len() as u32;
                self.list.push((var, place));
            }
        }
    }

    /// Forgets the places that were given after the first `count`.
    fn truncate(&mut self, count: usize) {
        for (var, _) in self.list.drain(count..) {
            self.at[var.index()] = NONE;
        }
    }

    /// The arrays with their places, in the order of their names' ids.
    pub fn iter(&self) -> impl Iterator<Item = (&VarId, &Place)> {
        let places = self.at.iter().filter_map(|at| self.list.get(*at as usize));
        places.map(|(var, place)| (var, place))
    }
}

impl FromIterator<(VarId, Place)> for Places {
    fn from_iter<T: IntoIterator<Item = (VarId, Place)>>(all: T) -> Places {
        let mut places = Places::default();
        all.into_iter().for_each(|(var, place)| places.insert(var, place));
        places
    }
}

/// What a region does with arrays, and where these lie as it is written, with everything that copies known to copy.
pub(super) struct Settled<'a> {
    /// What it does.
    pub facts: Facts,
    /// Where arrays lie.
    pub places: Places,
    /// Its indices.
    pub indices: Indices<'a>,
}

impl<'a> Settled<'a> {
    /// Reads a region.
    pub fn of(region: &'a Region, observed: &'a Observed) -> Settled<'a> {
        let (mut facts, indices) = Facts::with_indices(region, observed);
        let mut finder =
            Finder { facts: &facts, indices: &indices, region, observed, places: Places::default() };
        for number in 0..facts.arrays.count() {
            finder.find(number, 0);
        }
        let places = finder.places;
        facts.settle(&places);
        Settled { facts, places, indices }
    }
}

/// Finds the places as the region is written.
struct Finder<'a> {
    facts: &'a Facts,
    indices: &'a Indices<'a>,
    region: &'a Region,
    observed: &'a Observed,
    places: Places,
}

impl Finder<'_> {
    /// Whether an update may write places of its array that its value is read from. Elements are copied in no order, so
    /// it needs memory of its own.
    fn reads_what_it_writes(&mut self, of: VarId, update: VarId, depth: u32) -> bool {
        let facts = self.facts;
        let Some(point) = facts.points.iter().find(|point| point.target == update) else { return false };
        let (PointKind::Update(part), [Some(value)]) = (&point.kind, &point.operands[..]) else {
            return false;
        };
        let sources = backward(facts, of);
        if !backward(facts, *value).iter().any(|name| sources.contains(name)) {
            return false;
        }
        let written = self.of(of, depth).cloned().and_then(|whole| {
            let views = parts(&whole.view, self.indices.part(*part))?;
            Some((whole.block, views))
        });
        let (Some((block, written)), Some(read)) = (written, self.of(*value, depth)) else { return true };
        let is_harmless = |written: &Moving| {
            written == &read.view || distance(written, &read.view) == Some(Overlap::Disjoint)
        };
        read.block != block || !written.iter().all(is_harmless)
    }

    /// Finds the place of an array; whether it has one.
    fn find(&mut self, number: usize, depth: u32) -> bool {
        let var = self.facts.arrays.name(number);
        if self.places.get(&var).is_some() {
            return true;
        }
        let Some(array) = self.facts.arrays.at(number).filter(|_| depth <= 200) else { return false };
        let Some(place) = self.place(var, array, depth) else { return false };
        self.places.insert(var, place);
        true
    }

    /// The place of a source.
    fn of(&mut self, var: VarId, depth: u32) -> Option<&Place> {
        let number = self.facts.arrays.number(var)?;
        if self.find(number, depth + 1) { self.places.get(&var) } else { None }
    }

    fn place(&mut self, var: VarId, array: &Array, depth: u32) -> Option<Place> {
        match &array.source {
            Source::Param => self.param(var, array),
            Source::Fresh | Source::Kernel(_) => own(array, var),
            Source::Manifest(perm) => {
                let shape = array.shape.as_ref()?.iter().map(Form::number);
                let shape = shape.collect::<Option<SmallVec<[i64; 4]>>>()?;
                Some(Place { block: var, view: Moving::of(&Lmad::manifest(&shape, perm)) })
            }
            Source::View(of, change) => {
                let of = self.of(*of, depth)?;
                match apply(change, &of.view) {
                    Some(view) => Some(Place { block: of.block, view }),
                    // No view expresses it: it is copied.
                    None if matches!(change, Change::Reshape(..)) => own(array, var),
                    None => None,
                }
            }
            Source::Update(of) | Source::Filled(of) => {
                if copies(self.facts, *of, var, array) || self.reads_what_it_writes(*of, var, depth) {
                    own(array, var)
                } else {
                    self.of(*of, depth).cloned()
                }
            }
            Source::Branches(then, otherwise) => {
                let then = self.of((*then)?, depth)?.clone();
                let otherwise = self.of((*otherwise)?, depth)?;
                (then == *otherwise).then_some(then)
            }
            Source::LoopResult(carried) => self.of(*carried, depth).cloned(),
            Source::Carried(init, next) => {
                let (next, init) = (*next, self.of((*init)?, depth)?.clone());
                // Suppose that it stays where it is; it does if the next value lies there.
                let before = self.places.list.len();
                self.places.insert(var, init.clone());
                let stays = next.and_then(|next| self.of(next, depth)).is_some_and(|next| *next == init);
                if !stays {
                    self.places.truncate(before);
                }
                stays.then_some(init)
            }
            Source::Unknown => None,
        }
    }

    /// A parameter's place; its block goes by the name of the first parameter that lies in it.
    fn param(&self, var: VarId, array: &Array) -> Option<Place> {
        let at = self.region.params.iter().position(|param| *param == var);
        match at.and_then(|at| self.observed.params.get(at)) {
            Some(ObservedParam::Array { lmad, block, .. }) => {
                Some(Place { block: self.facts.first_in(*block).unwrap_or(var), view: Moving::of(lmad) })
            }
            _ => own(array, var),
        }
    }
}

fn own(array: &Array, var: VarId) -> Option<Place> {
    Some(Place { block: var, view: Moving::row_major(array.shape.as_ref()?)? })
}

/// The view under a change of layout.
pub fn apply(change: &Change, view: &Moving) -> Option<Moving> {
    match change {
        Change::Same => Some(view.clone()),
        Change::Part(part) => match &mut parts(view, part)?[..] {
            [part] => Some(std::mem::take(part)),
            _ => None,
        },
        Change::Permute(perm) => view.permute(perm),
        Change::Reverse => view.reverse(),
        Change::Reshape(_, new) => view.reshape(new),
    }
}

/// The views of a part, one of which it is.
pub fn parts(view: &Moving, part: &Part) -> Option<SmallVec<[Moving; 1]>> {
    match part {
        Part::Whole => Some(smallvec![view.clone()]),
        Part::Index(ways) => ways.iter().map(|way| view.index(way)).collect(),
        Part::Unknown(_) => None,
    }
}

/// The view that gives `view` under a change of layout, if there is one and only one.
pub fn invert(change: &Change, view: &Moving, of: &Array) -> Option<Moving> {
    match change {
        Change::Same => Some(view.clone()),
        Change::Part(Part::Whole) => Some(view.clone()),
        Change::Part(Part::Index(ways)) => {
            let [way] = &ways[..] else { return None };
            let shape = of.shape.as_ref()?;
            let mut left = view.axes();
            let mut axes: SmallVec<[(Form, Form); 4]> = SmallVec::new();
            for (k, size) in shape.iter().enumerate() {
                let begins = way.get(k).is_none_or(|along| along.start.number() == Some(0));
                let axis = match way.get(k).map(|along| &along.open[..]) {
                    None => left.next()?,
                    Some([]) if size.number() == Some(1) => (Form::constant(1), Form::default()),
                    Some([(count, step)])
                        if step.number() == Some(1) && count.as_ref().is_none_or(|count| count == size) =>
                    {
                        left.next()?
                    }
                    Some(_) => return None,
                };
                axes.push(begins.then_some(axis)?);
            }
            Some(Moving::new(view.offset.clone(), axes))
        }
        Change::Part(Part::Unknown(_)) => None,
        Change::Permute(perm) => {
            let mut inverse = vec![0; perm.len()];
            for (k, axis) in perm.iter().enumerate() {
                *inverse.get_mut(*axis)? = k;
            }
            view.permute(&inverse)
        }
        Change::Reverse => view.reverse(),
        Change::Reshape(old, _) => view.reshape(old),
    }
}

/// The names that may hold the memory of one of several names, these included; `again` follows it into further rounds
/// of loops.
pub(super) fn forward(facts: &Facts, from: Names, again: bool) -> Names {
    let mut open: SmallVec<[usize; 32]> = from.iter().collect();
    let mut all = from;
    while let Some(number) = open.pop() {
        for (next, back) in facts.flows(number) {
            if (again || !back) && all.insert(next) {
                open.push(next);
            }
        }
    }
    all
}

/// The names that may hold a name's memory, itself included.
pub(super) fn forward_of(facts: &Facts, from: VarId, again: bool) -> Names {
    forward(facts, facts.arrays.number(from).into_iter().collect(), again)
}

/// The names whose memory a name may be a part of, itself included.
pub(crate) fn backward(facts: &Facts, from: VarId) -> Names {
    let mut all = Names::new();
    let mut open: SmallVec<[VarId; 32]> = smallvec![from];
    while let Some(var) = open.pop() {
        if !facts.arrays.number(var).is_some_and(|number| all.insert(number)) {
            continue;
        }
        match facts.arrays.get(&var).map(|array| &array.source) {
            Some(Source::View(of, _) | Source::Update(of) | Source::Filled(of)) => open.push(*of),
            Some(Source::Branches(a, b) | Source::Carried(a, b)) => {
                open.extend(a.iter().chain(b).copied());
            }
            Some(Source::LoopResult(carried)) => open.push(*carried),
            _ => {}
        }
    }
    all
}

/// The blocks that an array without a place may lie in, by the names they were made for, in the order of their ids;
/// nothing if in any.
pub fn may_lie_in(facts: &Facts, places: &Places, var: VarId) -> Option<Vec<VarId>> {
    let mut blocks = Vec::new();
    for number in backward(facts, var).iter() {
        let source = facts.arrays.name(number);
        if let Some(place) = places.get(&source) {
            blocks.push(place.block);
            continue;
        }
        match facts.arrays.at(number).map(|array| &array.source) {
            Some(Source::Branches(Some(_), Some(_)) | Source::Carried(Some(_), Some(_))) => {}
            Some(Source::View(..) | Source::Update(_) | Source::Filled(_) | Source::LoopResult(_)) => {}
            Some(Source::Fresh | Source::Kernel(_) | Source::Manifest(_)) => blocks.push(source),
            _ => return None,
        }
    }
    blocks.sort_unstable();
    blocks.dedup();
    Some(blocks)
}

/// How two views lie to each other in one iteration, if that is the same in all.
fn distance(a: &Moving, b: &Moving) -> Option<Overlap> {
    let dims = |view: &Moving| -> Option<Dims> {
        view.axes().map(|(size, stride)| Some(Dim::new(size.number()?, stride.number()?))).collect()
    };
    let by = b.offset.minus(&a.offset)?.number()?;
    Some(disjoint(&Lmad::new(0, dims(a)?), &Lmad::new(by, dims(b)?)))
}

/// Whether `update`, which replaces a part of `of` or fills it, needs memory of its own: something that shares memory
/// is used afterwards.
fn copies(facts: &Facts, of: VarId, update: VarId, array: &Array) -> bool {
    let bodies = &facts.bodies;
    let sources = backward(facts, of);
    // Each iteration of a kernel has a value of its own. What is outside of a kernel is outside of those in it.
    let kernel = |inside: &Inside| matches!(inside, Inside::Kernel(_) | Inside::Operator);
    let innermost = bodies.around(array.position).find(|(_, inside)| kernel(inside));
    if let Some((body, _)) = innermost {
        let outside =
            |number| facts.arrays.at(number).is_some_and(|array| !bodies.lies_in(array.position, body));
        if sources.iter().any(outside) {
            return true;
        }
    }
    // The next round of a loop begins with the memory as it was.
    let is_loop = |inside: &Inside| matches!(inside, Inside::Loop(_));
    let mut loops = bodies.around(array.position).filter(|(_, inside)| is_loop(inside));
    if loops.any(|(body, _)| is_from_outside(facts, of, body, &mut Names::new())) {
        return true;
    }
    let mut shared = forward(facts, sources, true);
    shared.remove_all(&forward_of(facts, update, false));
    is_used_after(facts, &shared, array.position)
}

/// Whether a name has memory from outside of a loop's body in every round, or in every round but the first: then no round may
/// leave something else in it.
fn is_from_outside(facts: &Facts, var: VarId, body: BodyId, seen: &mut Names) -> bool {
    let Some(array) = facts.arrays.get(&var) else { return false };
    if !facts.bodies.lies_in(array.position, body) {
        return true;
    }
    if !facts.arrays.number(var).is_some_and(|number| seen.insert(number)) {
        return false;
    }
    let mut from = |of: &VarId| is_from_outside(facts, *of, body, seen);
    match &array.source {
        Source::View(of, _) | Source::Update(of) | Source::Filled(of) | Source::LoopResult(of) => from(of),
        Source::Branches(a, b) => a.iter().chain(b).any(from),
        // What the loop itself carries: its first value is needed once.
        Source::Carried(_, next) if array.position.body == body => next.iter().any(from),
        Source::Carried(first, next) => first.iter().chain(next).any(from),
        _ => false,
    }
}

/// Whether one of some names is used after a position.
pub(super) fn is_used_after(facts: &Facts, names: &Names, position: Position) -> bool {
    names.iter().any(|number| {
        // Memory from outside of a loop is used again in the next round.
        let defined = facts.arrays.at(number).map(|array| array.position);
        facts.events_of(number).any(|event| facts.bodies.is_after(position, event.position, defined))
    })
}
