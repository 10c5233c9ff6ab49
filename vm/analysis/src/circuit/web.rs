//! The arrays that move together: what an array is made from, back to where its memory is first made, and what is
//! made from these by changes of layout.

use super::facts::{Facts, Source};
use super::moving::Moving;
use super::place::{self, Places, backward, forward, forward_all, used_after};
use super::position::{Frame, Inside, body_of, is_after, lies_in};
use super::verdict::{Place, Reason};
use galopvm_kir::VarId;
use std::collections::{BTreeMap, BTreeSet};

/// Arrays with their new places in one block.
pub struct Web {
    /// The block they move to.
    pub block: VarId,
    /// Each with its new view, in the order in which they were reached.
    pub views: BTreeMap<VarId, Moving>,
    /// The order in which they were reached.
    pub order: Vec<VarId>,
    /// Those whose statement makes the memory.
    pub made: Vec<VarId>,
    /// Arrays that cannot share the place, each with the one that is made while they are live.
    pub live: Vec<(VarId, VarId)>,
}

impl Web {
    /// The web of `array`, copied at `point` (a position) into `place`.
    pub fn of(
        facts: &Facts<'_>,
        places: &Places,
        array: VarId,
        place: &Place,
        point: &[Frame],
    ) -> Result<Web, Reason> {
        let mut web = Web {
            block: place.block,
            views: BTreeMap::new(),
            order: Vec::new(),
            made: Vec::new(),
            live: Vec::new(),
        };
        web.rebase(facts, array, &place.view, point)?;
        web.follow(facts, places, point)?;
        Ok(web)
    }

    /// The new places, in the order in which the arrays were reached.
    pub fn places(&self) -> Vec<(VarId, Place)> {
        let place = |var: &VarId| {
            let view = self.views.get(var)?.clone();
            Some((*var, Place { block: self.block, view }))
        };
        self.order.iter().filter_map(place).collect()
    }

