//! Sets of cells whose places move with swept variables, and the questions asked of two of them.
//!
//! Every answer is on the safe side: two sets are apart, or one is inside the other, only if that is proved.

use crate::form::Form;
use galopvm_lmad::{Dim, Dims, Lmad, Overlap, disjoint};

/// Iterations that are gone through one by one where two sets move differently.
const FEW: i64 = 16;

/// A set of cells of one memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Set {
    pub memory: usize,
    pub offset: Form,
    pub dims: Dims,
}

/// The numbers of iterations of swept variables, by their numbers.
pub(crate) type Counts = [i64];

impl Set {
    pub fn is_empty(&self) -> bool {
        self.dims.iter().any(|dim| dim.size <= 0)
    }

    /// The least and the greatest cell of all iterations.
    pub fn bounds(&self, counts: &Counts) -> (i128, i128) {
        let swept = self.offset.terms.iter().map(|(axis, step)| Dim::new(counts[*axis as usize], *step));
        self.span(swept)
    }

    /// The least and the greatest cell where all variables are 0, with some more axes.
    fn span(&self, more: impl Iterator<Item = Dim>) -> (i128, i128) {
        let (mut low, mut high) = (i128::from(self.offset.constant), i128::from(self.offset.constant));
        for dim in self.dims.iter().copied().chain(more) {
            let reach = i128::from(dim.size - 1) * i128::from(dim.stride);
            low += reach.min(0);
            high += reach.max(0);
        }
        (low, high)
    }

    /// The set of all iterations of a variable.
    pub fn swept(&mut self, axis: u32, counts: &Counts) {
        if let Some(at) = self.offset.terms.iter().position(|(other, _)| *other == axis) {
            let (_, step) = self.offset.terms.remove(at);
            self.dims.push(Dim::new(counts[axis as usize], step));
        }
    }

    /// The set without its offset's terms, with some more axes.
    fn with(&self, offset: i64, more: impl Iterator<Item = Dim>) -> Lmad {
        Lmad { offset, dims: self.dims.iter().copied().chain(more).collect() }
    }

    /// Whether two sets have no cell in common in any iteration of all variables, which are the same for both but for one,
    /// if there is one.
    fn is_apart_but(&self, other: &Set, counts: &Counts, but: Option<u32>, by: &[Dim], ahead: i64) -> bool {
        let Some(offset) = self.offset.constant.checked_add(ahead) else { return false };
        let Some(difference) = self.offset.plus(&other.offset, -1) else { return false };
        let terms = difference.terms.iter().filter(|(axis, _)| Some(*axis) != but);
        let swept = terms.map(|(axis, step)| Dim::new(counts[*axis as usize], *step));
        let mine = self.with(offset, swept.chain(by.iter().copied()));
        disjoint(&mine, &other.with(other.offset.constant, std::iter::empty())) == Overlap::Disjoint
    }

    /// Whether two sets have nothing in common in the same iterations.
    pub fn is_apart(&self, other: &Set, counts: &Counts) -> bool {
        if self.memory != other.memory || self.is_empty() || other.is_empty() {
            return true;
        }
        if self.offset.terms == other.offset.terms {
            // What they move by does not matter.
            let still = |set: &Set| set.span(std::iter::empty());
            let ((a, b), (c, d)) = (still(self), still(other));
            if b < c || d < a {
                return true;
            }
        }
        self.is_apart_but(other, counts, None, &[], 0)
    }

    /// Whether two sets have nothing in common in different iterations of a variable, the others being the same.
    pub fn is_apart_across(&self, other: &Set, counts: &Counts, axis: u32) -> bool {
        if self.memory != other.memory || self.is_empty() || other.is_empty() {
            return true;
        }
        let (count, mine, theirs) = (counts[axis as usize], self.offset.step(axis), other.offset.step(axis));
        let apart = |by: &[Dim], ahead: i64| self.is_apart_but(other, counts, Some(axis), by, ahead);
        if mine == theirs {
            // Only the distance of the iterations matters.
            let Some(back) = mine.checked_neg() else { return false };
            return count < 2
                || apart(&[Dim::new(count - 1, mine)], mine) && apart(&[Dim::new(count - 1, back)], back);
        }
        let Some(theirs) = theirs.checked_neg() else { return false };
        if count > FEW {
            return apart(&[Dim::new(count, mine), Dim::new(count, theirs)], 0);
        }
        (0..count).all(|i| {
            // Iteration `i` of the one, those before and after it of the other.
            let Some(ahead) = mine.checked_mul(i) else { return false };
            let after = theirs.checked_mul(i + 1).and_then(|by| by.checked_add(ahead));
            let before = i == 0 || apart(&[Dim::new(i, theirs)], ahead);
            before
                && (i + 1 == count
                    || after.is_some_and(|after| apart(&[Dim::new(count - i - 1, theirs)], after)))
        })
    }

    /// Whether every cell of this set is one of the other, in the same iterations.
    pub fn is_inside(&self, other: &Set, counts: &Counts) -> bool {
        if self.is_empty() {
            return true;
        }
        if self.memory != other.memory || other.is_empty() {
            return false;
        }
        if self == other {
            return true;
        }
        let Some(difference) = self.offset.plus(&other.offset, -1) else { return false };
        let swept = difference.terms.iter().map(|(axis, step)| Dim::new(counts[*axis as usize], *step));
        let mine: Vec<Dim> = self.dims.iter().copied().chain(swept).collect();
        coordinates(difference.constant, &mine, &other.dims).is_some()
    }
}

