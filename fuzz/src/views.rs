//! Pairs of views: what the algebra says of them against listing their places.
//!
//! Disjointness, injectivity, and whether accesses of different iterations meet.

use crate::case::Outcome;
use galopvm_lmad::{Dim, Iteration, Lmad, Meeting, Order, Overlap, disjoint, meeting};
use galopvm_testkit::Random;
use std::collections::BTreeSet;

/// Most places of a view.
const MOST: i64 = 4096;

/// How iterations of two accesses may lie to each other.
const ORDERS: [Order; 4] = [Order::Same, Order::Later, Order::Earlier, Order::Any];

/// Pairs of a case.
const PAIRS: u64 = 50;

fn between(random: &mut Random, low: i64, high: i64) -> i64 {
    low + random.below((high - low + 1) as usize) as i64
}

fn view(random: &mut Random, scale: i64, most: i64) -> Lmad {
    let mut left = most;
    let mut dims = Vec::new();
    for _ in 0..random.below(6) {
        let extent = match random.below(20) {
            0 => 0,
            1..=4 => between(random, 1, left.clamp(1, 40)),
            _ => between(random, 1, left.clamp(1, 6)),
        };
        left /= extent.max(1);
        // Strides that are near each other, multiples of each other, or anything.
        let stride = match (random.below(5), dims.last()) {
            (0, Some(Dim { stride, .. })) => stride + between(random, -1, 1),
            (1, Some(Dim { stride, size })) => stride * size.max(&1),
            (2, _) => i64::from(random.one_in(2)) * scale,
            _ => between(random, -scale, scale),
        };
        dims.push(Dim::new(extent, stride.clamp(-(1 << 20), 1 << 20)));
    }
    Lmad::new(between(random, -scale, 3 * scale), dims)
}

fn random_of(number: u64) -> Random {
    Random::new(number.wrapping_mul(0xd605_bbb5_8c8a_bbc9).wrapping_add(3))
}

/// The case for people: its numbers say all.
pub fn shown(number: u64) -> String {
    format!("pairs of case {number}")
}

/// Carries out a case.
pub fn run(number: u64) -> Outcome {
    let mut random = random_of(number);
    for _ in 0..PAIRS {
        let found = if random.one_in(3) { iterations(&mut random) } else { pair(&mut random) };
        if let Err(what) = found {
            return Outcome::Wrong(what);
        }
    }
    Outcome::Finished
}

fn pair(random: &mut Random) -> Result<(), String> {
    let scale = *random.pick(&[2, 5, 17, 64, 300, 5000]);
    let (a, b) = (view(random, scale, MOST), view(random, scale, MOST));
    let mut places: Vec<i64> = a.places().collect();
    places.sort_unstable();
    let repeats = places.windows(2).any(|pair| pair[0] == pair[1]);
    if a.is_injective() == repeats {
        return Err(format!("{a} is injective: {}", !repeats));
    }
    let others: BTreeSet<i64> = b.places().collect();
    let common = |place: &i64| others.contains(place);
    match disjoint(&a, &b) {
        Overlap::Disjoint => match places.iter().find(|place| common(place)) {
            Some(place) => Err(format!("{a} # {b} have place {place} in common")),
            None => Ok(()),
        },
        Overlap::Overlap { witness } if places.binary_search(&witness).is_ok() && common(&witness) => Ok(()),
        Overlap::Overlap { witness } => Err(format!("{a} # {b} do not both have place {witness}")),
        Overlap::Unknown => Ok(()),
    }
}

/// Two accesses that move with one or two loops.
fn iterations(random: &mut Random) -> Result<(), String> {
    let scale = *random.pick(&[2, 5, 17, 64]);
    let (a, b) = (view(random, scale, 24), view(random, scale, 24));
    let mut ordered = false;
    let loops: Vec<Iteration> = (0..1 + random.below(2))
        .map(|_| {
            let trips = between(random, 1, 6);
            let steps = [between(random, -scale, scale), between(random, -scale, scale)];
            // More than one that is later or earlier is not what is asked.
            let order = *random.pick(if ordered { &[Order::Same, Order::Any][..] } else { &ORDERS });
            ordered |= matches!(order, Order::Later | Order::Earlier);
            let same = random.one_in(2);
            Iteration {
                first_step: steps[0],
                second_step: if same { steps[0] } else { steps[1] },
                first: (0, trips - 1),
                second: (0, trips - 1),
                order,
            }
        })
        .collect();
    let mut found = None;
    each_pair(&loops, &mut |values| {
        let shift = |step: fn(&Iteration, (i64, i64)) -> i64| -> i64 {
            loops.iter().zip(values).map(|(one, value)| step(one, *value)).sum()
        };
        let first = shift(|one, (i, _)| one.first_step * i);
        let second = shift(|one, (_, j)| one.second_step * j);
        let places: BTreeSet<i64> = a.places().map(|place| place + first).collect();
        let common = b.places().map(|place| place + second).find(|place| places.contains(place));
        if let Some(place) = common {
            found.get_or_insert(place);
        }
    });
    match (meeting(&a, &b, &loops), found) {
        (Meeting::Never, Some(place)) => Err(format!("{a} and {b} meet at {place} in {loops:?}")),
        (Meeting::At { place, .. }, None) => {
            Err(format!("{a} and {b} do not meet, not at {place} either, in {loops:?}"))
        }
        _ => Ok(()),
    }
}

/// The two places of a pair of iterations, for each loop around both.
type PairAt<'a> = &'a mut dyn FnMut(&[(i64, i64)]);

/// All pairs of iterations that the orders allow.
fn each_pair(loops: &[Iteration], f: PairAt<'_>) {
    fn go(loops: &[Iteration], at: &mut Vec<(i64, i64)>, f: PairAt<'_>) {
        let Some(one) = loops.get(at.len()) else { return f(at) };
        for i in one.first.0..=one.first.1 {
            for j in one.second.0..=one.second.1 {
                let fits = match one.order {
                    Order::Same => i == j,
                    Order::Later => j > i,
                    Order::Earlier => j < i,
                    Order::Any => true,
                };
                if fits {
                    at.push((i, j));
                    go(loops, at, f);
                    at.pop();
                }
            }
        }
    }
    go(loops, &mut Vec::new(), f);
}
