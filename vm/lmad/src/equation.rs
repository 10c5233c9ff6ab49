//! Whether `sum stride_k * z_k = target` has a solution with every `z_k` in its interval: the question under
//! disjointness and injectivity, answered exactly.
//!
//! Depth-first over the strides from the greatest down. What the smaller strides can still contribute (a range, and
//! the multiples of their greatest common divisor) leaves for each `z_k` one residue class of a short interval,
//! so the search is a handful of nodes for the views programs make; a budget bounds it for those nobody makes.

use smallvec::SmallVec;

/// How many nodes an exact search may visit before it gives up.
pub const NODE_BUDGET: u32 = 4096;

/// Sums above this are not searched, so that 64 bits hold all that follows. (No block has so many elements.)
const GREATEST_SUM: i128 = 1 << 62;

/// One term of the equation: `stride * z` with `low <= z <= high`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Term {
    /// The coefficient.
    pub stride: i64,
    /// Least value of the unknown.
    pub low: i64,
    /// Greatest value of the unknown.
    pub high: i64,
}

/// A bound on the sum of two unknowns, by which one can be said to come after another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Coupling {
    /// Position of one term.
    pub first: usize,
    /// Position of another.
    pub second: usize,
    /// Least sum of the two unknowns.
    pub low: i64,
    /// Greatest sum of the two unknowns.
    pub high: i64,
}

/// The answer to an equation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Solution {
    /// There is no solution.
    None,
    /// One solution: the value of each unknown, in the order of the terms.
    Found(SmallVec<[i64; 8]>),
    /// The budget ran out, or the sums do not fit in 62 bits.
    Unknown,
}

/// Terms of equal absolute stride together, moved so that the unknown starts at 0, with what lies below them.
struct Level {
    /// The stride, positive.
    stride: i64,
    /// Greatest value of the unknown.
    width: i64,
    /// Greatest sum of this level and all smaller strides.
    reach: i64,
    /// Greatest common divisor of this stride and all smaller ones.
    divisor: i64,
    /// Distance of the values of the unknown that leave a multiple of the smaller strides' divisor.
    step: i64,
    /// Inverse of `stride / divisor` modulo `step`.
    inverse: i64,
    /// The one term it stands for, if that is coupled to another one.
    alone: Option<usize>,
}

/// Looks for one solution of `sum stride_k * z_k = target`, visiting at most `budget` nodes.
pub fn solve(terms: &[Term], target: i128, budget: u32) -> Solution {
    solve_coupled(terms, target, None, budget)
}

/// As [`solve`], for unknowns of which two are coupled.
pub fn solve_coupled(terms: &[Term], target: i128, coupling: Option<Coupling>, budget: u32) -> Solution {
    if terms.iter().any(|term| term.low > term.high) {
        return Solution::None;
    }
    let Some(coupling) = coupling else { return solve_live(terms, target, None, budget) };
    // Each side leaves the other an interval; a side that stands still, or that the sum does not depend on, is then
    // taken care of.
    let (first, second) = (terms[coupling.first], terms[coupling.second]);
    let mut terms: SmallVec<[Term; 8]> = terms.iter().copied().collect();
    terms[coupling.first] = first.within(coupling.low, coupling.high, second);
    terms[coupling.second] = second.within(coupling.low, coupling.high, first);
    let (first, second) = (terms[coupling.first], terms[coupling.second]);
    if coupling.low > coupling.high || first.low > first.high || second.low > second.high {
        return Solution::None;
    }
    let live = first.moves() && second.moves();
    match solve_live(&terms, target, Some(coupling).filter(|_| live), budget) {
        Solution::Found(mut values) if !live => {
            let (free, other) = if first.moves() {
                (coupling.second, coupling.first)
            } else {
                (coupling.first, coupling.second)
            };
            let term = terms[free];
            let least = i128::from(coupling.low) - i128::from(values[other]);
            // The interval of the other one was cut so that this exists.
            values[free] = least.clamp(i128::from(term.low), i128::from(term.high)) as i64;
            Solution::Found(values)
        }
        answer => answer,
    }
}

impl Term {
    /// Whether the sum depends on the value of the unknown.
    fn moves(self) -> bool {
        self.stride != 0 && self.low < self.high
    }

