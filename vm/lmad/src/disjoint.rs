//! Whether two views of one block have a place in common, exactly.

use smallvec::SmallVec;

use crate::bitmap::Bitmap;
use crate::equation::{NODE_BUDGET, Solution, Term, solve};
use crate::view::Lmad;

/// How two sets of places lie to each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overlap {
    /// They have no place in common.
    Disjoint,
    /// They have at least this place in common (some common place, not always the least one).
    Overlap {
        /// A common place.
        witness: i64,
    },
    /// The search gave up: they may overlap.
    Unknown,
}

/// Whether two views have a place in common.
///
/// Complete up to a budget of [`NODE_BUDGET`] nodes; past it, a bit map decides while the places that matter lie
/// within 2^20 of each other, and the answer is `Unknown` only beyond that.
pub fn disjoint(a: &Lmad, b: &Lmad) -> Overlap {
    let (Some((low_a, high_a)), Some((low_b, high_b))) = (a.wide_bounds(), b.wide_bounds()) else {
        return Overlap::Disjoint;
    };
    if high_a < low_b || high_b < low_a {
        return Overlap::Disjoint;
    }
    // A common place is offset_a + sum s*z = offset_b + sum t*y: with y counted downwards, one equation.
    let of_a = a.dims.iter().map(|dim| Term { stride: dim.stride, low: 0, high: dim.size - 1 });
    let of_b = b.dims.iter().map(|dim| Term { stride: dim.stride, low: 1 - dim.size, high: 0 });
    let terms: SmallVec<[Term; 8]> = of_a.chain(of_b).collect();
    match solve(&terms, i128::from(b.offset) - i128::from(a.offset), NODE_BUDGET) {
        Solution::None => Overlap::Disjoint,
        Solution::Found(values) => Overlap::Overlap { witness: a.place(&values[..a.rank()]) },
        Solution::Unknown => by_bitmap(a, b, low_a.min(low_b), high_a.min(high_b)),
    }
}

/// The answer by enumeration of the places from `base` to `last`, between which all common ones lie.
fn by_bitmap(a: &Lmad, b: &Lmad, base: i128, last: i128) -> Overlap {
    let (Some(map_a), Some(map_b)) = (Bitmap::of(a, base, last), Bitmap::of(b, base, last)) else {
        return Overlap::Unknown;
    };
    match map_a.first_common(&map_b) {
        Some(witness) => Overlap::Overlap { witness },
        None => Overlap::Disjoint,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::Dim;
    use crate::random::{Random, Views};

    fn check(a: &Lmad, b: &Lmad) -> bool {
        let (set_a, set_b): (BTreeSet<i64>, BTreeSet<i64>) = (a.places().collect(), b.places().collect());
        match disjoint(a, b) {
            Overlap::Disjoint => assert!(set_a.is_disjoint(&set_b), "{a} # {b}"),
            Overlap::Overlap { witness } => {
                assert!(set_a.contains(&witness) && set_b.contains(&witness), "{a} # {b} at {witness}");
            }
            Overlap::Unknown => panic!("{a} # {b}"),
        }
        set_a.is_disjoint(&set_b)
    }

    #[test]
    fn exact_against_enumeration() {
        let mut random = Random::new(11);
        let mut apart = 0;
        for _ in 0..20000 {
            let scale = [5, 20, 100, 1000][random.below(4) as usize];
            let (a, b) = (random.view(4, 5, scale), random.view(4, 5, scale));
            apart += i32::from(check(&a, &b));
        }
        assert!((2000..18000).contains(&apart), "{apart}");
    }

    #[test]
    fn beyond_the_budget_bits_decide() {
        // Sums of many incommensurable pairs: the kind of input the search is not good at.
        let mut random = Random::new(12);
        for _ in 0..40 {
            let mut view =
                || Lmad::new(random.between(0, 5), (0..10).map(|_| Dim::new(2, random.between(900, 1100))));
            check(&view(), &view());
        }
    }

    #[test]
    fn extremes() {
        let far = Lmad::new(i64::MAX, []);
        assert_eq!(disjoint(&far, &Lmad::scalar(i64::MIN)), Overlap::Disjoint);
        assert_eq!(disjoint(&far, &far), Overlap::Overlap { witness: i64::MAX });
        let huge = Lmad::new(0, vec![Dim::new(i64::MAX, i64::MAX); 3]);
        assert_eq!(disjoint(&huge, &Lmad::scalar(1)), Overlap::Disjoint);
        assert_eq!(disjoint(&huge, &Lmad::scalar(1 << 40)), Overlap::Unknown);
        let nw = |offset, sizes: [i64; 3], strides: [i64; 3]| {
            Lmad::new(offset, sizes.iter().zip(strides).map(|(&size, stride)| Dim::new(size, stride)))
        };
        // Blocks of 16 of an anti-diagonal of a 4097 x 4097 matrix, against the column left of each.
        let (n, b, i) = (4097, 16, 100);
        let writes = nw(i * b + n + 1, [i + 1, b, b], [n * b - b, n, 1]);
        let reads = Lmad::new(i * b, [Dim::new(i + 1, n * b - b), Dim::new(b + 1, n)]);
        assert_eq!(disjoint(&writes, &reads), Overlap::Disjoint);
    }
}
