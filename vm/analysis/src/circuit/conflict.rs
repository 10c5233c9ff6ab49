//! Whether the target's block is used, between the first write of the arrays that move there and the point, at a
//! place that they write.
//!
//! The first place that is found decides. Finding the least one takes longer, and is left out where nobody reads it.

use super::apart::are_apart;
use super::facts::Facts;
use super::moving::{Instance, Moving};
use super::part::Part;
use super::place::parts;
use super::position::{Inside, OUTERMOST, Orders, Position};
use super::scene::{Scene, Side, Spot};
use super::verdict::{Overlap, Reason};
use super::web::Web;
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

/// A place that is written and used, with the value of each variable where it is written.
type Clash = (i64, SmallVec<[(VarId, i64); 4]>);

/// The reason why the web cannot move, if a place is used that it writes.
pub(super) fn find(scene: &mut Scene<'_>, web: &Web, point: Position, tests: &mut Tests) -> Option<Reason> {
    let facts = scene.facts;
    let writes = match writes(scene, web) {
        Ok(writes) => writes,
        Err(reason) => return Some(reason),
    };
    let home = facts.arrays.get(&web.block).map_or(Position::new(OUTERMOST, 0), |array| array.position);
    let home = if facts.bodies.depth(home) > facts.bodies.depth(point) { point } else { home };
    let whole = scene.places().get(&web.block).map(|place| place.view.clone());
    let mut search = Search { facts, tests, whole, known: None, naming: 0 };
    for event in scene.uses(web.block, web.names()) {
        if facts.bodies.ends_at(event.position, point) {
            continue;
        }
        let ways = |write: &Side| facts.bodies.count_ways((write.position, event.position), point, home);
        let writes: SmallVec<[(&Side, usize); 4]> =
            writes.iter().map(|write| (write, ways(write))).filter(|(_, ways)| *ways > 0).collect();
        if writes.is_empty() {
            continue;
        }
        let Some(views) = scene.views(event) else { return Some(Reason::UseUnknown(event.array)) };
        for used in views.iter() {
            for (write, ways) in &writes {
                if let Err(reason) = search.test(write, used, *ways, (point, home)) {
                    return Some(reason);
                }
            }
        }
    }
    search.known.map(|(_, reason)| reason)
}

/// What the web writes: where its memory is made, and its updates.
fn writes(scene: &Scene<'_>, web: &Web) -> Result<SmallVec<[Side; 2]>, Reason> {
    let facts = scene.facts;
    let mut sides = SmallVec::new();
    for event in facts.events_of_all(web.names().clone()).filter(|event| event.write) {
        let Some(view) = web.view(event.array) else { continue };
        let part = scene.indices.part(event.part);
        let unknown = || match part {
            Part::Unknown(var) => Reason::IxfnNotAvailable(*var),
            _ => Reason::Budget,
        };
        // An update at an unknown place may write all of the array.
        let views = parts(view, part).unwrap_or_else(|| SmallVec::from_elem(view.clone(), 1));
        for moving in views {
            sides.push(Side::new(facts, event, moving).ok_or_else(unknown)?);
        }
    }
    Ok(sides)
}

/// Tests of one web.
struct Search<'a> {
    facts: &'a Facts,
    tests: &'a mut Tests,
    /// How the block as a whole lies, if that is known.
    whole: Option<Moving>,
    /// The least place so far that speaks against moving it, with the reason.
    known: Option<(i64, Reason)>,
    /// How many tests are left that only look for a smaller one. They are not counted as the region's.
    naming: u32,
}

/// A question was too hard, or too many were asked.
struct Bounded;

