//! Whether the target's block is used, between the first write of the arrays that move there and the point, at a
//! place that they write.

use super::facts::{Facts, Part};
use super::moving::{Instance, Moving};
use super::place::{Places, may_lie_in, parts};
use super::position::{Frame, Orders, Position, body_of, ways_after};
use super::verdict::Reason;
use super::web::Web;
use crate::affine::Range;
use galopvm_kir::VarId;
use galopvm_lmad::{Iteration, Lmad, Meeting, Order, meeting};
use std::collections::BTreeSet;

/// Most tests of two views for a region.
pub const PAIR_TESTS: u32 = 256;

/// Most places and iterations that are gone through to name the least common place.
const MOST_LISTED: i64 = 1 << 14;

/// One side of a test.
struct Side<'a> {
    array: VarId,
    position: &'a Position,
    moving: Moving,
    instances: Vec<Instance>,
}

/// A place that is written and used.
struct Clash {
    place: i64,
    /// The variable whose iterations differ, the writing one, and whether the other comes later.
    iteration: Option<(VarId, i64, bool)>,
}

/// The reason why the web cannot move, if a place is used that it writes.
pub fn find(
    facts: &Facts<'_>,
    places: &Places,
    web: &Web,
    point: &[Frame],
    budget: &mut u32,
) -> Option<Reason> {
    let writes = match writes(facts, web) {
        Ok(writes) => writes,
        Err(reason) => return Some(reason),
    };
    let home = facts.arrays.get(&web.block).map_or(&[][..], |array| &array.position);
    let home = if home.len() > point.len() { point } else { home };
    let mut worst: Option<(Clash, Reason)> = None;
    for event in &facts.events {
        if web.views.contains_key(&event.array) || ends_at(&event.position, point) {
            continue;
        }
        let relevant = |write: &Side<'_>| ways_after(write.position, &event.position, point, home);
        let place = places.get(&event.array);
        if place.is_some_and(|place| place.block != web.block) {
            continue;
        }
        let ways: Vec<(&Side<'_>, Vec<Orders>)> = writes
            .iter()
            .map(|write| (write, relevant(write)))
            .filter(|(_, ways)| !ways.is_empty())
            .collect();
        if ways.is_empty() {
            continue;
        }
        let views = match place {
            Some(place) => parts(&place.view, &event.part),
            None => {
                let blocks = may_lie_in(facts, places, event.array);
                if blocks.is_some_and(|blocks| !blocks.contains(&web.block)) {
                    continue;
                }
                None
            }
        };
        let Some(views) = views else { return Some(Reason::UseUnknown(event.array)) };
        for moving in views {
            let Some(instances) = moving.instances(&facts.ranges) else {
                return Some(Reason::UseUnknown(event.array));
            };
            let used = Side { array: event.array, position: &event.position, moving, instances };
            for (write, orders) in &ways {
                for order in orders {
                    match clash(&facts.ranges, write, &used, order, budget) {
                        Ok(None) => {}
                        Ok(Some(clash)) => {
                            let least = worst.as_ref().is_none_or(|(known, _)| clash.place < known.place);
                            if least {
                                let reason = reason(facts, write, &used, &clash);
                                worst = Some((clash, reason));
                            }
                        }
                        Err(reason) => return Some(reason),
                    }
                }
            }
        }
    }
    worst.map(|(_, reason)| reason)
}

/// Whether an event is at the point, or after it in the same body.
fn ends_at(position: &[Frame], point: &[Frame]) -> bool {
    let body = body_of(point);
    position.len() > body.len()
        && position[..body.len()] == *body
        && point.last().is_some_and(|last| position[body.len()].stm >= last.stm)
}

/// What the web writes: where its memory is made, and its updates.
fn writes<'a>(facts: &'a Facts<'_>, web: &Web) -> Result<Vec<Side<'a>>, Reason> {
    let mut sides = Vec::new();
    for event in facts.events.iter().filter(|event| event.write) {
        let Some(view) = web.views.get(&event.array) else { continue };
        let unknown = || match event.part {
            Part::Unknown(var) => Reason::IxfnNotAvailable(var),
            _ => Reason::Budget,
        };
        // An update at an unknown place may write all of the array.
        let views = parts(view, &event.part).unwrap_or_else(|| vec![view.clone()]);
        for moving in views {
            let instances = moving.instances(&facts.ranges).ok_or_else(unknown)?;
            sides.push(Side { array: event.array, position: &event.position, moving, instances });
        }
    }
    Ok(sides)
}

fn reason(facts: &Facts<'_>, write: &Side<'_>, used: &Side<'_>, clash: &Clash) -> Reason {
    match clash.iteration {
        Some((var, at, later)) => Reason::OverlapLater { var, at, later, witness: clash.place },
        None => Reason::Overlap {
            write: (write.array, write.moving.text(facts.region)),
            used: (used.array, used.moving.text(facts.region)),
            witness: clash.place,
        },
    }
}

fn clash(
    ranges: &[Range],
    write: &Side<'_>,
    used: &Side<'_>,
    orders: &Orders,
    budget: &mut u32,
) -> Result<Option<Clash>, Reason> {
    let mut least: Option<Clash> = None;
    for a in &write.instances {
        for b in &used.instances {
            if *budget == 0 {
                return Err(Reason::Budget);
            }
            *budget -= 1;
            let vars: BTreeSet<VarId> = [&a.steps, &a.fixed, &b.steps, &b.fixed]
                .into_iter()
                .flatten()
                .map(|(var, _)| *var)
                .chain(orders.iter().map(|(var, _)| *var))
                .collect();
            let iterations = vars
                .iter()
                .map(|var| iteration(*var, (a, b), orders, ranges))
                .collect::<Option<Vec<Iteration>>>()
                .ok_or(Reason::Budget)?;
            let found = match meeting(&a.view, &b.view, &iterations) {
                Meeting::Never => continue,
                Meeting::Unknown => return Err(Reason::Budget),
                Meeting::At { place, iterations: at } => {
                    let (place, at) = least_common(&a.view, &b.view, &iterations)
                        .unwrap_or((place, at.iter().map(|(first, _)| *first).collect()));
                    let apart = orders.iter().find(|(_, order)| *order != Order::Same);
                    let iteration = apart.and_then(|(var, order)| {
                        let k = vars.iter().position(|other| other == var)?;
                        let sequential = !is_parallel(write.position, *var);
                        Some((*var, *at.get(k)?, sequential && *order == Order::Later))
                    });
                    Clash { place, iteration }
                }
            };
            if least.as_ref().is_none_or(|known| found.place < known.place) {
                least = Some(found);
            }
        }
    }
    Ok(least)
}

fn is_parallel(position: &Position, var: VarId) -> bool {
    position.iter().any(
        |frame| matches!(&frame.inside, Some(super::position::Inside::Kernel(vars)) if vars.contains(&var)),
    )
}

fn iteration(
    var: VarId,
    (a, b): (&Instance, &Instance),
    orders: &Orders,
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
