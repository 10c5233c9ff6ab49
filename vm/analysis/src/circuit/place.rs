//! Where arrays lie before anything is changed, which names share memory, and until when memory is used.

use super::facts::{Array, Change, Facts, Part, Source};
use super::moving::{Along, Moving};
use super::position::{Frame, Inside, is_after, lies_in};
use super::verdict::Place;
use crate::affine::Form;
use galopvm_kir::{Observed, Region, VarId};
use galopvm_lmad::Lmad;
use std::collections::{BTreeMap, BTreeSet};

/// The places of arrays; arrays that lie now here, now there have none.
pub type Places = BTreeMap<VarId, Place>;

/// What a region does with arrays, and where these lie as it is written, with everything that copies known to copy.
pub fn settled<'a>(region: &'a Region, observed: &'a Observed) -> (Facts<'a>, Places) {
    let mut facts = Facts::of(region, observed);
    let places = initial(&facts);
    facts.settle(&places);
    (facts, places)
}

/// The places as the region is written.
fn initial(facts: &Facts<'_>) -> Places {
    let mut places = Places::new();
    for var in facts.arrays.keys() {
        find(facts, *var, &mut places, 0);
    }
    places
}

fn find(facts: &Facts<'_>, var: VarId, places: &mut Places, depth: u32) -> Option<Place> {
    if let Some(place) = places.get(&var) {
        return Some(place.clone());
    }
    if depth > 200 {
        return None;
    }
    let array = facts.arrays.get(&var)?;
    let place = match &array.source {
        Source::Param => param(facts, var),
        Source::Fresh | Source::Kernel(_) => own(array, var),
        Source::Manifest(perm) => {
            let shape = array.shape.as_ref()?.iter().map(Form::number).collect::<Option<Vec<_>>>()?;
            Some(Place { block: var, view: Moving::still(&Lmad::manifest(&shape, perm)) })
        }
        Source::View(of, change) => {
            let of = find(facts, *of, places, depth + 1)?;
            match apply(change, &of.view) {
                Some(view) => Some(Place { block: of.block, view }),
                // No view expresses it: it is copied.
                None if matches!(change, Change::Reshape(..)) => own(array, var),
                None => None,
            }
        }
        Source::Update(of) | Source::Filled(of) => {
            if copies(facts, *of, var) {
                own(array, var)
            } else {
                find(facts, *of, places, depth + 1)
            }
        }
        Source::Branches(then, otherwise) => {
            let then = find(facts, (*then)?, places, depth + 1)?;
            let otherwise = find(facts, (*otherwise)?, places, depth + 1)?;
            (then == otherwise).then_some(then)
        }
        Source::LoopResult(carried) => find(facts, *carried, places, depth + 1),
        Source::Carried(init, next) => {
            let init = find(facts, (*init)?, places, depth + 1)?;
            // Suppose that it stays where it is; it does if the next value lies there.
            let mut supposed = places.clone();
            supposed.insert(var, init.clone());
            let next = find(facts, (*next)?, &mut supposed, depth + 1)?;
            (next == init).then(|| {
                *places = supposed;
                init
            })
        }
        Source::Unknown => None,
    }?;
    places.insert(var, place.clone());
    Some(place)
}

fn own(array: &Array, var: VarId) -> Option<Place> {
    Some(Place { block: var, view: Moving::row_major(array.shape.as_ref()?)? })
}

/// A parameter's place; its block goes by the name of the first parameter that lies in it.
fn param(facts: &Facts<'_>, var: VarId) -> Option<Place> {
    let Some((lmad, block, _)) = facts.observed(var) else { return own(facts.arrays.get(&var)?, var) };
    let same = |other: &&VarId| facts.observed(**other).is_some_and(|(_, b, _)| b == block);
    let block = facts.region.params.iter().find(same).copied().unwrap_or(var);
    Some(Place { block, view: Moving::still(lmad) })
}

/// The view under a change of layout.
pub fn apply(change: &Change, view: &Moving) -> Option<Moving> {
    match change {
        Change::Same => Some(view.clone()),
        Change::Part(part) => match &parts(view, part)?[..] {
            [part] => Some(part.clone()),
            _ => None,
        },
        Change::Permute(perm) => view.permute(perm),
        Change::Reverse => view.reverse(),
        Change::Reshape(_, new) => view.reshape(new),
    }
}

