//! Disjointness by spread strides: a sufficient condition that consists of a few comparisons, so that it can guard
//! code that was compiled for other numbers.
//!
//! Both sets are written as sums of intervals over common strides. If each stride is greater than all that the
//! smaller ones can make the two sides differ by, equal places have equal multiples of every stride; then one stride
//! whose intervals have nothing in common is enough. Where the condition fails, the last value of an interval is
//! looked at apart from the others.

use smallvec::SmallVec;

use crate::view::Lmad;

/// How often an interval may be split on the way to a proof.
const DEPTH: u32 = 4;

/// A set of places as `sum stride_k * z_k`, each `z_k` in an interval; strides rise.
#[derive(Clone)]
struct Sum {
    intervals: SmallVec<[(i128, i128); 6]>,
}

/// Whether the spread condition proves that two views have no place in common. Never wrong; `false` says nothing.
pub fn spread_disjoint(a: &Lmad, b: &Lmad) -> bool {
    let (Some(first), Some(second)) = (a.set_form(), b.set_form()) else { return true };
    let mut strides: SmallVec<[i128; 6]> = SmallVec::from_iter([1]);
    for dim in first.dims.iter().chain(&second.dims) {
        if !strides.contains(&i128::from(dim.stride)) {
            strides.push(i128::from(dim.stride));
        }
    }
    strides.sort_unstable();
    let sum = |view: &Lmad| {
        let size = |stride: i128| {
            let dim = view.dims.iter().find(|dim| i128::from(dim.stride) == stride);
            dim.map_or(1, |dim| i128::from(dim.size))
        };
        Sum { intervals: strides.iter().map(|&stride| (0, size(stride) - 1)).collect() }
    };
    let (mut left, mut right) = (sum(&first), sum(&second));
    let difference = i128::from(first.offset) - i128::from(second.offset);
    if difference > 0 {
        left.add(difference, &strides);
    } else {
        right.add(-difference, &strides);
    }
    apart(&left, &right, &strides, DEPTH)
}

impl Sum {
    /// Moves the set on by a distance, most of it in the greatest strides.
    fn add(&mut self, mut distance: i128, strides: &[i128]) {
        for (interval, stride) in self.intervals.iter_mut().zip(strides).rev() {
            let count = distance / stride;
            interval.0 += count;
            interval.1 += count;
            distance -= count * stride;
        }
    }

    /// The part whose multiple of stride `k` is the last one, with that distributed anew, and the rest.
    fn split(&self, k: usize, strides: &[i128]) -> (Sum, Option<Sum>) {
        let (low, high) = self.intervals[k];
        let mut last = self.clone();
        last.intervals[k] = (0, 0);
        last.add(high * strides[k], strides);
        let rest = (low < high).then(|| {
            let mut rest = self.clone();
            rest.intervals[k] = (low, high - 1);
            rest
        });
        (last, rest)
    }
}

fn apart(a: &Sum, b: &Sum, strides: &[i128], depth: u32) -> bool {
    let (mut most_a, mut most_b) = (0i128, 0i128);
    let mut pair_apart = false;
    for (k, &stride) in strides.iter().enumerate() {
        if k > 0 && stride <= most_a.max(most_b) {
            // One side reaches over the stride: its last values are looked at apart.
            let in_a = most_a >= most_b;
            return depth > 0
                && split_below(if in_a { a } else { b }, strides, k).iter().all(|part| {
                    if in_a { apart(part, b, strides, depth - 1) } else { apart(a, part, strides, depth - 1) }
                });
        }
        let ((low_a, high_a), (low_b, high_b)) = (a.intervals[k], b.intervals[k]);
        pair_apart |= high_a < low_b || high_b < low_a;
        let (Some(step_a), Some(step_b)) =
            (stride.checked_mul(high_a - low_b), stride.checked_mul(high_b - low_a))
        else {
            return false;
        };
        most_a = most_a.saturating_add(step_a);
        most_b = most_b.saturating_add(step_b);
    }
    pair_apart
}

/// The parts of a side when the interval below stride `k` that reaches furthest is split.
fn split_below(sum: &Sum, strides: &[i128], k: usize) -> SmallVec<[Sum; 2]> {
    let reach = |at: &usize| sum.intervals[*at].1.saturating_mul(strides[*at]);
    let (last, rest) = sum.split((0..k).max_by_key(reach).unwrap_or(0), strides);
    [Some(last), rest].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::{Dim, Overlap, disjoint};

    #[test]
    fn never_wrong_and_often_enough() {
        let mut random = Random::new(22);
        let (mut proved, mut apart) = (0, 0);
        for _ in 0..30000 {
            let scale = [5, 20, 100][random.below(3) as usize];
            let (a, b) = (random.view(3, 4, scale), random.view(3, 4, scale));
            let found = disjoint(&a, &b);
            let spread = spread_disjoint(&a, &b);
            assert!(!spread || found == Overlap::Disjoint, "{a} # {b}");
            apart += i32::from(found == Overlap::Disjoint);
            proved += i32::from(spread);
        }
        assert!(proved * 3 > apart, "{proved} of {apart}");
    }

    #[test]
    fn anti_diagonals_of_blocks() {
        // The blocks of a matrix of n = q*b + 1 columns against the column left of each. With blocks of one element,
        // strides n and n - 1 follow each other too closely for this condition.
        let mut proved = 0;
        for (b, q) in (1..6).flat_map(|b| (1..7).map(move |q| (b, q))) {
            for i in 0..q {
                let n = q * b + 1;
                let writes =
                    Lmad::new(i * b + n + 1, [Dim::new(i + 1, n * b - b), Dim::new(b, n), Dim::new(b, 1)]);
                let reads = Lmad::new(i * b, [Dim::new(i + 1, n * b - b), Dim::new(b + 1, n)]);
                assert_eq!(disjoint(&writes, &reads), Overlap::Disjoint);
                let spread = spread_disjoint(&writes, &reads);
                assert!(spread || b == 1, "b = {b}, q = {q}, i = {i}");
                proved += i64::from(spread);
            }
        }
        assert!(proved >= 90, "{proved} of 105");
    }
}