    fn rebase(
        &mut self,
        facts: &Facts<'_>,
        var: VarId,
        view: &Moving,
        point: &[Frame],
    ) -> Result<(), Reason> {
        let array = facts.arrays.get(&var).ok_or(Reason::BlockNotInScope)?;
        if let Some(known) = self.views.get(&var) {
            return if known == view { Ok(()) } else { Err(Reason::NotInvertible(var, var)) };
        }
        self.views.insert(var, view.clone());
        self.order.push(var);
        match &array.source {
            Source::Param | Source::Unknown => Err(Reason::BlockNotInScope),
            Source::Manifest(perm) if !is_in_order(view, perm) => Err(Reason::LayoutChosen(var)),
            Source::Fresh | Source::Kernel(_) | Source::Manifest(_) => {
                if !lies_in(&array.position, body_of(point)) {
                    return Err(Reason::BlockNotInScope);
                }
                available(view, &array.position)?;
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
                    let mut way = array.position.clone();
                    way.last_mut()?.inside = Some(Inside::Branch(side));
                    lies_in(&facts.arrays.get(&name)?.position, &way).then_some(name)
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
        facts: &Facts<'_>,
        carried: VarId,
        result: VarId,
        view: &Moving,
        point: &[Frame],
    ) -> Result<(), Reason> {
        let unknown = Reason::BlockNotInScope;
        let array = facts.arrays.get(&carried).ok_or(unknown.clone())?;
        let Source::Carried(Some(init), Some(next)) = array.source else { return Err(unknown) };
        let inner = body_of(&array.position);
        let next_array = facts.arrays.get(&next).ok_or(unknown.clone())?;
        let vars = inner.last().map(|frame| frame.inside.clone());
        let varies = next_array.shape.as_ref().is_none_or(|shape| {
            shape.iter().any(|size| match &vars {
                Some(Some(Inside::Loop(Some(var)))) => size.coefficient(*var) != 0,
                _ => false,
            })
        });
        if varies {
            return Err(Reason::SizeVariant);
        }
        self.views.insert(carried, view.clone());
        self.order.push(carried);
        let before = self.made.len();
        self.rebase(facts, next, view, inner_point(facts, next, inner, point).as_slice())?;
        // Whatever is made anew in the body comes after the last use of what came in.
        let names = forward(facts, carried, false);
        let anew: Vec<VarId> = self.made[before..].to_vec();
        for made in anew {
            let Some(position) = facts.arrays.get(&made).map(|array| &array.position) else { continue };
            if !lies_in(position, inner) {
                return Err(Reason::NotLastUse);
            }
            let live = facts.events.iter().any(|event| {
                names.contains(&event.array)
                    && !is_before(&event.position, position)
                    && lies_in(&event.position, inner)
            });
            if live {
                return Err(Reason::LoopInputLive(carried, next));
            }
            self.live_meanwhile(facts, made, inner);
        }
        self.rebase(facts, init, view, point)?;
        // The first value is not needed again, by other names than the loop's.
        let own = forward(facts, carried, true);
        let mut first = forward_all(facts, backward(facts, init), false);
        first.retain(|name| !own.contains(name) && *name != result);
        let loop_position = &facts.arrays.get(&result).ok_or(unknown)?.position;
        let used = facts
            .events
            .iter()
            .any(|event| first.contains(&event.array) && (lies_in(&event.position, inner)));
        if used || used_after(facts, &first, &BTreeSet::new(), loop_position).is_some() {
            return Err(Reason::NotLastUse);
        }
        Ok(())
    }

    /// Arrays of the same size that are made in the loop and read by the statement that makes `made`.
    fn live_meanwhile(&mut self, facts: &Facts<'_>, made: VarId, inner: &[Frame]) {
        let Some(array) = facts.arrays.get(&made) else { return };
        for event in &facts.events {
            let Some(other) = facts.arrays.get(&event.array) else { continue };
            let reads = !event.write
                && event.position.starts_with(body_of(&array.position))
                && event.position.len() >= array.position.len()
                && event.position[array.position.len() - 1].stm
                    == array.position[array.position.len() - 1].stm;
            let fresh = matches!(other.source, Source::Fresh | Source::Kernel(_) | Source::Manifest(_));
            let entry = (event.array, made);
            if reads
                && fresh
                && lies_in(&other.position, inner)
                && other.shape == array.shape
                && !self.live.contains(&entry)
            {
                self.live.push(entry);
            }
        }
    }

    /// New views for what is made from the web by changes of layout, and a check that nothing else shares its
    /// memory.
    fn follow(&mut self, facts: &Facts<'_>, places: &Places, point: &[Frame]) -> Result<(), Reason> {
        loop {
            let mut more = Vec::new();
            for (var, array) in facts.arrays.iter().filter(|(var, _)| !self.views.contains_key(var)) {
                let source = match &array.source {
                    Source::View(of, change) => self.views.get(of).map(|view| (*of, Some((change, view)))),
                    Source::Update(of) | Source::Filled(of) => {
                        let place = places.get(var).filter(|place| place.block != *var);
                        place.and_then(|_| self.views.get(of).map(|_| (*of, None)))
                    }
                    Source::Branches(a, b) => [a, b]
                        .into_iter()
                        .flatten()
                        .find(|of| self.views.contains_key(of))
                        .map(|of| (*of, None)),
                    Source::Carried(init, next) => [init, next]
                        .into_iter()
                        .flatten()
                        .find(|of| self.views.contains_key(of))
                        .map(|of| (*of, None)),
                    _ => None,
                };
                match source {
                    None => {}
                    Some((of, Some((change, view)))) => {
                        let new = place::apply(change, view).ok_or(Reason::NotInvertible(of, *var))?;
                        more.push((*var, new));
                    }
                    // Memory of the web goes another way as well.
                    Some((_, None)) => return Err(Reason::NotLastUse),
                }
            }
            if more.is_empty() {
                break;
            }
            for (var, view) in more {
                self.order.push(var);
                self.views.insert(var, view);
            }
        }
        let names: BTreeSet<VarId> = self.views.keys().copied().collect();
        match used_after(facts, &names, &BTreeSet::new(), point) {
            Some(_) => Err(Reason::NotLastUse),
            None => Ok(()),
        }
    }
}

/// Whether the dimensions of a view lie in memory in this order, outermost first.
fn is_in_order(view: &Moving, perm: &[usize]) -> bool {
    let stride =
        |dim: &usize| view.dims.get(*dim).and_then(|(_, stride)| stride.number()).map(i64::unsigned_abs);
    let strides: Option<Vec<u64>> = perm.iter().map(stride).collect();
    strides.is_some_and(|strides| strides.windows(2).all(|pair| pair[0] >= pair[1]))
}

/// The end of the loop body that `next` is a result of: the place by which it has to be made.
fn inner_point(facts: &Facts<'_>, next: VarId, inner: &[Frame], point: &[Frame]) -> Vec<Frame> {
    let inside = facts.arrays.get(&next).is_some_and(|array| lies_in(&array.position, inner));
    if inside {
        let mut way = inner.to_vec();
        way.push(Frame { stm: usize::MAX, inside: None });
        way
    } else {
        point.to_vec()
    }
}

/// Whether everything a view depends on is known at a position.
fn available(view: &Moving, position: &[Frame]) -> Result<(), Reason> {
    let open = |var: VarId| {
        position.iter().any(|frame| match &frame.inside {
            Some(Inside::Loop(other)) => *other == Some(var),
            Some(Inside::Kernel(vars)) => vars.contains(&var),
            _ => false,
        })
    };
    match view.variables().into_iter().find(|var| !open(*var)) {
        Some(var) => Err(Reason::IxfnNotAvailable(Some(var))),
        None => Ok(()),
    }
}

/// Whether the first position comes strictly before the statement of the second, in one round of the loops around.
fn is_before(first: &[Frame], second: &[Frame]) -> bool {
    is_after(first, second, |_| false)
}