/// The views of a part, one of which it is.
pub fn parts(view: &Moving, part: &Part) -> Option<Vec<Moving>> {
    match part {
        Part::Whole => Some(vec![view.clone()]),
        Part::Index(ways) => ways.iter().map(|way| view.index(way)).collect(),
        Part::Flat(offset, dims) => Some(vec![view.flat(offset, dims)?]),
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
            let mut left = view.dims.iter();
            let mut dims = Vec::new();
            for (k, size) in shape.iter().enumerate() {
                let whole = match way.get(k) {
                    None => true,
                    Some(Along::Slice { start, count, step }) => {
                        start.number() == Some(0) && step.number() == Some(1) && count == size
                    }
                    Some(Along::At(at)) => {
                        if at.number() != Some(0) || size.number() != Some(1) {
                            return None;
                        }
                        dims.push((Form::constant(1), Form::default()));
                        continue;
                    }
                };
                if !whole {
                    return None;
                }
                dims.push(left.next()?.clone());
            }
            Some(Moving { offset: view.offset.clone(), dims })
        }
        Change::Part(Part::Flat(..) | Part::Unknown(_)) => None,
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

/// The names that may hold a name's memory, itself included; `again` follows it into further rounds of loops.
pub fn forward(facts: &Facts<'_>, from: VarId, again: bool) -> BTreeSet<VarId> {
    forward_all(facts, BTreeSet::from([from]), again)
}

/// The names that may hold the memory of one of several names.
pub fn forward_all(facts: &Facts<'_>, from: BTreeSet<VarId>, again: bool) -> BTreeSet<VarId> {
    let mut open: Vec<VarId> = from.iter().copied().collect();
    let mut all = from;
    while let Some(var) = open.pop() {
        for (next, back) in facts.flows(var) {
            if (again || !back) && all.insert(*next) {
                open.push(*next);
            }
        }
    }
    all
}

/// The names whose memory a name may be a part of, itself included.
pub fn backward(facts: &Facts<'_>, from: VarId) -> BTreeSet<VarId> {
    let mut all = BTreeSet::from([from]);
    let mut open = vec![from];
    while let Some(var) = open.pop() {
        let sources: Vec<VarId> = match facts.arrays.get(&var).map(|array| &array.source) {
            Some(Source::View(of, _) | Source::Update(of) | Source::Filled(of)) => vec![*of],
            Some(Source::Branches(a, b) | Source::Carried(a, b)) => a.iter().chain(b).copied().collect(),
            Some(Source::LoopResult(carried)) => vec![*carried],
            _ => Vec::new(),
        };
        open.extend(sources.into_iter().filter(|source| all.insert(*source)));
    }
    all
}

/// The blocks that an array without a place may lie in, by the names they were made for; nothing if in any.
pub fn may_lie_in(facts: &Facts<'_>, places: &Places, var: VarId) -> Option<BTreeSet<VarId>> {
    let mut blocks = BTreeSet::new();
    for source in backward(facts, var) {
        if let Some(place) = places.get(&source) {
            blocks.insert(place.block);
            continue;
        }
        match facts.arrays.get(&source).map(|array| &array.source) {
            Some(Source::Branches(Some(_), Some(_)) | Source::Carried(Some(_), Some(_))) => {}
            Some(Source::View(..) | Source::Update(_) | Source::Filled(_) | Source::LoopResult(_)) => {}
            Some(Source::Fresh | Source::Kernel(_) | Source::Manifest(_)) => {
                blocks.insert(source);
            }
            _ => return None,
        }
    }
    Some(blocks)
}

/// Whether `update`, which replaces a part of `of` or fills it, needs memory of its own: something that shares memory is used afterwards.
fn copies(facts: &Facts<'_>, of: VarId, update: VarId) -> bool {
    let skip = forward(facts, update, false);
    let shared = forward_all(facts, backward(facts, of), true);
    let Some(array) = facts.arrays.get(&update) else { return true };
    // Each iteration of a kernel has a value of its own.
    let parallel = array
        .position
        .iter()
        .enumerate()
        .filter(|(_, frame)| matches!(frame.inside, Some(Inside::Kernel(_) | Inside::Operator)));
    let outside = |level: usize| {
        let body = &array.position[..=level];
        let sources = backward(facts, of);
        sources.iter().any(|name| facts.arrays.get(name).is_some_and(|array| !lies_in(&array.position, body)))
    };
    if parallel.into_iter().any(|(level, _)| outside(level)) {
        return true;
    }
    used_after(facts, &shared, &skip, &array.position).is_some()
}

/// A name of some that is used after a position, apart from those to skip.
pub fn used_after(
    facts: &Facts<'_>,
    names: &BTreeSet<VarId>,
    skip: &BTreeSet<VarId>,
    position: &[Frame],
) -> Option<VarId> {
    let late = facts.events.iter().find(|event| {
        names.contains(&event.array)
            && !skip.contains(&event.array)
            && is_after(position, &event.position, |level| {
                // Memory from outside is used again in the next round.
                let defined = facts.arrays.get(&event.array).map_or(&[][..], |array| &array.position);
                !lies_in(defined, &position[..=level])
            })
    });
    late.map(|event| event.array)
}
