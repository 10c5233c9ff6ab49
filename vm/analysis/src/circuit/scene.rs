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
use smallvec::SmallVec;
use std::rc::Rc;

/// A region with the places of its arrays so far.
pub struct Scene<'a> {
    pub facts: &'a Facts,
    pub indices: &'a Indices<'a>,
    places: Places,
    /// By event: its views, if they were asked for.
    used: Vec<Option<Views>>,
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

/// An instance of a view, with the least and the greatest place of all iterations; nothing if it has no place.
pub struct Spot {
    pub instance: Instance,
    bounds: Option<(i128, i128)>,
}

impl<'a> Scene<'a> {
    /// The region as it is written.
    pub fn new(facts: &'a Facts, indices: &'a Indices<'a>, places: Places) -> Scene<'a> {
        Scene { facts, indices, places, used: vec![None; facts.events.len()] }
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
    pub fn uses(&self, block: VarId, but: &Names) -> SmallVec<[&'a Event; 16]> {
        let facts = self.facts;
        let others = (0..facts.arrays.count()).filter(|number| {
            if but.contains(*number) || facts.events_of(*number).next().is_none() {
                return false;
            }
            let var = facts.arrays.name(*number);
            match self.places.get(&var) {
                Some(place) => place.block == block,
                None => self.may_lie_in(var, block),
            }
        });
        facts.events_of_all(others)
    }

    /// Whether an array without a place may lie in a block.
    fn may_lie_in(&self, var: VarId, block: VarId) -> bool {
        backward(self.facts, var).iter().any(|number| {
            let source = self.facts.arrays.name(number);
            match self.places.get(&source) {
                Some(place) => place.block == block,
                None => match self.facts.arrays.at(number).map(|array| &array.source) {
                    Some(Source::Branches(Some(_), Some(_)) | Source::Carried(Some(_), Some(_))) => false,
                    Some(Source::View(..) | Source::Update(_) | Source::Filled(_) | Source::LoopResult(_)) => {
                        false
                    }
                    Some(Source::Fresh | Source::Kernel(_) | Source::Manifest(_)) => source == block,
                    _ => true,
                },
            }
        })
    }
}

impl Side {
    /// A view of an array at an event; nothing if its places are not known.
    pub fn new(facts: &Facts, event: &Event, moving: Moving) -> Option<Side> {
        let spot = |instance: Instance| Spot { bounds: bounds(&instance, facts), instance };
        let spots = moving.instances(&facts.ranges)?.into_iter().map(spot).collect();
        Some(Side { array: event.array, position: event.position, moving, spots })
    }
}

impl Spot {
    /// Whether the stretches of memory around the two are apart.
    pub fn is_apart_from(&self, other: &Spot) -> bool {
        match (self.bounds, other.bounds) {
            (Some((low, high)), Some((from, to))) => high < from || to < low,
            _ => true,
        }
    }
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
