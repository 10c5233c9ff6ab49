//! A region with its arrays in their places so far: what lies in which block, and which places a statement uses.
//!
//! Every web is tested against the same uses, so that views of uses are kept until their array moves.

use super::arrays::Names;
use super::facts::{Event, Facts, Source};
use super::moving::{Instance, Moving};
use super::part::Indices;
use super::place::{Places, backward, parts};
use super::position::Position;
use super::verdict::Place;
use galopvm_kir::VarId;
use galopvm_lmad::{Dim, Dims, Lmad, Overlap, disjoint};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::rc::Rc;

/// A region with the places of its arrays so far.
pub struct Scene<'a> {
    pub facts: &'a Facts,
    pub indices: &'a Indices<'a>,
    places: Places,
    /// By number of an array: the block that it lies in.
    blocks: Vec<Option<VarId>>,
    /// By event: its views, if they were asked for.
    used: Vec<Option<Views>>,
    /// Arrays without a place that something happens to, each with the names whose memory it may be a part of.
    strays: Vec<(usize, Names)>,
}

/// Views of a use; nothing if they are not known.
pub type Views = Option<Rc<SmallVec<[Side; 1]>>>;

/// A view that is written or used.
pub struct Side {
    pub array: VarId,
    pub position: Position,
    pub moving: Moving,
    pub spots: SmallVec<[Spot; 1]>,
}

/// An instance of a view.
pub struct Spot {
    pub instance: Instance,
    /// The least and the greatest place of all iterations; nothing if there is none.
    bounds: Option<(i128, i128)>,
    /// Places that were found to be apart from it in all iterations, last.
    apart: RefCell<Option<Box<Lmad>>>,
}

impl<'a> Scene<'a> {
    /// The region as it is written.
    pub fn new(facts: &'a Facts, indices: &'a Indices<'a>, places: Places) -> Scene<'a> {
        let numbers = 0..facts.arrays.count();
        let block = |number| places.get(&facts.arrays.name(number)).map(|place| place.block);
        let blocks: Vec<Option<VarId>> = numbers.map(block).collect();
        let has_events = |number: &usize| facts.events_of(*number).next().is_some();
        let strays = (0..blocks.len())
            .filter(|number| blocks[*number].is_none() && has_events(number))
            .map(|number| (number, backward(facts, facts.arrays.name(number))));
        let (strays, used) = (strays.collect(), vec![None; facts.events.len()]);
        Scene { facts, indices, places, blocks, used, strays }
    }

    /// Where arrays lie.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// Where arrays lie, when nothing more is asked.
    pub fn into_places(self) -> Places {
        self.places
    }

    /// Moves an array.
    pub fn place(&mut self, var: VarId, place: Place) {
        if let Some(number) = self.facts.arrays.number(var) {
            self.facts.events_of(number).for_each(|event| self.used[event.number()] = None);
            self.blocks[number] = Some(place.block);
        }
        self.places.insert(var, place);
    }

    /// The views that an event uses.
    pub fn views(&mut self, event: &Event) -> Views {
        let number = event.number();
        if let Some(known) = &self.used[number] {
            return known.clone();
        }
        let of = || {
            let place = self.places.get(&event.array)?;
            let views = parts(&place.view, self.indices.part(event.part))?;
            let mut sides = SmallVec::new();
            for moving in views {
                sides.push(Side::new(self.facts, event, moving)?);
            }
            Some(Rc::new(sides))
        };
        let views = of();
        self.used[number] = Some(views.clone());
        views
    }

    /// What uses a block by other names than some, in program order.
    pub fn uses(&self, block: VarId, but: &Names) -> impl Iterator<Item = &'a Event> + use<'a> {
        let mut others = Names::new();
        for (number, of) in self.blocks.iter().enumerate() {
            if *of == Some(block) {
                others.insert(number);
            }
        }
        for (number, sources) in &self.strays {
            // It may have a place by now.
            if self.blocks[*number].is_none() && self.may_lie_in(sources, block) {
                others.insert(*number);
            }
        }
        others.remove_all(but);
        self.facts.events_of_all(others)
    }

    /// Whether an array without a place, which comes from these, may lie in a block.
    fn may_lie_in(&self, sources: &Names, block: VarId) -> bool {
        sources.iter().any(|number| match self.blocks[number] {
            Some(own) => own == block,
            None => match self.facts.arrays.at(number).map(|array| &array.source) {
                Some(Source::Branches(Some(_), Some(_)) | Source::Carried(Some(_), Some(_))) => false,
                Some(Source::View(..) | Source::Update(_) | Source::Filled(_) | Source::LoopResult(_)) => {
                    false
                }
                Some(Source::Fresh | Source::Kernel(_) | Source::Manifest(_)) => {
                    self.facts.arrays.name(number) == block
                }
                _ => true,
            },
        })
    }
}

impl Side {
    /// A view of an array at an event; nothing if its places are not known.
    pub fn new(facts: &Facts, event: &Event, moving: Moving) -> Option<Side> {
        let mut spots = SmallVec::new();
        for instance in moving.instances(&facts.ranges)? {
            spots.push(Spot { bounds: bounds(&instance, facts), apart: RefCell::default(), instance });
        }
        Some(Side { array: event.array, position: event.position, moving, spots })
    }
}

impl Spot {
    /// Whether the stretches of memory around the two are apart.
    pub fn is_far_from(&self, other: &Spot) -> bool {
        match (self.bounds, other.bounds) {
            (Some((low, high)), Some((from, to))) => high < from || to < low,
            _ => true,
        }
    }

    /// Whether the two have no place in common in any iterations. What moves together is asked about one after the
    /// other, and its places are the same.
    pub fn is_apart_from(&self, other: &Spot, facts: &Facts) -> bool {
        let Some(others) = swept(&other.instance, facts) else { return false };
        if self.apart.borrow().as_deref() == Some(&others) {
            return true;
        }
        let is_apart =
            swept(&self.instance, facts).is_some_and(|own| disjoint(&own, &others) == Overlap::Disjoint);
        if is_apart {
            *self.apart.borrow_mut() = Some(Box::new(others));
        }
        is_apart
    }
}

/// The places of an instance in all iterations together, if they are known.
fn swept(instance: &Instance, facts: &Facts) -> Option<Lmad> {
    let mut all = Lmad { offset: instance.view.offset, dims: Dims::new() };
    for (var, step) in &instance.steps {
        let range = facts.range(*var)?;
        all.offset = all.offset.checked_add(step.checked_mul(range.low)?)?;
        all.dims.push(Dim::new(range.high.checked_sub(range.low)?.checked_add(1)?, *step));
    }
    all.dims.extend_from_slice(&instance.view.dims);
    Some(all)
}

/// The least and the greatest place of an instance in all iterations; nothing if there is none.
fn bounds(instance: &Instance, facts: &Facts) -> Option<(i128, i128)> {
    let Instance { view, steps, .. } = instance;
    let (mut low, mut high) = (i128::from(view.offset), i128::from(view.offset));
    let mut reach = |first: i128, last: i128| {
        low = low.saturating_add(first.min(last));
        high = high.saturating_add(first.max(last));
    };
    for dim in &view.dims {
        if dim.size <= 0 {
            return None;
        }
        reach(0, i128::from(dim.size - 1) * i128::from(dim.stride));
    }
    for (var, step) in steps {
        let step = i128::from(*step);
        match facts.range(*var) {
            Some(range) => reach(step * i128::from(range.low), step * i128::from(range.high)),
            None => reach(i128::MIN, i128::MAX),
        }
    }
    Some((low, high))
}
