//! The choice over a sequence of kernels: dynamic programming over the layouts that arrays are held in.
//!
//! A state says for each array which layouts are held. A kernel is run along one of its lanes; each access takes the
//! cheapest layout that is held or made for it (a copy is made for a read that gains by it, never for an update),
//! writes leave the layout that was written, and what is dead is held no more. The cheapest way to each state is kept,
//! so that the result is exact, unless there are more than [`MOST_STATES`], or more than [`MOST_WAYS`] ways to go on
//! from them: then those go on that are cheapest together
//! with what is ahead of them, and the result says that it is bounded.

use crate::Effort;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::rc::Rc;

/// States of one step that are followed exactly.
pub const MOST_STATES: usize = 4096;
/// Most states that go on if there are more, or if the work for all of them is too much.
pub const BEAM: usize = 64;
/// Ways to go on from a state that are looked at for all kernels together; each kernel that is left gets an equal
/// part of what is left.
pub const MOST_WAYS: usize = 1 << 12;
/// Cheapest states that others are compared with.
const LEADERS: usize = 8;
/// Copies of an array that are held besides the layout it came in.
pub const MOST_COPIES: usize = 2;

/// An access of a kernel along one lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// The number of the array.
    pub array: usize,
    /// By layout: time of a run.
    pub time: Vec<u64>,
}

/// A write of a kernel along one lane.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Write {
    /// The number of the array.
    pub array: usize,
    /// By layout: time of a run.
    pub time: Vec<u64>,
    /// A new array: any layout may be written. Otherwise one that is held.
    pub fresh: bool,
}

/// One way to run a kernel.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Lane {
    /// A name for people.
    pub name: String,
    /// What is read.
    pub reads: Vec<Access>,
    /// What is written.
    pub writes: Vec<Write>,
}

/// One kernel.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Kernel {
    /// Ways to run it; at least one.
    pub lanes: Vec<Lane>,
    /// Arrays that nobody reads afterwards.
    pub dead: Vec<usize>,
    /// How often it runs before anything changes.
    pub runs: u64,
}

/// A sequence of kernels.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Problem {
    /// By array: the layout that it comes in, if it is there from the start.
    pub initial: Vec<Option<usize>>,
    /// By array and layout: what making a copy costs.
    pub copy: Vec<Vec<u64>>,
    /// In order.
    pub kernels: Vec<Kernel>,
}

/// Layouts of one array, a bit for each.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Held(u64);

/// The layouts that are held, by array.
pub type Holdings = Vec<Held>;

/// Layouts of one array that can be told apart.
pub const MOST_LAYOUTS: usize = 64;

impl Held {
    /// A single layout.
    pub fn one(layout: usize) -> Held {
        Held(1 << (layout % MOST_LAYOUTS))
    }

    /// True if this one is held.
    pub fn contains(self, layout: usize) -> bool {
        self.0 & Held::one(layout).0 != 0
    }

    /// How many.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// True if none is.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Ascending.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let layout = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(layout)
        })
    }

    fn with(self, layout: usize) -> Held {
        Held(self.0 | Held::one(layout).0)
    }

    fn without(self, layout: usize) -> Held {
        Held(self.0 & !Held::one(layout).0)
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layouts: Vec<String> = self.iter().map(|layout| layout.to_string()).collect();
        write!(f, "{{{}}}", layouts.join(","))
    }
}

/// What was decided for one kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The number of the lane.
    pub lane: usize,
    /// The layouts held afterwards.
    pub held: Holdings,
    /// By read of the lane: the layout that it takes.
    pub taken: Vec<usize>,
    /// The cost up to here.
    pub cost: u64,
}

/// The decision.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Solution {
    /// By kernel.
    pub steps: Vec<Step>,
    /// Cost of all.
    pub total: u64,
    /// There were too many states: the total may not be the least.
    pub bounded: bool,
    /// No choice costs less than this.
    pub at_least: u64,
    /// By kernel: the cheapest way to each state, cheapest states first.
    pub states: Vec<Vec<(Holdings, u64)>>,
}

