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
use crate::affine::Range;
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

/// An instance of a view, with the places of all iterations together.
pub struct Spot {
    pub instance: Instance,
    /// Nothing if there is no place, or if they are not known.
    swept: Option<Lmad>,
    /// The least and the greatest one; nothing if there is none.
    bounds: Option<(i128, i128)>,
    /// What was found to be apart from it, last.
    apart: RefCell<Option<Lmad>>,
}

impl<'a> Scene<'a> {
    /// The region as it is written.
    pub fn new(facts: &'a Facts, indices: &'a Indices<'a>, places: Places) -> Scene<'a> {
        let has_events = |number: &usize| facts.events_of(*number).next().is_some();
        let strays = (0..facts.arrays.count())
            .filter(|number| places.get(&facts.arrays.name(*number)).is_none() && has_events(number))
            .map(|number| (number, backward(facts, facts.arrays.name(number))));
        Scene { facts, indices, strays: strays.collect(), places, used: vec![None; facts.events.len()] }
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
        let arrays = &self.facts.arrays;
        let mut others = Names::new();
        for (var, _) in self.places.iter().filter(|(_, place)| place.block == block) {
            arrays.number(*var).map(|number| others.insert(number));
        }
        for (number, sources) in &self.strays {
            // It may have a place by now.
            if self.places.get(&arrays.name(*number)).is_none() && self.may_lie_in(sources, block) {
                others.insert(*number);
            }
        }
        others.remove_all(but);
        self.facts.events_of_all(others.iter())
    }

    /// Whether an array without a place, which comes from these, may lie in a block.
    fn may_lie_in(&self, sources: &Names, block: VarId) -> bool {
        sources.iter().any(|number| {
            let source = self.facts.arrays.name(number);
            match self.places.get(&source) {
                Some(place) => place.block == block,
                None => match self.facts.arrays.at(number).map(|array| &array.source) {
                    Some(Source::Branches(Some(_), Some(_)) | Source::Carried(Some(_), Some(_))) => false,
                    Some(
                        Source::View(..) | Source::Update(_) | Source::Filled(_) | Source::LoopResult(_),
                    ) => false,
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
        let spots = moving.instances(&facts.ranges)?.into_iter().map(|instance| Spot::new(instance, facts));
        let spots = spots.collect();
        Some(Side { array: event.array, position: event.position, moving, spots })
    }
}

impl Spot {
    fn new(instance: Instance, facts: &Facts) -> Spot {
        let Instance { view, steps, .. } = &instance;
        let mut swept = Some(Lmad { offset: view.offset, dims: Dims::new() });
        for (var, step) in steps {
            swept = swept.zip(facts.range(*var)).and_then(|(mut swept, Range { low, high, .. })| {
                swept.offset = swept.offset.checked_add(step.checked_mul(*low)?)?;
                swept.dims.push(Dim::new(high.checked_sub(*low)?.checked_add(1)?, *step));
                Some(swept)
            });
        }
        if let Some(swept) = &mut swept {
            swept.dims.extend_from_slice(&view.dims);
        }
        let bounds = match &swept {
            Some(swept) => bounds(swept),
            None => Some((i128::MIN, i128::MAX)),
        };
        Spot { instance, swept, bounds, apart: RefCell::default() }
    }

    /// Whether the stretches of memory around the two are apart.
    pub fn is_far_from(&self, other: &Spot) -> bool {
        match (self.bounds, other.bounds) {
            (Some((low, high)), Some((from, to))) => high < from || to < low,
            _ => true,
        }
    }

    /// Whether the two have no place in common in any iterations. What moves together is asked about one after the
    /// other, and its places are the same.
    pub fn is_apart_from(&self, other: &Spot) -> bool {
        let (Some(places), Some(others)) = (&self.swept, &other.swept) else { return false };
        if self.apart.borrow().as_ref() == Some(others) {
            return true;
        }
        let is_apart = disjoint(places, others) == Overlap::Disjoint;
        if is_apart {
            *self.apart.borrow_mut() = Some(others.clone());
        }
        is_apart
    }
}

/// The least and the greatest place of a view; nothing if there is none.
fn bounds(view: &Lmad) -> Option<(i128, i128)> {
    let start = (i128::from(view.offset), i128::from(view.offset));
    view.dims.iter().try_fold(start, |(low, high), dim| {
        let reach = i128::from(dim.size.checked_sub(1).filter(|last| *last >= 0)?) * i128::from(dim.stride);
        Some((low.saturating_add(reach.min(0)), high.saturating_add(reach.max(0))))
    })
}