    /// The values that leave `other` one with which the sum of both lies in `low..=high`.
    fn within(self, low: i64, high: i64, other: Term) -> Term {
        let least = i128::from(low) - i128::from(other.high);
        let most = i128::from(high) - i128::from(other.low);
        Term {
            low: least.max(i128::from(self.low)).min(i128::from(i64::MAX)) as i64,
            high: most.min(i128::from(self.high)).max(i128::from(i64::MIN)) as i64,
            ..self
        }
    }
}

/// As [`solve_coupled`], where both coupled terms move.
fn solve_live(terms: &[Term], target: i128, coupling: Option<Coupling>, budget: u32) -> Solution {
    let Some((rest, reach)) = from_zero(terms, target) else { return Solution::Unknown };
    if rest < 0 || rest > reach {
        return Solution::None;
    }
    if reach > GREATEST_SUM {
        return Solution::Unknown;
    }
    let levels = levels(terms, coupling);
    let mut search = Search {
        coupled: coupling.map(|coupling| Coupled::new(&coupling, terms, &levels)),
        levels: &levels,
        values: SmallVec::from_elem(0, levels.len()),
        budget,
    };
    // `rest <= reach`, which the check above holds below 2^62.
    match search.from(0, rest as i64) {
        Step::None => Solution::None,
        Step::OutOfBudget => Solution::Unknown,
        Step::Found => Solution::Found(distribute(terms, &levels, search.values)),
    }
}

/// What is left of the target, and the greatest sum, when every term is moved so that its contributions start at 0.
/// `None` where 128 bits do not hold them.
fn from_zero(terms: &[Term], target: i128) -> Option<(i128, i128)> {
    let (mut rest, mut reach) = (target, 0i128);
    for term in terms {
        let stride = i128::from(term.stride);
        let least = if term.stride >= 0 { term.low } else { term.high };
        rest = rest.checked_sub(stride * i128::from(least))?;
        let width = i128::from(term.high) - i128::from(term.low);
        // At most 2^63 times 2^64 - 1.
        reach = reach.checked_add(stride.abs() * width)?;
    }
    Some((rest, reach))
}

/// The levels of some terms whose sums stay below [`GREATEST_SUM`], greatest stride first.
fn levels(terms: &[Term], coupling: Option<Coupling>) -> SmallVec<[Level; 8]> {
    let mut levels: SmallVec<[Level; 8]> = SmallVec::new();
    for (at, term) in terms.iter().enumerate().filter(|(_, term)| term.moves()) {
        let (stride, width) = (term.stride.abs(), term.high - term.low);
        let alone = coupling.and_then(|c| (c.first == at || c.second == at).then_some(at));
        let same = |level: &&mut Level| level.stride == stride && level.alone.is_none() && alone.is_none();
        match levels.iter_mut().find(same) {
            Some(level) => level.width += width,
            None => levels.push(Level { stride, width, reach: 0, divisor: 0, step: 1, inverse: 0, alone }),
        }
    }
    levels.sort_unstable_by_key(|level| (std::cmp::Reverse(level.stride), level.alone));
    let (mut reach, mut below) = (0, 0);
    for level in levels.iter_mut().rev() {
        reach += level.stride * level.width;
        level.reach = reach;
        let (divisor, inverse) = gcd_and_inverse(level.stride, below);
        level.divisor = divisor;
        // Most often the smaller strides divide the greater ones.
        if divisor != below {
            level.step = below / divisor;
            level.inverse = if level.step > 1 { inverse.rem_euclid(level.step) } else { 0 };
        }
        below = divisor;
    }
    levels
}

/// `g = gcd(a, m)` and an `x` with `a * x = g` modulo `m`; `a > 0`, `m >= 0`.
fn gcd_and_inverse(a: i64, m: i64) -> (i64, i64) {
    let (mut r0, mut r1, mut x0, mut x1) = (a, m, 1, 0);
    while r1 != 0 {
        let q = r0 / r1;
        (r0, r1) = (r1, r0 - q * r1);
        (x0, x1) = (x1, x0 - q * x1);
    }
    (r0, x0)
}

/// A coupling in terms of levels: the sum of two values, each with a sign, lies in an interval.
struct Coupled {
    /// The level that is reached first, and the sign of its value.
    first: (usize, i64),
    /// The other one.
    second: (usize, i64),
    low: i128,
    high: i128,
}