/// A state on the way, with where it came from.
#[derive(Clone)]
struct Reached {
    cost: u64,
    from: usize,
    lane: usize,
}

/// One outcome for one array in one kernel.
struct Outcome {
    held: Held,
    cost: u64,
}

/// The cheapest way through a sequence.
pub fn solve(problem: &Problem, effort: Effort) -> Solution {
    solve_from(problem, &start(problem), effort)
}

fn start(problem: &Problem) -> Holdings {
    problem.initial.iter().map(|layout| layout.map_or(Held::default(), Held::one)).collect()
}

fn solve_from(problem: &Problem, start: &Holdings, effort: Effort) -> Solution {
    let mut layers: Vec<Vec<(Holdings, Reached)>> =
        vec![vec![(start.clone(), Reached { cost: 0, from: 0, lane: 0 })]];
    let mut bounded = false;
    let mut ways_left = MOST_WAYS * effort.times();
    let mut states: Vec<Vec<(Holdings, u64)>> = Vec::new();
    let ahead = Ahead::of(problem);
    for (k, kernel) in problem.kernels.iter().enumerate() {
        let mut before = std::mem::take(&mut layers[k]);
        let mut known = Known::default();
        // The ways of a kernel from one state tell how many states can be followed.
        let share = ways_left / (problem.kernels.len() - k);
        let each = before.first().map_or(1, |(held, _)| known.ways(problem, kernel, held)).max(1);
        if before.len().saturating_mul(each) > share.max(ways_left / 2) {
            ahead.keep_best(k, &mut before, (share / each).clamp(1, BEAM));
            bounded = true;
        }
        let most = (share / (before.len() * kernel.lanes.len()).max(1)).max(8);
        let mut next: BTreeMap<Holdings, Reached> = BTreeMap::new();
        for (from, (held, reached)) in before.iter().enumerate() {
            for (lane, way) in kernel.lanes.iter().enumerate() {
                let (ends, ways, all) = known.outcomes((problem, &ahead), k, (lane, way), held, most);
                bounded |= !all;
                ways_left = ways_left.saturating_sub(ways);
                for (held, cost) in ends {
                    let cost = reached.cost.saturating_add(cost);
                    if next.get(&held).is_none_or(|known| cost < known.cost) {
                        next.insert(held, Reached { cost, from, lane });
                    }
                }
            }
        }
        layers[k] = before;
        let mut layer: Vec<(Holdings, Reached)> = next.into_iter().collect();
        // Of equal costs those first where arrays keep the layout that they came in.
        let other =
            |held: &Holdings| held.iter().filter(|held| !held.is_empty() && !held.contains(0)).count();
        layer.sort_by_cached_key(|(held, reached)| (reached.cost, other(held)));
        states.push(layer.iter().map(|(held, reached)| (held.clone(), reached.cost)).collect());
        let later = &problem.kernels[k + 1..];
        if layer.len() > MOST_STATES {
            ahead.keep_best(k + 1, &mut layer, BEAM);
            bounded = true;
        }
        let layer = worth_following(problem, later, layer);
        layers.push(layer);
    }
    let mut steps = Vec::new();
    let mut at = 0;
    for (k, kernel) in problem.kernels.iter().enumerate().rev() {
        let Some((held, reached)) = layers[k + 1].get(at) else { break };
        let Some(way) = kernel.lanes.get(reached.lane) else { break };
        at = reached.from;
        let taken = taken(problem, kernel, way, &layers[k][at].0, held);
        steps.push(Step { lane: reached.lane, held: held.clone(), taken, cost: reached.cost });
    }
    steps.reverse();
    let total = steps.last().map_or(0, |step| step.cost);
    Solution { steps, total, bounded, at_least: at_least(problem), states }
}