impl Search<'_> {
    /// Tests a write against a use that comes after it in some ways, before the point; the reason if that is the last
    /// test.
    fn test(
        &mut self,
        write: &Side,
        used: &Side,
        ways: usize,
        (point, home): (Position, Position),
    ) -> Result<(), Reason> {
        let spots = || write.spots.iter().flat_map(|a| used.spots.iter().map(move |b| (a, b)));
        // What is apart in all iterations is so in those.
        if spots().all(|(a, b)| a.is_far_from(b) || ways > 2 && b.is_apart_from(a, self.facts)) {
            let tests = ways * write.spots.len() * used.spots.len();
            return self.count(u32::try_from(tests).unwrap_or(u32::MAX)).or_else(|Bounded| self.give_up());
        }
        let mut all = SmallVec::new();
        self.facts.bodies.ways_after((write.position, used.position), point, home, &mut all);
        for (orders, (a, b)) in all.iter().flat_map(|orders| spots().map(move |pair| (orders, pair))) {
            match self.count(1).and_then(|()| self.meet((a, b), orders)) {
                Ok(None) => continue,
                // Iterations may have been seen that there are not.
                Ok(Some(_)) if self.are_apart(write, used, orders) => continue,
                Err(Bounded) if self.tests.left > 0 && self.are_apart(write, used, orders) => continue,
                Ok(Some((place, at))) => {
                    if self.known.is_none() {
                        self.naming = self.tests.left;
                    }
                    if self.known.as_ref().is_none_or(|(known, _)| place < *known) {
                        let reason = reason(self.facts, (write, used), orders, (place, at));
                        self.known = Some((place, reason));
                    }
                }
                Err(Bounded) => return self.give_up(),
            }
            if self.tests.witness == Witness::First {
                return self.give_up();
            }
        }
        Ok(())
    }

    /// Takes some tests.
    fn count(&mut self, tests: u32) -> Result<(), Bounded> {
        let left = if self.known.is_some() { &mut self.naming } else { &mut self.tests.left };
        let rest = left.checked_sub(tests);
        *left = rest.unwrap_or(0);
        rest.map(|_| ()).ok_or(Bounded)
    }

    /// No more tests: if a place is known already, it is the one to be named.
    fn give_up(&mut self) -> Result<(), Reason> {
        Err(self.known.take().map_or(Reason::Budget, |(_, reason)| reason))
    }

    /// Whether two sides are apart in iterations that lie so, by the dimensions of the block.
    fn are_apart(&self, write: &Side, used: &Side, orders: &Orders) -> bool {
        let sides = (&write.moving, &used.moving);
        self.whole.as_ref().is_some_and(|whole| are_apart(self.facts, whole, sides, orders))
    }

    /// A place that is in both instances, in iterations that lie so.
    fn meet(&self, (a, b): (&Spot, &Spot), orders: &Orders) -> Result<Option<Clash>, Bounded> {
        if a.is_far_from(b) {
            return Ok(None);
        }
        let (a, b) = (&a.instance, &b.instance);
        let common = Common::of(self.facts, a, b, orders).ok_or(Bounded)?;
        let (place, at) = match meeting(&a.view, &b.view, &common.iterations) {
            Meeting::Never => return Ok(None),
            Meeting::Unknown => return Err(Bounded),
            Meeting::At { place, iterations: at } => {
                let found = match self.tests.witness {
                    Witness::First => None,
                    Witness::Least => least_common(&a.view, &b.view, &common.iterations),
                };
                found.unwrap_or_else(|| (place, at.iter().map(|(first, _)| *first).collect()))
            }
        };
        Ok(Some((place, common.vars.into_iter().zip(at).collect())))
    }
}

/// The variables that two instances depend on or that have an order, in the order of their ids.
#[derive(Default)]
struct Common {
    vars: SmallVec<[VarId; 8]>,
    iterations: SmallVec<[Iteration; 8]>,
}

impl Common {
    /// Nothing if the values of a variable are not known.
    fn of(facts: &Facts, a: &Instance, b: &Instance, orders: &[(VarId, Order)]) -> Option<Common> {
        let mut common = Common::default();
        for (var, step) in &a.steps {
            common.iteration(facts, *var)?.first_step = *step;
        }
        for (var, step) in &b.steps {
            common.iteration(facts, *var)?.second_step = *step;
        }
        for (var, value) in &a.fixed {
            common.iteration(facts, *var)?.first = (*value, *value);
        }
        for (var, value) in &b.fixed {
            common.iteration(facts, *var)?.second = (*value, *value);
        }
        for (var, order) in orders {
            common.iteration(facts, *var)?.order = *order;
        }
        Some(common)
    }

    fn iteration(&mut self, facts: &Facts, var: VarId) -> Option<&mut Iteration> {
        let at = self.vars.iter().position(|other| *other >= var).unwrap_or(self.vars.len());
        if self.vars.get(at) != Some(&var) {
            let range = facts.range(var)?;
            let values = (range.low, range.high);
            self.vars.insert(at, var);
            self.iterations.insert(
                at,
                Iteration { first_step: 0, second_step: 0, first: values, second: values, order: Order::Any },
            );
        }
        self.iterations.get_mut(at)
    }
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

fn is_parallel(facts: &Facts, position: Position, var: VarId) -> bool {
    let mut around = facts.bodies.around(position);
    around.any(|(_, inside)| matches!(inside, Inside::Kernel(vars) if vars.contains(&var)))
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
