//! Whether different indices of a view are different places: what every target of an update must satisfy.

use smallvec::SmallVec;

use crate::bitmap::Bitmap;
use crate::equation::{NODE_BUDGET, Solution, Term, solve};
use crate::view::{Dim, Lmad};

impl Lmad {
    /// Whether no two indices are one place.
    ///
    /// Exact, except that `false` is also the answer for a view of places more than 2^20 apart on which the exact
    /// search runs out of its budget.
    pub fn is_injective(&self) -> bool {
        // Most views have the shortest stride last.
        if nests(self.dims.iter().rev().filter(|dim| dim.size > 1)) {
            return true;
        }
        let Some((low, high)) = self.wide_bounds() else { return true };
        let mut dims: SmallVec<[Dim; 4]> = self.dims.iter().copied().filter(|dim| dim.size > 1).collect();
        if dims.iter().any(|dim| dim.stride == 0) {
            return false;
        }
        dims.sort_unstable_by_key(|dim| dim.stride.unsigned_abs());
        if nests(dims.iter()) {
            return true;
        }
        if i128::from(self.elements()) > high.saturating_sub(low).saturating_add(1) {
            return false;
        }
        match collides(&dims) {
            Some(collides) => !collides,
            None => Bitmap::of(self, low, high).is_some_and(|map| map.count() == self.elements()),
        }
    }
}

/// Whether every axis steps over all that the shorter strides together reach.
fn nests<'d>(mut dims: impl Iterator<Item = &'d Dim>) -> bool {
    let mut reach = 0i128;
    dims.all(|dim| {
        let apart = i128::from(dim.stride).abs() > reach;
        reach = reach.saturating_add(dim.reach().abs());
        apart
    })
}

/// Whether two different indices meet: their difference then solves an equation with a positive entry at its last
/// axis (in this order), one of which is asked for in turn. `None` if a search gave up and none found a solution.
fn collides(dims: &[Dim]) -> Option<bool> {
    let mut known = true;
    let mut terms: SmallVec<[Term; 8]> = SmallVec::new();
    for dim in dims {
        let most = dim.size - 1;
        terms.push(Term { stride: dim.stride, low: 1, high: most });
        match solve(&terms, 0, NODE_BUDGET) {
            Solution::Found(_) => return Some(true),
            Solution::Unknown => known = false,
            Solution::None => {}
        }
        terms.pop();
        terms.push(Term { stride: dim.stride, low: -most, high: most });
    }
    known.then_some(false)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::random::{Random, Views};
    use crate::{Dim, Lmad};

    fn check(view: &Lmad) -> bool {
        let distinct: BTreeSet<i64> = view.places().collect();
        let expected = distinct.len() as i64 == view.elements();
        assert_eq!(view.is_injective(), expected, "{view}");
        expected
    }

    #[test]
    fn exact_against_enumeration() {
        let mut random = Random::new(13);
        let mut injective = 0;
        for _ in 0..10000 {
            let scale = [5, 20, 100][random.below(3) as usize];
            injective += i32::from(check(&random.view(4, 5, scale)));
        }
        assert!((1000..9000).contains(&injective), "{injective}");
    }

    #[test]
    fn many_pairs() {
        let mut random = Random::new(14);
        for _ in 0..40 {
            check(&Lmad::new(0, (0..9).map(|_| Dim::new(2, random.between(1000, 9000)))));
        }
    }
}