/// States, cheapest first, without those that a cheaper one can catch up with: it makes the copies that it lacks when
/// they are needed, and has still paid no more. (For an update nothing is copied, so that layouts that are updated
/// later have to be there.)
fn worth_following(
    problem: &Problem,
    later: &[Kernel],
    layer: Vec<(Holdings, Reached)>,
) -> Vec<(Holdings, Reached)> {
    let mut updated = vec![false; problem.copy.len()];
    for write in later.iter().flat_map(|kernel| &kernel.lanes).flat_map(|lane| &lane.writes) {
        updated[write.array] |= !write.fresh;
    }
    let lacks = |from: &Holdings, to: &Holdings| {
        let mut cost = 0u64;
        for (array, (from, to)) in from.iter().zip(to).enumerate() {
            for layout in to.iter().filter(|layout| !from.contains(*layout)) {
                if from.is_empty() || updated[array] || from.with(layout).len() > MOST_COPIES + 1 {
                    return None;
                }
                cost = cost.saturating_add(problem.copy[array][layout]);
            }
        }
        Some(cost)
    };
    let mut kept: Vec<(Holdings, Reached)> = Vec::new();
    for (held, reached) in layer {
        let caught = kept.iter().take(LEADERS).any(|(other, ahead)| {
            reached.cost > ahead.cost
                && lacks(other, &held).is_some_and(|cost| ahead.cost.saturating_add(cost) <= reached.cost)
        });
        if !caught {
            kept.push((held, reached));
        }
    }
    kept
}

/// The layouts that the reads of a kernel take between two states.
fn taken(problem: &Problem, kernel: &Kernel, lane: &Lane, before: &Holdings, after: &Holdings) -> Vec<usize> {
    let mut sets = before.clone();
    for array in 0..problem.copy.len() {
        let reads: Vec<&Access> = lane.reads.iter().filter(|access| access.array == array).collect();
        let replaced = kernel.dead.contains(&array) || lane.writes.iter().any(|write| write.array == array);
        let outcomes = copies_for(problem, array, before[array], &reads, kernel.runs);
        let ends = outcomes.iter().filter(|outcome| replaced || outcome.held == after[array]);
        if let Some(outcome) = ends.min_by_key(|outcome| outcome.cost) {
            sets[array] = outcome.held;
        }
    }
    let layout = |access: &Access| best(sets[access.array], access).map_or(0, |(_, layout)| layout);
    lane.reads.iter().map(layout).collect()
}

/// The cheapest layout of those that are held, with its time.
fn best(held: Held, access: &Access) -> Option<(u64, usize)> {
    let times = access.time.iter().enumerate().filter(|(layout, _)| held.contains(*layout));
    times.map(|(layout, time)| (*time, layout)).min()
}

/// Every access at its best, no copy paid.
fn at_least(problem: &Problem) -> u64 {
    let least = |times: &[u64]| times.iter().copied().min().unwrap_or(0);
    let lane = |lane: &Lane| {
        let reads = lane.reads.iter().map(|access| least(&access.time));
        let writes = lane.writes.iter().map(|write| least(&write.time));
        reads.chain(writes).fold(0, u64::saturating_add)
    };
    let kernel =
        |kernel: &Kernel| kernel.lanes.iter().map(lane).min().unwrap_or(0).saturating_mul(kernel.runs);
    problem.kernels.iter().map(kernel).fold(0, u64::saturating_add)
}

/// What the reads that come later would take: what tells states apart where not all can be followed.
struct Ahead {
    /// By kernel, array and layout, if that layout alone were held.
    along: Vec<Vec<Vec<u64>>>,
    /// By kernel and array, along the layout that is best with its copy.
    made: Vec<Vec<u64>>,
}

