//! Whether the target's block is used, between the first write of the arrays that move there and the point, at a
//! place that they write.
//!
//! The first place that is found decides. Finding the least one takes longer, and is left out where nobody reads it.

use super::facts::{Event, Facts};
use super::moving::{Instance, Moving};
use super::part::{Indices, Part};
use super::place::{Places, may_lie_in, parts};
use super::position::{Inside, OUTERMOST, Orders, Position, Ways};
use super::verdict::{Overlap, Reason};
use super::web::Web;
use crate::affine::Range;
use galopvm_kir::VarId;
use galopvm_lmad::{Iteration, Lmad, Meeting, Order, meeting};
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// Most tests of two views for a region.
pub const PAIR_TESTS: u32 = 256;

/// Most places and iterations that are gone through to name the least common place.
const MOST_LISTED: i64 = 1 << 14;

/// Which place is named where some speak against moving an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Witness {
    /// The one that is found first: for whoever wants to know only whether there is one.
    First,
    /// The least one, as far as sets are small: for people.
    Least,
}

/// What tests may cost, and what they look for.
pub(super) struct Tests {
    /// How many are left for the region.
    pub left: u32,
    /// The place to be named.
    pub witness: Witness,
}

/// A region with the places of its arrays so far.
pub(super) struct Scene<'a> {
    pub facts: &'a Facts,
    pub indices: &'a Indices<'a>,
    pub places: &'a Places,
}

/// One side of a test.
struct Side {
    array: VarId,
    position: Position,
    moving: Moving,
    spots: SmallVec<[Spot; 1]>,
}

/// An instance of a view, with the least and the greatest place of all iterations; nothing if it has no place.
struct Spot {
    instance: Instance,
    bounds: Option<(i128, i128)>,
}

/// A place that is written and used, with the value of each variable where it is written.
type Clash = (i64, SmallVec<[(VarId, i64); 4]>);

/// The reason why the web cannot move, if a place is used that it writes.
pub(super) fn find(scene: &Scene<'_>, web: &Web, point: Position, tests: &mut Tests) -> Option<Reason> {
    let Scene { facts, indices, places } = *scene;
    let writes = match writes(facts, indices, web) {
        Ok(writes) => writes,
        Err(reason) => return Some(reason),
    };
    let home = facts.arrays.get(&web.block).map_or(Position::new(OUTERMOST, 0), |array| array.position);
    let home = if facts.bodies.depth(home) > facts.bodies.depth(point) { point } else { home };
    // Once a place is known, more tests only look for a smaller one, and are not counted as the region's.
    let mut naming = None;
    let mut least: Option<(i64, Reason)> = None;
    for event in uses(facts, places, web) {
        if facts.bodies.ends_at(event.position, point) {
            continue;
        }
        let ways: SmallVec<[(&Side, Ways); 4]> = writes
            .iter()
            .map(|write| (write, facts.bodies.ways_after(write.position, event.position, point, home)))
            .filter(|(_, ways)| !ways.is_empty())
            .collect();
        if ways.is_empty() {
            continue;
        }
        let views = places.get(&event.array).and_then(|place| parts(&place.view, indices.part(event.part)));
        let Some(views) = views else { return Some(Reason::UseUnknown(event.array)) };
        for moving in views {
            let Some(used) = Side::new(event, moving, &facts.ranges) else {
                return Some(Reason::UseUnknown(event.array));
            };
            let pairs = ways.iter().flat_map(|(write, all)| all.iter().map(move |orders| (*write, orders)));
            for (write, orders) in pairs {
                for (a, b) in write.spots.iter().flat_map(|a| used.spots.iter().map(move |b| (a, b))) {
                    let left = naming.as_mut().unwrap_or(&mut tests.left);
                    match clash(facts, (a, b), orders, tests.witness, left) {
                        Ok(None) => continue,
                        Ok(Some((place, at))) => {
                            if least.as_ref().is_none_or(|(known, _)| place < *known) {
                                least = Some((place, reason(facts, (write, &used), orders, (place, at))));
                            }
                        }
                        // A place is known already: it is the one to be named.
                        Err(reason) => return Some(least.map_or(reason, |(_, known)| known)),
                    }
                    if tests.witness == Witness::First {
                        return least.map(|(_, reason)| reason);
                    }
                    naming.get_or_insert(tests.left);
                }
            }
        }
    }
    least.map(|(_, reason)| reason)
}