/// A view with positive strides, falling, neighbours joined.
fn upright(offset: i128, dims: impl Iterator<Item = Dim>) -> (i128, Vec<(i128, i128)>) {
    let (mut offset, mut all) = (offset, Vec::new());
    for dim in dims.filter(|dim| dim.size > 1 && dim.stride != 0) {
        let (size, stride) = (i128::from(dim.size), i128::from(dim.stride));
        if stride < 0 {
            offset += (size - 1) * stride;
        }
        all.push((stride.abs(), size));
    }
    all.sort_unstable_by(|a, b| b.cmp(a));
    let mut joined: Vec<(i128, i128)> = Vec::new();
    for (stride, size) in all {
        match joined.last_mut() {
            Some((outer, count)) if *outer == stride * size => (*outer, *count) = (stride, *count * size),
            _ => joined.push((stride, size)),
        }
    }
    (offset, joined)
}

/// The steps along the axes of a view that lead to all places of another, if all are inside. Each axis of the other one is
/// a fixed number of steps along each axis of the view.
fn coordinates(offset: i64, mine: &[Dim], theirs: &Dims) -> Option<()> {
    let (start, theirs) = upright(0, theirs.iter().copied());
    let (offset, mine) = upright(i128::from(offset), mine.iter().copied());
    let mut most = vec![0i128; theirs.len()];
    let mut go = |distance: i128, times: i128| {
        let mut rest = distance;
        for ((stride, _), most) in theirs.iter().zip(&mut most) {
            *most += rest / stride * times;
            rest %= stride;
        }
        (rest == 0).then_some(())
    };
    let first = offset - start;
    if first < 0 {
        return None;
    }
    go(first, 1)?;
    for (stride, size) in mine {
        go(stride, size - 1)?;
    }
    most.iter().zip(&theirs).all(|(most, (_, size))| most < size).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use galopvm_testkit::Random;
    use std::collections::BTreeSet;

    fn any_set(random: &mut Random) -> Set {
        let dims = (0..random.below(3)).map(|_| Dim::new(random.between(1, 4), random.between(-4, 8)));
        let dims = dims.collect();
        let terms = (0..2).map(|axis| (axis, random.between(-3, 7))).filter(|(_, step)| *step != 0).collect();
        Set { memory: 0, offset: Form { constant: random.below(30), terms }, dims }
    }

    fn cells(set: &Set, i: i64, j: i64) -> BTreeSet<i64> {
        let offset = set.offset.constant + set.offset.step(0) * i + set.offset.step(1) * j;
        Lmad { offset, dims: Dims::from_slice(&set.dims) }.places().collect()
    }

    #[test]
    fn every_yes_is_true() {
        let mut random = Random::new(4);
        let counts = [3, 4];
        let pairs = || (0..3).flat_map(|i| (0..4).map(move |j| (i, j)));
        let mut yes = [0; 3];
        let mut exact = [0; 3];
        for _ in 0..4000 {
            let (mut a, b) = (any_set(&mut random), any_set(&mut random));
            if random.below(2) == 0 {
                // A part of the other one, or a little more.
                a.clone_from(&b);
                for dim in &mut a.dims {
                    let first = random.below(2);
                    a.offset.constant += first * dim.stride;
                    *dim = Dim::new((dim.size - random.below(3)).max(1), dim.stride * (1 + random.below(2)));
                }
            }
            let same = pairs().all(|(i, j)| cells(&a, i, j).is_disjoint(&cells(&b, i, j)));
            let across =
                pairs().all(|(i, j)| (0..3).all(|k| k == i || cells(&a, i, j).is_disjoint(&cells(&b, k, j))));
            let inside = pairs().all(|(i, j)| cells(&a, i, j).is_subset(&cells(&b, i, j)));
            let found =
                [a.is_apart(&b, &counts), a.is_apart_across(&b, &counts, 0), a.is_inside(&b, &counts)];
            for (k, (truth, found)) in [same, across, inside].into_iter().zip(found).enumerate() {
                assert!(truth || !found, "question {k} of {a:?} and {b:?}");
                yes[k] += usize::from(found);
                exact[k] += usize::from(truth);
            }
        }
        assert_eq!(yes[..2], exact[..2], "the first two are exact");
        assert!(yes[2] > 200, "{yes:?} of {exact:?}");
    }

    #[test]
    fn parts_of_packed_blocks_are_inside() {
        let set = |offset: i64, dims: &[(i64, i64)]| Set {
            memory: 0,
            offset: Form::number(offset),
            dims: dims.iter().map(|(size, stride)| Dim::new(*size, *stride)).collect(),
        };
        let whole = set(0, &[(4, 6), (6, 1)]);
        assert!(set(7, &[(2, 6), (3, 2)]).is_inside(&whole, &[]));
        assert!(set(23, &[(24, -1)]).is_inside(&whole, &[]));
        assert!(!set(7, &[(18, 1)]).is_inside(&whole, &[]));
        let column = set(2, &[(4, 6)]);
        assert!(set(14, &[(2, 6)]).is_inside(&column, &[]) && !set(14, &[(3, 6)]).is_inside(&column, &[]));
        assert!(!set(3, &[(2, 6)]).is_inside(&column, &[]));
    }
}
