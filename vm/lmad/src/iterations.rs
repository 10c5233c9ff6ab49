//! Whether two views that move with iteration variables ever meet, in iterations that lie in a given order: what
//! loops and kernels ask about what one iteration writes and another one uses.
//!
//! All iterations are asked about at once: the variables are further unknowns of the equation under disjointness.
//! The difference of a common variable between the two sides is an unknown of its own, coupled to the variable.

use smallvec::SmallVec;

use crate::disjoint::{Overlap, disjoint};
use crate::equation::{Coupling, NODE_BUDGET, Solution, Term, solve_coupled};
use crate::view::{Lmad, saturate};

/// How the values of an iteration variable on the two sides lie to each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Order {
    /// Both sides are in the same iteration.
    Same,
    /// The second side is in a later iteration than the first one.
    Later,
    /// The second side is in an earlier iteration than the first one.
    Earlier,
    /// Any two iterations, also the same one. (Also for a variable of one side only.)
    Any,
}

/// An iteration variable: the steps of the two views for it, and which iterations are meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Iteration {
    /// Change of the first view's offset from one iteration to the next.
    pub first_step: i64,
    /// Change of the second view's offset.
    pub second_step: i64,
    /// Least and greatest value on the first side.
    pub first: (i64, i64),
    /// Least and greatest value on the second side.
    pub second: (i64, i64),
    /// How the two values lie to each other.
    pub order: Order,
}

impl Iteration {
    /// A variable from 0 to `trips - 1` on both sides.
    pub fn new(trips: i64, order: Order, first_step: i64, second_step: i64) -> Iteration {
        let range = (0, trips.saturating_sub(1));
        Iteration { first_step, second_step, first: range, second: range, order }
    }
}

/// How two moving views lie to each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Meeting {
    /// They never meet in such iterations.
    Never,
    /// They do.
    At {
        /// A common place.
        place: i64,
        /// The iteration of each side, variable by variable.
        iterations: SmallVec<[(i64, i64); 4]>,
    },
    /// The search gave up: they may meet.
    Unknown,
}

/// Whether two views meet whose offsets move with iteration variables: at value 0 of each variable the views lie as
/// given. At most one variable may be [`Later`](Order::Later) or [`Earlier`](Order::Earlier); of several, the answer
/// holds for the first such, and the others count as [`Any`](Order::Any).
pub fn meeting(first: &Lmad, second: &Lmad, iterations: &[Iteration]) -> Meeting {
    if iterations.is_empty() {
        return match disjoint(first, second) {
            Overlap::Disjoint => Meeting::Never,
            Overlap::Overlap { witness } => Meeting::At { place: witness, iterations: SmallVec::new() },
            Overlap::Unknown => Meeting::Unknown,
        };
    }
    if first.is_empty() || second.is_empty() {
        return Meeting::Never;
    }
    let of_first = first.dims.iter().map(|dim| Term { stride: dim.stride, low: 0, high: dim.size - 1 });
    let of_second = second.dims.iter().map(|dim| Term { stride: dim.stride, low: 1 - dim.size, high: 0 });
    let mut terms: SmallVec<[Term; 8]> = of_first.chain(of_second).collect();
    let mut unknowns: SmallVec<[Unknowns; 4]> = SmallVec::new();
    let mut coupling = None;
    for iteration in iterations {
        match unknowns_of(iteration, terms.len(), coupling.is_some()) {
            Some((more, meaning, bound)) => {
                terms.extend(more);
                unknowns.push(meaning);
                coupling = coupling.or(bound);
            }
            None => return Meeting::Never,
        }
    }
    let target = i128::from(second.offset) - i128::from(first.offset);
    match solve_coupled(&terms, target, coupling, NODE_BUDGET) {
        Solution::None => Meeting::Never,
        Solution::Unknown => Meeting::Unknown,
        Solution::Found(values) => {
            let found: SmallVec<[(i64, i64); 4]> =
                unknowns.iter().map(|meaning| meaning.iterations(&values)).collect();
            let moved = iterations.iter().zip(&found).fold(first.offset, |offset, (iteration, (at, _))| {
                offset.wrapping_add(iteration.first_step.wrapping_mul(*at))
            });
            let at = Lmad { offset: moved, dims: first.dims.clone() };
            Meeting::At { place: at.place(&values[..first.rank()]), iterations: found }
        }
    }
}

/// Which unknowns stand for the two values of an iteration variable.
enum Unknowns {
    /// One for both.
    Shared(usize),
    /// The first value, and how much the second one is greater.
    Apart(usize, usize),
    /// One each.
    Own(usize, usize),
}

impl Unknowns {
    fn iterations(&self, values: &[i64]) -> (i64, i64) {
        match *self {
            Unknowns::Shared(at) => (values[at], values[at]),
            Unknowns::Apart(at, by) => (values[at], values[at] + values[by]),
            Unknowns::Own(first, second) => (values[first], values[second]),
        }
    }
}

type Described = (SmallVec<[Term; 2]>, Unknowns, Option<Coupling>);