/// What uses the block by other names than the web's, in program order.
fn uses<'a>(facts: &'a Facts, places: &Places, web: &Web) -> SmallVec<[&'a Event; 16]> {
    let others = (0..facts.arrays.count()).filter(|number| {
        let var = facts.arrays.name(*number);
        !web.names().contains(*number)
            && facts.events_of(*number).next().is_some()
            && match places.get(&var) {
                Some(place) => place.block == web.block,
                None => may_lie_in(facts, places, var).is_none_or(|blocks| blocks.contains(&web.block)),
            }
    });
    facts.events_of_all(others)
}

/// What the web writes: where its memory is made, and its updates.
fn writes(facts: &Facts, indices: &Indices<'_>, web: &Web) -> Result<SmallVec<[Side; 2]>, Reason> {
    let mut sides = SmallVec::new();
    for event in facts.events_of_all(web.names().iter()).iter().filter(|event| event.write) {
        let Some(view) = web.view(event.array) else { continue };
        let part = indices.part(event.part);
        let unknown = || match part {
            Part::Unknown(var) => Reason::IxfnNotAvailable(*var),
            _ => Reason::Budget,
        };
        // An update at an unknown place may write all of the array.
        let views = parts(view, part).unwrap_or_else(|| SmallVec::from_elem(view.clone(), 1));
        for moving in views {
            sides.push(Side::new(event, moving, &facts.ranges).ok_or_else(unknown)?);
        }
    }
    Ok(sides)
}

impl Side {
    fn new(event: &Event, moving: Moving, ranges: &[Range]) -> Option<Side> {
        let spot = |instance: Instance| Spot { bounds: bounds(&instance, ranges), instance };
        let spots = moving.instances(ranges)?.into_iter().map(spot).collect();
        Some(Side { array: event.array, position: event.position, moving, spots })
    }
}

/// The least and the greatest place of an instance in all iterations; nothing if there is none.
fn bounds(instance: &Instance, ranges: &[Range]) -> Option<(i128, i128)> {
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
        match ranges.iter().find(|range| range.var == *var) {
            Some(range) => reach(step * i128::from(range.low), step * i128::from(range.high)),
            None => reach(i128::MIN, i128::MAX),
        }
    }
    Some((low, high))
}

fn reason(facts: &Facts, (write, used): (&Side, &Side), orders: &Orders, (place, at): Clash) -> Reason {
    let apart = orders.iter().find(|(_, order)| *order != Order::Same);
    let iteration = apart.and_then(|(var, order)| {
        let (_, at) = *at.iter().find(|(other, _)| other == var)?;
        let later = *order == Order::Later && !is_parallel(facts, write.position, *var);
        Some(Reason::OverlapLater { var: *var, at, later, witness: place })
    });
    let same = || Overlap {
        write: (write.array, write.moving.clone()),
        used: (used.array, used.moving.clone()),
        witness: place,
    };
    iteration.unwrap_or_else(|| Reason::Overlap(Box::new(same())))
}

/// A place that is in both instances, in iterations that lie so.
fn clash(
    facts: &Facts,
    (write, used): (&Spot, &Spot),
    orders: &Orders,
    witness: Witness,
    left: &mut u32,
) -> Result<Option<Clash>, Reason> {
    *left = left.checked_sub(1).ok_or(Reason::Budget)?;
    let (Some((low_a, high_a)), Some((low_b, high_b))) = (write.bounds, used.bounds) else { return Ok(None) };
    if high_a < low_b || high_b < low_a {
        return Ok(None);
    }
    let (a, b) = (&write.instance, &used.instance);
    let mut vars: SmallVec<[VarId; 8]> = SmallVec::new();
    for steps in [&a.steps[..], &a.fixed, &b.steps, &b.fixed] {
        vars.extend(steps.iter().map(|(var, _)| *var));
    }
    vars.extend(orders.iter().map(|(var, _)| *var));
    vars.sort_unstable();
    vars.dedup();
    let iterations = vars
        .iter()
        .map(|var| iteration(*var, (a, b), orders, &facts.ranges))
        .collect::<Option<SmallVec<[Iteration; 6]>>>()
        .ok_or(Reason::Budget)?;
    let (place, at) = match meeting(&a.view, &b.view, &iterations) {
        Meeting::Never => return Ok(None),
        Meeting::Unknown => return Err(Reason::Budget),
        Meeting::At { place, iterations: at } => {
            let found = match witness {
                Witness::First => None,
                Witness::Least => least_common(&a.view, &b.view, &iterations),
            };
            found.unwrap_or_else(|| (place, at.iter().map(|(first, _)| *first).collect()))
        }
    };
    Ok(Some((place, vars.into_iter().zip(at).collect())))
}