impl Coupled {
    fn new(coupling: &Coupling, terms: &[Term], levels: &[Level]) -> Coupled {
        let level = |term: usize| {
            // Both terms move, so each has a level.
            let at = levels.iter().position(|level| level.alone == Some(term)).unwrap_or(0);
            let Term { stride, low, high } = terms[term];
            if stride >= 0 { (at, 1, i128::from(low)) } else { (at, -1, i128::from(high)) }
        };
        let (a, b) = (level(coupling.first), level(coupling.second));
        let (first, second) = if a.0 < b.0 { (a, b) } else { (b, a) };
        let moved = a.2 + b.2;
        Coupled {
            first: (first.0, first.1),
            second: (second.0, second.1),
            low: i128::from(coupling.low) - moved,
            high: i128::from(coupling.high) - moved,
        }
    }

    /// What the value at the second level may be when `first` is the one at the first.
    fn interval(&self, first: i64) -> (i128, i128) {
        let taken = i128::from(first) * i128::from(self.first.1);
        let (low, high) = (self.low - taken, self.high - taken);
        if self.second.1 > 0 { (low, high) } else { (-high, -low) }
    }
}

enum Step {
    None,
    Found,
    OutOfBudget,
}

/// A search in progress.
struct Search<'a> {
    levels: &'a [Level],
    coupled: Option<Coupled>,
    /// The value chosen at each level.
    values: SmallVec<[i64; 8]>,
    budget: u32,
}

impl Search<'_> {
    /// Solves the levels from `at` on for `rest`, leaving the unknowns in `values`.
    fn from(&mut self, at: usize, rest: i64) -> Step {
        if self.budget == 0 {
            return Step::OutOfBudget;
        }
        self.budget -= 1;
        let levels = self.levels;
        let Some(level) = levels.get(at) else {
            return if rest == 0 { Step::Found } else { Step::None };
        };
        if rest < 0 || rest > level.reach || level.divisor != 1 && rest % level.divisor != 0 {
            return Step::None;
        }
        let (mut least, mut most) = (0, level.width);
        if let Some(coupled) = self.coupled.as_ref().filter(|coupled| coupled.second.0 == at) {
            let (low, high) = coupled.interval(self.values[coupled.first.0]);
            least = low.clamp(0, i128::from(level.width) + 1) as i64;
            most = high.clamp(-1, i128::from(level.width)) as i64;
        }
        let Some(below) = levels.get(at + 1) else {
            // The divisor of the last level is its stride, and its reach bounds the quotient.
            let value = rest / level.stride;
            self.values[at] = value;
            return if (least..=most).contains(&value) { Step::Found } else { Step::None };
        };
        let low = match rest - below.reach {
            above @ 1.. => (above / level.stride + i64::from(above % level.stride != 0)).max(least),
            _ => least,
        };
        let high = most.min(rest / level.stride);
        let mut value = match level.step {
            1 => low,
            step => {
                let residue = i128::from(rest / level.divisor) * i128::from(level.inverse) % i128::from(step);
                low + (residue as i64 - low).rem_euclid(step)
            }
        };
        while value <= high {
            self.values[at] = value;
            match self.from(at + 1, rest - level.stride * value) {
                Step::None => value += level.step,
                end => return end,
            }
        }
        Step::None
    }
}