impl Ahead {
    fn of(problem: &Problem) -> Ahead {
        let none: Vec<Vec<u64>> = problem.copy.iter().map(|layouts| vec![0; layouts.len()]).collect();
        let mut all = vec![none];
        for kernel in problem.kernels.iter().rev() {
            let mut here = all[all.len() - 1].clone();
            // What is replaced or dies here is not read later.
            let writes = kernel.lanes.iter().flat_map(|lane| &lane.writes).map(|write| write.array);
            for array in writes.chain(kernel.dead.iter().copied()) {
                here[array].fill(0);
            }
            // Along the lane that is best for each: the least that it can be.
            let mut least: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
            for lane in &kernel.lanes {
                let mut sums: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
                for read in &lane.reads {
                    let sum = sums.entry(read.array).or_insert_with(|| vec![0; here[read.array].len()]);
                    for (sum, time) in sum.iter_mut().zip(&read.time) {
                        *sum = sum.saturating_add(time.saturating_mul(kernel.runs));
                    }
                }
                for (array, sums) in sums {
                    let known = least.entry(array).or_insert_with(|| sums.clone());
                    known.iter_mut().zip(sums).for_each(|(known, sum)| *known = sum.min(*known));
                }
            }
            for (array, sums) in least {
                here[array].iter_mut().zip(sums).for_each(|(all, sum)| *all = all.saturating_add(sum));
            }
            all.push(here);
        }
        all.reverse();
        let made = |arrays: &Vec<Vec<u64>>| {
            let best = |(times, copies): (&Vec<u64>, &Vec<u64>)| {
                times.iter().zip(copies).map(|(time, copy)| time.saturating_add(*copy)).min().unwrap_or(0)
            };
            arrays.iter().zip(&problem.copy).map(best).collect()
        };
        Ahead { made: all.iter().map(made).collect(), along: all }
    }

    /// What is ahead of a kernel for one array: along a layout that is held, or that is made at once.
    fn cost(&self, kernel: usize, array: usize, held: Held) -> u64 {
        if held.is_empty() {
            return 0;
        }
        let along = &self.along[kernel][array];
        held.iter().filter_map(|layout| along.get(layout).copied()).fold(self.made[kernel][array], u64::min)
    }

    /// Leaves the states that promise most, cheapest first.
    fn keep_best(&self, kernel: usize, layer: &mut Vec<(Holdings, Reached)>, count: usize) {
        let score = |(held, reached): &(Holdings, Reached)| {
            let each = held.iter().enumerate().map(|(array, held)| self.cost(kernel, array, *held));
            each.fold(reached.cost, u64::saturating_add)
        };
        layer.sort_by_cached_key(score);
        layer.truncate(count);
        layer.sort_by_key(|(_, reached)| reached.cost);
    }
}

/// What can happen to arrays in one kernel, by lane, array, and what is held of it: states share most of it.
#[derive(Default)]
struct Known(BTreeMap<(usize, usize, Held), Rc<[Outcome]>>);

impl Known {
    fn array(
        &mut self,
        problem: &Problem,
        kernel: &Kernel,
        (lane, way): (usize, &Lane),
        array: usize,
        held: Held,
    ) -> Rc<[Outcome]> {
        let found = self.0.entry((lane, array, held));
        Rc::clone(found.or_insert_with(|| array_outcomes(problem, kernel, way, array, held).into()))
    }

    /// The number of ways to go on from a state.
    fn ways(&mut self, problem: &Problem, kernel: &Kernel, held: &Holdings) -> usize {
        let mut all = 0usize;
        for (lane, way) in kernel.lanes.iter().enumerate() {
            let touched = touched(kernel, way);
            let counts = touched
                .iter()
                .map(|array| self.array(problem, kernel, (lane, way), *array, held[*array]).len());
            all = all.saturating_add(counts.fold(1, usize::saturating_mul));
        }
        all
    }

