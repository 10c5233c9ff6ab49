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
}

/// Looks for one solution of `sum stride_k * z_k = target`, visiting at most `budget` nodes.
pub fn solve(terms: &[Term], target: i128, budget: u32) -> Solution {
    if terms.iter().any(|term| term.low > term.high) {
        return Solution::None;
    }
    let Some((rest, reach)) = from_zero(terms, target) else { return Solution::Unknown };
    if rest < 0 || rest > reach {
        return Solution::None;
    }
    if reach > GREATEST_SUM {
        return Solution::Unknown;
    }
    let levels = levels(terms);
    let mut values: SmallVec<[i64; 8]> = SmallVec::from_elem(0, levels.len());
    let mut budget = budget;
    // `rest <= reach`, which the check above holds below 2^62.
    match search(&levels, rest as i64, &mut values, &mut budget) {
        Search::None => Solution::None,
        Search::OutOfBudget => Solution::Unknown,
        Search::Found => Solution::Found(distribute(terms, &levels, values)),
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
        reach = reach.checked_add(stride.abs().checked_mul(width)?)?;
    }
    Some((rest, reach))
}

/// The levels of some terms whose sums stay below [`GREATEST_SUM`], greatest stride first.
fn levels(terms: &[Term]) -> SmallVec<[Level; 8]> {
    let mut levels: SmallVec<[Level; 8]> = SmallVec::new();
    for term in terms.iter().filter(|term| term.stride != 0 && term.low < term.high) {
        let (stride, width) = (term.stride.abs(), term.high - term.low);
        match levels.iter_mut().find(|level| level.stride == stride) {
            Some(level) => level.width += width,
            None => levels.push(Level { stride, width, reach: 0, divisor: 0, step: 1, inverse: 0 }),
        }
    }
    levels.sort_unstable_by_key(|level| std::cmp::Reverse(level.stride));
    let (mut reach, mut below) = (0, 0);
    for level in levels.iter_mut().rev() {
        reach += level.stride * level.width;
        level.reach = reach;
        let (divisor, inverse) = gcd_and_inverse(level.stride, below);
        level.divisor = divisor;
        level.step = below / divisor;
        level.inverse = if level.step > 1 { inverse.rem_euclid(level.step) } else { 0 };
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

enum Search {
    None,
    Found,
    OutOfBudget,
}

/// Solves the levels from the first one on for `rest`, leaving the unknowns in `values`.
fn search(levels: &[Level], rest: i64, values: &mut [i64], budget: &mut u32) -> Search {
    if *budget == 0 {
        return Search::OutOfBudget;
    }
    *budget -= 1;
    let Some((level, inner)) = levels.split_first() else {
        return if rest == 0 { Search::Found } else { Search::None };
    };
    if rest < 0 || rest > level.reach || rest % level.divisor != 0 {
        return Search::None;
    }
    let Some(below) = inner.first() else {
        // The divisor of the last level is its stride, and its reach bounds the quotient.
        values[0] = rest / level.stride;
        return Search::Found;
    };
    let low = (rest - below.reach).max(0);
    let low = low / level.stride + i64::from(low % level.stride != 0);
    let high = level.width.min(rest / level.stride);
    let residue = i128::from(rest / level.divisor) * i128::from(level.inverse) % i128::from(level.step);
    let mut value = low + (residue as i64 - low).rem_euclid(level.step);
    while value <= high {
        values[0] = value;
        match search(inner, rest - level.stride * value, &mut values[1..], budget) {
            Search::None => value += level.step,
            end => return end,
        }
    }
    Search::None
}

/// Hands the value of each level out to the terms it was made of.
fn distribute(terms: &[Term], levels: &[Level], mut values: SmallVec<[i64; 8]>) -> SmallVec<[i64; 8]> {
    let mut share = |term: &Term| {
        let at = levels.iter().position(|level| level.stride == term.stride.saturating_abs());
        let Some(at) = at.filter(|_| term.low < term.high) else { return 0 };
        let share = values[at].min(term.high - term.low);
        values[at] -= share;
        share
    };
    terms
        .iter()
        .map(|term| {
            let share = share(term);
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
