//! The arrays that move together: what an array is made from, back to where its memory is first made, and what is
//! made from these by changes of layout.

use super::arrays::Names;
use super::facts::{Facts, Source};
use super::moving::Moving;
use super::place::{self, Places, backward, forward, forward_of, is_used_after};
use super::position::{Inside, Position};
use super::verdict::{Place, Reason};
use galopvm_kir::VarId;

/// Arrays with their new places in one block.
pub struct Web {
    /// The block they move to.
    pub block: VarId,
    /// Each with its new view, in the order in which they were reached.
    views: Vec<(VarId, Moving)>,
    /// The same arrays.
    names: Names,
    /// Those whose statement makes the memory.
    pub made: Vec<VarId>,
    /// Arrays that cannot share the place, each with the one that is made while they are live.
    pub live: Vec<(VarId, VarId)>,
}

impl Web {
    /// The web of `array`, copied at `point` (a position) into `place`.
    pub fn of(
        facts: &Facts,
        places: &Places,
        array: VarId,
        place: &Place,
        point: Position,
    ) -> Result<Web, Reason> {
        let mut web = Web {
            block: place.block,
            views: Vec::new(),
            names: Names::new(),
            made: Vec::new(),
            live: Vec::new(),
        };
        web.rebase(facts, array, &place.view, point)?;
        web.follow(facts, places, point)?;
        Ok(web)
    }

    /// The new view of an array.
    pub fn view(&self, array: VarId) -> Option<&Moving> {
        self.views.iter().find(|(var, _)| *var == array).map(|(_, view)| view)
    }

    /// The arrays by number.
    pub(super) fn names(&self) -> &Names {
        &self.names
    }

    /// The new places, in the order in which the arrays were reached.
    pub fn places(&self) -> Vec<(VarId, Place)> {
        let place = |(var, view): &(VarId, Moving)| (*var, Place { block: self.block, view: view.clone() });
        self.views.iter().map(place).collect()
    }

    /// The same, when the web is not needed any more.
    pub fn into_places(self) -> impl Iterator<Item = (VarId, Place)> {
        let Web { block, views, .. } = self;
        views.into_iter().map(move |(var, view)| (var, Place { block, view }))
    }

    fn add(&mut self, facts: &Facts, var: VarId, view: Moving) {
        if let Some(number) = facts.arrays.number(var) {
            self.names.insert(number);
        }
        self.views.push((var, view));
    }

    fn rebase(&mut self, facts: &Facts, var: VarId, view: &Moving, point: Position) -> Result<(), Reason> {
        let array = facts.arrays.get(&var).ok_or(Reason::BlockNotInScope)?;
        if let Some(known) = self.view(var) {
            return if known == view { Ok(()) } else { Err(Reason::NotInvertible(var, var)) };
        }
        self.add(facts, var, view.clone());
        match &array.source {
            Source::Param | Source::Unknown => Err(Reason::BlockNotInScope),
            Source::Manifest(perm) if !is_in_order(view, perm) => Err(Reason::LayoutChosen(var)),
            Source::Fresh | Source::Kernel(_) | Source::Manifest(_) => {
                if !facts.bodies.lies_in(array.position, point.body) {
                    return Err(Reason::BlockNotInScope);
                }
                available(facts, view, array.position)?;
                self.made.push(var);
                Ok(())
            }
            Source::View(of, change) => {
                let (of, source) = (*of, facts.arrays.get(of).ok_or(Reason::BlockNotInScope)?);
                let inverse = place::invert(change, view, source).ok_or(Reason::NotInvertible(of, var))?;
                self.rebase(facts, of, &inverse, point)
            }
            Source::Update(of) | Source::Filled(of) => self.rebase(facts, *of, view, point),
            Source::Branches(then, otherwise) => {
                let sides = [(true, *then), (false, *otherwise)];
                let inside = sides.map(|(side, name)| {
                    let name = name?;
                    let made = facts.arrays.get(&name)?.position;
                    facts.bodies.lies_on_side(made, array.position, side).then_some(name)
                });
                let [Some(then), Some(otherwise)] = inside else { return Err(Reason::TwoLiveSources) };
                self.rebase(facts, then, view, point)?;
                self.rebase(facts, otherwise, view, point)
            }
            Source::LoopResult(carried) => self.around_loop(facts, *carried, var, view, point),
            Source::Carried(..) => Err(Reason::BlockNotInScope),
        }
    }