/// The unknowns of one variable, numbered from `at` on. `None` if there is no such pair of iterations.
fn unknowns_of(iteration: &Iteration, at: usize, coupled: bool) -> Option<Described> {
    let Iteration { first_step, second_step, first, second, order } = *iteration;
    if first.0 > first.1 || second.0 > second.1 {
        return None;
    }
    let term = |stride: i64, (low, high): (i64, i64)| Term { stride, low, high };
    let minus = |step: i64| step.saturating_neg();
    let order = if coupled && order != Order::Same { Order::Any } else { order };
    let apart = (i128::from(second.0) - i128::from(first.1), i128::from(second.1) - i128::from(first.0));
    let by = match order {
        Order::Same => {
            let range = (first.0.max(second.0), first.1.min(second.1));
            let stride = saturate(i128::from(first_step) - i128::from(second_step));
            let shared = SmallVec::from_iter([term(stride, range)]);
            return (range.0 <= range.1).then_some((shared, Unknowns::Shared(at), None));
        }
        Order::Any => {
            let own = SmallVec::from_iter([term(first_step, first), term(minus(second_step), second)]);
            return Some((own, Unknowns::Own(at, at + 1), None));
        }
        Order::Later => (saturate(apart.0.max(1)), saturate(apart.1)),
        Order::Earlier => (saturate(apart.0), saturate(apart.1.min(-1))),
    };
    if by.0 > by.1 {
        return None;
    }
    // The second value is the first one plus the difference, and has to lie in its range.
    let stride = saturate(i128::from(first_step) - i128::from(second_step));
    let terms = SmallVec::from_iter([term(stride, first), term(minus(second_step), by)]);
    let bound = Coupling { first: at, second: at + 1, low: second.0, high: second.1 };
    Some((terms, Unknowns::Apart(at, at + 1), Some(bound)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Dim;
    use crate::random::{Random, Views};

    fn set(view: &Lmad, by: i64) -> BTreeSet<i64> {
        view.places().map(|place| place + by).collect()
    }

    fn fits(order: Order, at: i64, other: i64) -> bool {
        match order {
            Order::Same => at == other,
            Order::Later => other > at,
            Order::Earlier => other < at,
            Order::Any => true,
        }
    }

    /// Every pair of iterations of two variables, one by one.
    fn meets(a: &Lmad, b: &Lmad, [x, y]: [Iteration; 2]) -> bool {
        let pairs = |it: Iteration| {
            (it.first.0..=it.first.1)
                .flat_map(move |at| (it.second.0..=it.second.1).map(move |other| (at, other)))
                .filter(move |&(at, other)| fits(it.order, at, other))
        };
        pairs(x).any(|(i, j)| {
            pairs(y).any(|(k, l)| {
                let first = set(a, x.first_step * i + y.first_step * k);
                !first.is_disjoint(&set(b, x.second_step * j + y.second_step * l))
            })
        })
    }

    #[test]
    fn exact_against_enumeration() {
        let mut random = Random::new(20);
        let (mut met, mut never) = (0, 0);
        for _ in 0..6000 {
            let scale = [3, 12, 40][random.below(3) as usize];
            let (a, b) = (random.view(2, 4, scale), random.view(2, 4, scale));
            let ordered = [Order::Same, Order::Later, Order::Earlier, Order::Any];
            let mut variable = |orders: &[Order]| {
                let order = orders[random.below(orders.len() as u64) as usize];
                let first_step = random.between(-scale, scale);
                let second_step =
                    if random.below(2) == 0 { first_step } else { random.between(-scale, scale) };
                let mut range = || {
                    let low = random.between(-1, 2);
                    (low, low + random.between(-1, 4).max(-i64::from(random.below(8) == 0)))
                };
                Iteration { first_step, second_step, first: range(), second: range(), order }
            };
            let variables = [variable(&ordered), variable(&[Order::Same, Order::Any])];
            let expected = meets(&a, &b, variables);
            match meeting(&a, &b, &variables) {
                Meeting::Never => {
                    assert!(!expected, "{a} # {b} {variables:?}");
                    never += 1;
                }
                Meeting::At { place, iterations } => {
                    let (mut first, mut second) = (0, 0);
                    for (it, &(at, other)) in variables.iter().zip(&iterations) {
                        assert!(fits(it.order, at, other), "{variables:?} at {iterations:?}");
                        assert!((it.first.0..=it.first.1).contains(&at));
                        assert!((it.second.0..=it.second.1).contains(&other));
                        first += it.first_step * at;
                        second += it.second_step * other;
                    }
                    assert!(set(&a, first).contains(&place) && set(&b, second).contains(&place));
                    met += 1;
                }
                Meeting::Unknown => panic!("{a} # {b} {variables:?}"),
            }
        }
        assert!(met > 500 && never > 1000, "{met} {never}");
    }

    #[test]
    fn rows_of_a_loop() {
        // Iteration i writes row i of width 4 and reads a row; only reads of later iterations count.
        let row = Lmad::new(0, [Dim::new(4, 1)]);
        let later = |read: i64| {
            meeting(&row, &row.shift(read), &[Iteration::new(5, Order::Later, 4, 4)]) == Meeting::Never
        };
        assert!(later(0), "its own row");
        assert!(!later(-4), "the row before");
        assert!(later(4), "the row after");
        let own = [Iteration::new(1 << 40, Order::Later, 4, 4)];
        assert_eq!(meeting(&row, &row, &own), Meeting::Never);
        assert_eq!(meeting(&row, &row, &[Iteration::new(1, Order::Earlier, 0, 0)]), Meeting::Never);
        assert!(matches!(
            meeting(&row, &row, &[Iteration::new(2, Order::Earlier, 0, 0)]),
            Meeting::At { .. }
        ));
    }
}