/// Hands the value of each level out to the terms it was made of.
fn distribute(terms: &[Term], levels: &[Level], mut values: SmallVec<[i64; 8]>) -> SmallVec<[i64; 8]> {
    let mut share = |at: usize, term: &Term| {
        let alone = levels.iter().position(|level| level.alone == Some(at));
        let together = || {
            let stride = term.stride.saturating_abs();
            levels.iter().position(|level| level.stride == stride && level.alone.is_none())
        };
        let Some(at) = alone.or_else(together).filter(|_| term.low < term.high) else { return 0 };
        let share = values[at].min(term.high - term.low);
        values[at] -= share;
        share
    };
    terms
        .iter()
        .enumerate()
        .map(|(at, term)| {
            let share = share(at, term);
            if term.stride >= 0 { term.low + share } else { term.high - share }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, indices};

    fn value(terms: &[Term], unknowns: &[i64]) -> i128 {
        terms.iter().zip(unknowns).map(|(term, &z)| i128::from(term.stride) * i128::from(z)).sum()
    }

    #[test]
    fn exact_against_enumeration() {
        let mut random = Random::new(9);
        let mut solved = 0;
        for _ in 0..20000 {
            let terms: Vec<Term> = (0..random.below(5))
                .map(|_| {
                    let low = random.between(-4, 3);
                    let stride = random.between(-15, 15);
                    Term {
                        stride,
                        low,
                        high: low + random.between(-1, 4).max(-i64::from(random.below(9) == 0)),
                    }
                })
                .collect();
            let target = i128::from(random.between(-40, 40));
            let shape: Vec<i64> = terms.iter().map(|term| term.high - term.low + 1).collect();
            let expected = indices(&shape).any(|index| {
                let unknowns: Vec<i64> = index.iter().zip(&terms).map(|(i, term)| i + term.low).collect();
                value(&terms, &unknowns) == target
            });
            match solve(&terms, target, NODE_BUDGET) {
                Solution::None => assert!(!expected, "{terms:?} = {target}"),
                Solution::Found(unknowns) => {
                    assert_eq!(value(&terms, &unknowns), target, "{terms:?}");
                    for (term, z) in terms.iter().zip(unknowns) {
                        assert!(term.low <= z && z <= term.high, "{terms:?} = {target}: {z}");
                    }
                    solved += 1;
                }
                Solution::Unknown => panic!("{terms:?} = {target}"),
            }
        }
        assert!(solved > 1000);
    }

    #[test]
    fn coupled_unknowns_against_enumeration() {
        let mut random = Random::new(19);
        let (mut solved, mut refused) = (0, 0);
        for _ in 0..40000 {
            let terms: Vec<Term> = (0..2 + random.below(3))
                .map(|_| {
                    let low = random.between(-4, 3);
                    Term { stride: random.between(-9, 9), low, high: low + random.between(0, 5) }
                })
                .collect();
            let target = i128::from(random.between(-30, 30));
            let first = random.below(terms.len() as u64) as usize;
            let second = (first + 1 + random.below(terms.len() as u64 - 1) as usize) % terms.len();
            let low = random.between(-9, 9);
            let coupling = Coupling { first, second, low, high: low + random.between(-1, 6) };
            let shape: Vec<i64> = terms.iter().map(|term| term.high - term.low + 1).collect();
            let holds = |z: &[i64]| {
                (coupling.low..=coupling.high).contains(&(z[first] + z[second]))
                    && value(&terms, z) == target
                    && terms.iter().zip(z).all(|(term, z)| (term.low..=term.high).contains(z))
            };
            let expected = indices(&shape).any(|index| {
                holds(&index.iter().zip(&terms).map(|(i, term)| i + term.low).collect::<Vec<_>>())
            });
            match solve_coupled(&terms, target, Some(coupling), NODE_BUDGET) {
                Solution::None => assert!(!expected, "{terms:?} = {target}, {coupling:?}"),
                Solution::Found(unknowns) => {
                    assert!(holds(&unknowns), "{terms:?} = {target}, {coupling:?}: {unknowns:?}");
                    solved += 1;
                }
                Solution::Unknown => panic!("{terms:?} = {target}"),
            }
            refused += i32::from(!expected);
        }
        assert!(solved > 2000 && refused > 2000, "{solved} {refused}");
    }

    #[test]
    fn gives_up_on_a_budget_and_on_sizes_nobody_has() {
        let subset: Vec<Term> =
            [10007, 10009, 10037, 10039].iter().map(|&stride| Term { stride, low: 0, high: 40 }).collect();
        assert_eq!(solve(&subset, 987_654, 3), Solution::Unknown);
        let huge = [Term { stride: i64::MIN, low: i64::MIN, high: i64::MAX }; 5];
        assert_eq!(solve(&huge, 7, NODE_BUDGET), Solution::Unknown);
        assert_eq!(solve(&[], 0, NODE_BUDGET), Solution::Found(SmallVec::new()));
        assert_eq!(solve(&[], 1, NODE_BUDGET), Solution::None);
    }

    #[test]
    fn large_numbers_are_exact() {
        let terms = [
            Term { stride: 1 << 40, low: 0, high: 1 << 20 },
            Term { stride: -(1 << 30), low: 0, high: 1 << 30 },
            Term { stride: 3, low: 0, high: 5 },
        ];
        let found = |target| matches!(solve(&terms, target, NODE_BUDGET), Solution::Found(_));
        assert!(found((1 << 50) + 6));
        assert!(!found((1 << 50) + 7));
    }
}