    /// The result of a loop: the carried name, its first and its next value all get the place.
    fn around_loop(
        &mut self,
        facts: &Facts,
        carried: VarId,
        result: VarId,
        view: &Moving,
        point: Position,
    ) -> Result<(), Reason> {
        let (unknown, bodies) = (Reason::BlockNotInScope, &facts.bodies);
        let array = facts.arrays.get(&carried).ok_or(unknown.clone())?;
        let Source::Carried(Some(init), Some(next)) = array.source else { return Err(unknown) };
        let inner = array.position.body;
        let next_array = facts.arrays.get(&next).ok_or(unknown.clone())?;
        let counter = match bodies.around(array.position).next() {
            Some((_, Inside::Loop(var))) => *var,
            _ => None,
        };
        let varies = next_array.shape.as_ref().is_none_or(|shape| {
            shape.iter().any(|size| counter.is_some_and(|var| size.coefficient(var) != 0))
        });
        if varies {
            return Err(Reason::SizeVariant);
        }
        self.add(facts, carried, view.clone());
        let before = self.made.len();
        // By the end of the body the next value has to be made, if it is made there.
        let end = match bodies.lies_in(next_array.position, inner) {
            true => Position::new(inner, usize::MAX),
            false => point,
        };
        self.rebase(facts, next, view, end)?;
        // Whatever is made anew in the body comes after the last use of what came in.
        let names = forward_of(facts, carried, false);
        for at in before..self.made.len() {
            let made = self.made[at];
            let Some(position) = facts.arrays.get(&made).map(|array| array.position) else { continue };
            if !bodies.lies_in(position, inner) {
                return Err(Reason::NotLastUse);
            }
            let is_live = |used: Position| !bodies.is_before(used, position) && bodies.lies_in(used, inner);
            if names.iter().any(|name| facts.events_of(name).any(|event| is_live(event.position))) {
                return Err(Reason::LoopInputLive(carried, next));
            }
            self.live_meanwhile(facts, made, array.position);
        }
        self.rebase(facts, init, view, point)?;
        // The first value is not needed again, by other names than the loop's.
        let mut first = forward(facts, backward(facts, init), false);
        first.remove_all(&forward_of(facts, carried, true));
        first.remove_all(&facts.arrays.number(result).into_iter().collect());
        let loop_position = facts.arrays.get(&result).ok_or(unknown)?.position;
        let inside = |name: usize| facts.events_of(name).any(|event| bodies.lies_in(event.position, inner));
        if first.iter().any(inside) || is_used_after(facts, &first, loop_position) {
            return Err(Reason::NotLastUse);
        }
        Ok(())
    }

    /// Arrays of the same size that are made in the loop around `inner` and read by the statement that makes `made`.
    fn live_meanwhile(&mut self, facts: &Facts, made: VarId, inner: Position) {
        let Some(array) = facts.arrays.get(&made) else { return };
        for event in facts.events.iter().filter(|event| !event.write) {
            let Some(other) = facts.arrays.get(&event.array) else { continue };
            let fresh = matches!(other.source, Source::Fresh | Source::Kernel(_) | Source::Manifest(_));
            let entry = (event.array, made);
            if fresh
                && facts.bodies.lies_at(event.position, array.position)
                && facts.bodies.lies_in(other.position, inner.body)
                && other.shape == array.shape
                && !self.live.contains(&entry)
            {
                self.live.push(entry);
            }
        }
    }

    /// New views for what is made from the web by changes of layout, and a check that nothing else shares its
    /// memory.
    fn follow(&mut self, facts: &Facts, places: &Places, point: Position) -> Result<(), Reason> {
        let mut known = 0;
        while known < self.views.len() {
            // In the order of their ids, what is made from those that are new.
            let of = |(var, _): &(VarId, Moving)| facts.arrays.number(*var);
            let flows = self.views[known..].iter().filter_map(of).flat_map(|number| facts.flows(number));
            let made: Names = flows.map(|(to, _)| to).filter(|to| !self.names.contains(*to)).collect();
            known = self.views.len();
            let mut more = Vec::new();
            for number in made.iter() {
                let Some(array) = facts.arrays.at(number) else { continue };
                let var = facts.arrays.name(number);
                match &array.source {
                    Source::View(of, change) => {
                        let Some(view) = self.view(*of) else { continue };
                        let new = place::apply(change, view).ok_or(Reason::NotInvertible(*of, var))?;
                        more.push((var, new));
                    }
                    Source::LoopResult(_) => {}
                    Source::Update(_) | Source::Filled(_)
                        if places.get(&var).is_none_or(|place| place.block == var) => {}
                    // Memory of the web goes another way as well.
                    _ => return Err(Reason::NotLastUse),
                }
            }
            for (var, view) in more {
                self.add(facts, var, view);
            }
        }
        if is_used_after(facts, &self.names, point) { Err(Reason::NotLastUse) } else { Ok(()) }
    }
}

/// Whether the dimensions of a view lie in memory in this order, outermost first.
fn is_in_order(view: &Moving, perm: &[usize]) -> bool {
    let stride = |dim: &usize| view.axis(*dim).and_then(|(_, stride)| stride.number()).map(i64::unsigned_abs);
    let strides: Option<Vec<u64>> = perm.iter().map(stride).collect();
    strides.is_some_and(|strides| strides.windows(2).all(|pair| pair[0] >= pair[1]))
}

/// Whether everything a view depends on is known at a position.
fn available(facts: &Facts, view: &Moving, position: Position) -> Result<(), Reason> {
    match view.variables().into_iter().find(|var| !facts.bodies.is_open(*var, position)) {
        Some(var) => Err(Reason::IxfnNotAvailable(Some(var))),
        None => Ok(()),
    }
}
