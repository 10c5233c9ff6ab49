//! Changes of layout that always stay a view: nothing is copied, only the numbers change.
//!
//! Axes and permutations are the caller's to check (they come from verified code): a wrong axis panics. Indices and
//! counts may be anything; whether the result is inside its block is asked with [`Lmad::fits`], and whether a slice
//! is inside its axis by asking the same of the slice itself, seen as a view of a block of the axis' size.

use crate::view::{Dim, Dims, Lmad, is_permutation, saturate};

impl Lmad {
    /// The view that holds index `index` of axis `dim` fixed; one axis fewer.
    pub fn fix(&self, dim: usize, index: i64) -> Lmad {
        let mut dims = self.dims.clone();
        let axis = dims.remove(dim);
        Lmad { offset: advance(self.offset, index, axis.stride), dims }
    }

    /// Indices `start, start + step, ..` (`count` of them) of axis `dim`; `step` may be negative or 0.
    pub fn triplet(&self, dim: usize, start: i64, count: i64, step: i64) -> Lmad {
        let mut dims = self.dims.clone();
        let stride = dims[dim].stride;
        dims[dim] = Dim::new(count, stride.saturating_mul(step));
        Lmad { offset: advance(self.offset, start, stride), dims }
    }

    /// The axes of `slice`, a view over the indices of the first axis, in place of that axis.
    pub fn slice_lmad(&self, slice: &Lmad) -> Lmad {
        let (first, rest) = self.dims.split_first().expect("an LMAD slice is taken of at least one axis");
        let mut dims: Dims = slice
            .dims
            .iter()
            .map(|dim| Dim::new(dim.size, dim.stride.saturating_mul(first.stride)))
            .collect();
        dims.extend_from_slice(rest);
        Lmad { offset: advance(self.offset, slice.offset, first.stride), dims }
    }

    /// Axis `k` of the result is axis `perm[k]` of this view.
    pub fn permute(&self, perm: &[usize]) -> Lmad {
        debug_assert!(is_permutation(perm, self.rank()), "{perm:?} of {} axes", self.rank());
        Lmad { offset: self.offset, dims: perm.iter().map(|&axis| self.dims[axis]).collect() }
    }

    /// The first two axes exchanged.
    pub fn transpose(&self) -> Lmad {
        let mut dims = self.dims.clone();
        dims.swap(0, 1);
        Lmad { offset: self.offset, dims }
    }

    /// Axis `dim` read backwards; an axis without indices stays as it is.
    pub fn reverse(&self, dim: usize) -> Lmad {
        let mut dims = self.dims.clone();
        let axis = dims[dim];
        if axis.size <= 0 {
            return self.clone();
        }
        dims[dim].stride = axis.stride.saturating_neg();
        Lmad { offset: advance(self.offset, axis.size - 1, axis.stride), dims }
    }

    /// A new axis before axis `dim` whose `size` indices all mean the same elements (replication, or `size` 1 for
    /// a unit axis).
    pub fn expand(&self, dim: usize, size: i64) -> Lmad {
        let mut dims = self.dims.clone();
        dims.insert(dim, Dim::new(size, 0));
        Lmad { offset: self.offset, dims }
    }

    /// The same view of places `distance` further on: what a block becomes inside a bigger one.
    pub fn shift(&self, distance: i64) -> Lmad {
        Lmad { offset: self.offset.saturating_add(distance), dims: self.dims.clone() }
    }
}

/// `offset + count * stride`, saturated once at the end.
fn advance(offset: i64, count: i64, stride: i64) -> i64 {
    saturate(i128::from(offset) + i128::from(count) * i128::from(stride))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, Views, indices};

    /// Checks `changed` against `original` point by point: index `i` of the one is index `back(i)` of the other.
    fn same_points(original: &Lmad, changed: &Lmad, back: impl Fn(&[i64]) -> Vec<i64>) {
        for index in indices(&changed.shape()) {
            assert_eq!(
                changed.place(&index),
                original.place(&back(&index)),
                "{original} to {changed} at {index:?}"
            );
        }
    }

    #[test]
    fn every_change_point_by_point() {
        let mut random = Random::new(2);
        for _ in 0..3000 {
            let view = random.view(4, 5, 30);
            if view.rank() == 0 {
                continue;
            }
            let axis = random.below(view.rank() as u64) as usize;
            let size = view.dims[axis].size;
            let at = random.between(-2, size + 2);
            same_points(&view, &view.fix(axis, at), |i| {
                let mut i = i.to_vec();
                i.insert(axis, at);
                i
            });
            let (count, step) = (random.between(0, 5), random.between(-3, 3));
            same_points(&view, &view.triplet(axis, at, count, step), |i| {
                let mut i = i.to_vec();
                i[axis] = at + i[axis] * step;
                i
            });
            let reversed = view.reverse(axis);
            same_points(&view, &reversed, |i| {
                let mut i = i.to_vec();
                i[axis] = size - 1 - i[axis];
                i
            });
            assert_eq!(reversed.reverse(axis), view);
            let perm = random.permutation(view.rank());
            let permuted = view.permute(&perm);
            same_points(&view, &permuted, |i| {
                let mut back = vec![0; i.len()];
                perm.iter().zip(i).for_each(|(&axis, &i)| back[axis] = i);
                back
            });
            same_points(&view, &view.expand(axis, 3), |i| {
                let mut i = i.to_vec();
                i.remove(axis);
                i
            });
            let slice = random.view(3, 4, 5);
            same_points(&view, &view.slice_lmad(&slice), |i| {
                let (flat, rest) = i.split_at(slice.rank());
                [&[slice.place(flat)], rest].concat()
            });
            if view.rank() > 1 {
                same_points(&view, &view.transpose(), |i| {
                    let mut i = i.to_vec();
                    i.swap(0, 1);
                    i
                });
            }
        }
    }

    #[test]
    fn changes_saturate() {
        let view = Lmad::new(5, [Dim::new(3, i64::MAX)]);
        assert_eq!(view.fix(0, 2).offset, i64::MAX);
        assert_eq!(view.fix(0, -2).offset, i64::MIN);
        assert!(!view.triplet(0, 0, 2, 3).fits(i64::MAX));
        assert_eq!(Lmad::new(0, [Dim::new(1, i64::MIN)]).reverse(0).dims[0].stride, i64::MAX);
    }
}