fn is_parallel(facts: &Facts, position: Position, var: VarId) -> bool {
    let mut around = facts.bodies.around(position);
    around.any(|(_, inside)| matches!(inside, Inside::Kernel(vars) if vars.contains(&var)))
}

fn iteration(
    var: VarId,
    (a, b): (&Instance, &Instance),
    orders: &[(VarId, Order)],
    ranges: &[Range],
) -> Option<Iteration> {
    let range = ranges.iter().find(|range| range.var == var)?;
    let step = |instance: &Instance| {
        instance.steps.iter().find(|(other, _)| *other == var).map_or(0, |(_, step)| *step)
    };
    let values = |instance: &Instance| {
        let fixed = instance.fixed.iter().find(|(other, _)| *other == var);
        fixed.map_or((range.low, range.high), |(_, value)| (*value, *value))
    };
    let order = orders.iter().find(|(other, _)| *other == var).map_or(Order::Any, |(_, order)| *order);
    Some(Iteration { first_step: step(a), second_step: step(b), first: values(a), second: values(b), order })
}

/// The least common place of two views over all iterations, with the first side's iteration; nothing if there is
/// too much to go through.
fn least_common(a: &Lmad, b: &Lmad, iterations: &[Iteration]) -> Option<(i64, Vec<i64>)> {
    let values = |range: (i64, i64)| range.0..=range.1;
    // Most often there are too many, which is better known before any is listed.
    let mut count = 1i64;
    for it in iterations {
        count = count.saturating_mul(pairs_of(it));
        if count > MOST_LISTED {
            return None;
        }
    }
    if count.saturating_mul(a.elements().saturating_add(b.elements())) > MOST_LISTED * 8 {
        return None;
    }
    let mut pairs: Vec<(i64, i64, Vec<i64>)> = vec![(0, 0, Vec::new())];
    for it in iterations {
        let mut next = Vec::new();
        for (first, second, at) in &pairs {
            for i in values(it.first) {
                for j in values(it.second) {
                    let fits = match it.order {
                        Order::Same => i == j,
                        Order::Later => j > i,
                        Order::Earlier => j < i,
                        Order::Any => true,
                    };
                    // A variable that neither side depends on matters by its order only.
                    if fits {
                        next.push((
                            first + it.first_step * i,
                            second + it.second_step * j,
                            [at.as_slice(), &[i]].concat(),
                        ));
                    }
                }
            }
        }
        pairs = next;
    }
    let mut least: Option<(i64, Vec<i64>)> = None;
    for (first, second, at) in pairs {
        let places: BTreeSet<i64> = a.places().map(|place| place + first).collect();
        let common = b.places().map(|place| place + second).filter(|place| places.contains(place)).min();
        if let Some(place) = common
            && least.as_ref().is_none_or(|(known, _)| place < *known)
        {
            least = Some((place, at));
        }
    }
    least
}

/// How many pairs of iterations there are, about; exactly if they are few enough to be listed.
fn pairs_of(it: &Iteration) -> i64 {
    let length = |(low, high): (i64, i64)| high.saturating_sub(low).saturating_add(1).max(0);
    let ((low, high), (from, to)) = (it.first, it.second);
    let mut count = 0i64;
    match it.order {
        Order::Any => return length(it.first).saturating_mul(length(it.second)),
        Order::Same => return length((low.max(from), high.min(to))),
        Order::Later | Order::Earlier => {
            for i in low..=high {
                let others =
                    if it.order == Order::Later { (from.max(i + 1), to) } else { (from, to.min(i - 1)) };
                count = count.saturating_add(length(others));
                if count > MOST_LISTED {
                    break;
                }
            }
        }
    }
    count
}