    /// The states after a kernel along a lane, with what it costs to get there; how many ways were looked at; false
    /// if there are more than `most`.
    fn outcomes(
        &mut self,
        (problem, ahead): (&Problem, &Ahead),
        number: usize,
        way: (usize, &Lane),
        held: &Holdings,
        most: usize,
    ) -> (Vec<(Holdings, u64)>, usize, bool) {
        let kernel = &problem.kernels[number];
        let touched = touched(kernel, way.1);
        let mut complete = true;
        let mut ways = 0usize;
        // By array of `touched`: the cost so far, the entry before it, the number of the outcome, and the cost with
        // what is ahead.
        let mut levels: Vec<Vec<(u64, usize, usize, u64)>> = vec![vec![(0, 0, 0, 0)]];
        let mut here = Vec::with_capacity(touched.len());
        for array in &touched {
            let outcomes = self.array(problem, kernel, way, *array, held[*array]);
            let all = &levels[levels.len() - 1];
            let mut next = Vec::with_capacity(all.len() * outcomes.len());
            let later: Vec<u64> =
                outcomes.iter().map(|outcome| ahead.cost(number + 1, *array, outcome.held)).collect();
            for (before, (cost, .., score)) in all.iter().enumerate() {
                next.extend(outcomes.iter().zip(&later).enumerate().map(|(k, (outcome, later))| {
                    let score = score.saturating_add(outcome.cost).saturating_add(*later);
                    (cost.saturating_add(outcome.cost), before, k, score)
                }));
            }
            ways += next.len();
            if next.len() > most {
                next.sort_by_key(|(.., score)| *score);
                next.truncate((most / 2).max(1));
                complete = false;
            }
            here.push(outcomes);
            levels.push(next);
        }
        let state = |end: &(u64, usize, usize, u64)| {
            let mut holdings = held.clone();
            let mut entry = *end;
            for (level, (array, outcomes)) in touched.iter().zip(&here).enumerate().rev() {
                holdings[*array] = outcomes[entry.2].held;
                entry = levels[level][entry.1];
            }
            (holdings, end.0)
        };
        (levels[touched.len()].iter().map(state).collect(), ways, complete)
    }
}

/// The arrays that a kernel changes something for, ascending.
fn touched(kernel: &Kernel, lane: &Lane) -> Vec<usize> {
    let reads = lane.reads.iter().map(|access| access.array);
    let writes = lane.writes.iter().map(|write| write.array);
    let mut all: Vec<usize> = reads.chain(writes).chain(kernel.dead.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// What can happen to one array.
fn array_outcomes(problem: &Problem, kernel: &Kernel, lane: &Lane, array: usize, held: Held) -> Vec<Outcome> {
    let reads: Vec<&Access> = lane.reads.iter().filter(|access| access.array == array).collect();
    let write = lane.writes.iter().find(|write| write.array == array);
    let mut found = copies_for(problem, array, held, &reads, kernel.runs);
    if let Some(write) = write {
        // An update goes to what was there; copies are of what it replaces.
        let layouts: Vec<usize> =
            if write.fresh { (0..write.time.len()).collect() } else { held.iter().collect() };
        let before = found.iter().map(|outcome| outcome.cost).min().unwrap_or(0);
        let written = |layout: &usize| {
            let time = write.time.get(*layout).copied().unwrap_or(0).saturating_mul(kernel.runs);
            Outcome { held: Held::one(*layout), cost: before.saturating_add(time) }
        };
        found = layouts.iter().map(written).collect();
    }
    if kernel.dead.contains(&array) {
        let cost = found.iter().map(|outcome| outcome.cost).min().unwrap_or(0);
        return vec![Outcome { held: Held::default(), cost }];
    }
    found
}

/// The sets of copies that reads may be given: at most one new layout for each of them.
fn copies_for(problem: &Problem, array: usize, held: Held, reads: &[&Access], runs: u64) -> Vec<Outcome> {
    let layouts = problem.copy[array].len().min(MOST_LAYOUTS);
    let mut sets: Vec<Held> = vec![held];
    for _ in 0..reads.len().min(MOST_COPIES) {
        for set in sets.clone() {
            for layout in (0..layouts).filter(|layout| !set.contains(*layout)) {
                let more = set.with(layout);
                if more.len() <= MOST_COPIES + 1 && !sets.contains(&more) {
                    sets.push(more);
                }
            }
        }
    }
    // Another copy may have to go for a new one.
    if held.len() > MOST_COPIES && !reads.is_empty() {
        for gone in held.iter() {
            let others = (0..layouts).filter(|layout| !held.contains(*layout));
            sets.extend(others.map(|layout| held.without(gone).with(layout)));
        }
    }
    let mut found: Vec<Outcome> = Vec::new();
    for set in sets {
        let mut cost = 0u64;
        let mut used = Held::default();
        for access in reads {
            if let Some((time, layout)) = best(set, access) {
                cost = cost.saturating_add(time.saturating_mul(runs));
                used = used.with(layout);
            }
        }
        let new = || set.iter().filter(|layout| !held.contains(*layout));
        // Nothing is made that nobody takes; the next kernel can make it as well.
        if set != held && new().any(|layout| !used.contains(layout)) {
            continue;
        }
        let copies = new().map(|layout| problem.copy[array][layout]).fold(0, u64::saturating_add);
        found.push(Outcome { held: set, cost: cost.saturating_add(copies) });
    }
    found
}

/// The cost of rounds that repeat.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cycle {
    /// Cost of all rounds of the cycle.
    pub cost: u64,
    /// How many rounds it takes until the layouts held are the same again.
    pub rounds: u64,
}

/// A sequence that is run again and again: the cheapest rounds to repeat, by their mean. Nothing if there are too many
/// states.
pub fn steady(problem: &Problem) -> Option<Cycle> {
    // What is reached at the ends of rounds, and at what cost from where.
    let mut nodes: Vec<Holdings> = vec![start(problem)];
    let mut edges: Vec<(usize, usize, u64)> = Vec::new();
    let mut from = 0;
    while from < nodes.len() {
        let round = solve_from(problem, &nodes[from], Effort::Quick);
        for (held, cost) in round.states.last()? {
            let to = match nodes.iter().position(|node| node == held) {
                Some(to) => to,
                None => {
                    nodes.push(held.clone());
                    nodes.len() - 1
                }
            };
            edges.push((from, to, *cost));
        }
        from += 1;
        if nodes.len() > BEAM * 4 {
            return None;
        }
    }
    // Karp: the least mean of a cycle from the cheapest walks of each length.
    let count = nodes.len();
    let mut walks: Vec<Vec<Option<u64>>> = vec![vec![None; count]; count + 1];
    walks[0][0] = Some(0);
    for length in 1..=count {
        for (from, to, cost) in &edges {
            let Some(before) = walks[length - 1][*from] else { continue };
            let cost = before.saturating_add(*cost);
            if walks[length][*to].is_none_or(|known| cost < known) {
                walks[length][*to] = Some(cost);
            }
        }
    }
    let less = |a: Cycle, b: Cycle| {
        u128::from(a.cost) * u128::from(b.rounds) < u128::from(b.cost) * u128::from(a.rounds)
    };
    let mut best: Option<Cycle> = None;
    for node in 0..count {
        let Some(all) = walks[count][node] else { continue };
        let mut worst: Option<Cycle> = None;
        for (length, walk) in walks[..count].iter().enumerate() {
            let Some(part) = walk[node] else { continue };
            let cycle = Cycle { cost: all.saturating_sub(part), rounds: (count - length) as u64 };
            if worst.is_none_or(|worst| less(worst, cycle)) {
                worst = Some(cycle);
            }
        }
        if let Some(worst) = worst
            && best.is_none_or(|best| less(worst, best))
        {
            best = Some(worst);
        }
    }
    best
}

fn holdings_text(holdings: &Holdings) -> String {
    holdings.iter().map(Held::to_string).collect::<Vec<_>>().join(" ")
}

impl Solution {
    /// The states after a kernel, counted from 1: `state after kernel 1 : {0,1} 1000 ; {0} 5000`.
    pub fn states_text(&self, kernel: usize) -> String {
        let states = self.states.get(kernel.wrapping_sub(1)).map_or(&[][..], |states| states);
        let each = states.iter().map(|(held, cost)| format!("{} {cost}", holdings_text(held)));
        format!("state after kernel {kernel} : {}", each.collect::<Vec<_>>().join(" ; "))
    }

    /// The way through: `best : {0,2} then {0,2} ; total 1000`.
    pub fn text(&self) -> String {
        let states: Vec<String> = self.steps.iter().map(|step| holdings_text(&step.held)).collect();
        let mut text = format!("best : {} ; total {}", states.join(" then "), self.total);
        if self.bounded {
            let _ = write!(text, " ; BOUNDED, at least {}", self.at_least);
        }
        text
    }
}
