//! Views whose offset may move with swept iteration variables, and the changes that copy nothing.
//!
//! These are written here once more and not taken from the algebra of views: what is to be checked was computed by that.

use crate::form::Form;
use galopvm_lmad::{Dim, Dims, Lmad};

/// A view.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct View {
    pub offset: Form,
    pub dims: Dims,
}

/// The index of one dimension.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    /// One place.
    At(Form),
    /// `start + i * step` for `i < count`.
    Slice { start: Form, count: i64, step: i64 },
    /// One place or several, nobody knows which.
    Some,
}

/// A change of view.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    /// A part, by leading dimensions.
    Index(Vec<Way>),
    /// `start` and steps along the first dimension: counts and steps.
    Flat(Form, Vec<(i64, i64)>),
    /// Axis `k` is axis `perm[k]` of the other.
    Permute(Vec<usize>),
    /// The first axis backwards.
    Reverse,
    /// Another shape.
    Reshape(Vec<i64>),
    /// Some part.
    Somewhere,
}

/// What a change of a view gives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Changed {
    /// A view.
    View(View),
    /// Something in a view.
    Within(View),
    /// An index is outside: the program ends there.
    Outside,
    /// No view expresses it.
    No,
}

impl View {
    pub fn of(lmad: &Lmad) -> View {
        View { offset: Form::number(lmad.offset), dims: Dims::from_slice(&lmad.dims) }
    }

    /// A block of this shape, whose axes lie in memory in this order.
    pub fn packed(shape: &[i64], order: &[usize]) -> Option<View> {
        let mut dims: Dims = shape.iter().map(|size| Dim::new((*size).max(0), 0)).collect();
        let mut stride = 1i64;
        for axis in order.iter().rev() {
            dims.get_mut(*axis)?.stride = stride;
            stride = stride.checked_mul(shape.get(*axis)?.max(&1).to_owned())?;
        }
        Some(View { offset: Form::number(0), dims })
    }

    pub fn row_major(shape: &[i64]) -> Option<View> {
        View::packed(shape, &(0..shape.len()).collect::<Vec<_>>())
    }

    /// The view in numbers, if it does not move.
    pub fn lmad(&self) -> Option<Lmad> {
        Some(Lmad { offset: self.offset.as_number()?, dims: Dims::from_slice(&self.dims) })
    }

    pub fn is_empty(&self) -> bool {
        self.dims.iter().any(|dim| dim.size <= 0)
    }

    /// The number of indices, if it is a number.
    pub fn elements(&self) -> Option<i64> {
        match self.is_empty() {
            true => Some(0),
            false => self.dims.iter().try_fold(1i64, |all, dim| all.checked_mul(dim.size)),
        }
    }

    /// Whether both are the same places in the same order.
    pub fn is(&self, other: &View) -> bool {
        let is_same = |(a, b): (&Dim, &Dim)| a.size == b.size && (a.size <= 1 || a.stride == b.stride);
        let dims = self.dims.len() == other.dims.len() && self.dims.iter().zip(&other.dims).all(is_same);
        dims && (self.offset == other.offset || self.is_empty())
    }

    pub fn change(&self, change: &Change) -> Changed {
        let view = match change {
            Change::Index(ways) => return self.index(ways),
            Change::Flat(start, dims) => return self.flat(start, dims),
            Change::Somewhere => return Changed::Within(self.clone()),
            Change::Permute(perm) => {
                let dims: Option<Dims> = perm.iter().map(|axis| self.dims.get(*axis).copied()).collect();
                dims.map(|dims| View { offset: self.offset.clone(), dims })
            }
            Change::Reverse => self.reversed(),
            Change::Reshape(shape) => self.reshaped(shape),
        };
        view.map_or(Changed::No, Changed::View)
    }

    fn index(&self, ways: &[Way]) -> Changed {
        let (mut offset, mut dims, mut is_known) = (Some(self.offset.clone()), Dims::new(), true);
        for (k, dim) in self.dims.iter().enumerate() {
            let mut go = |by: &Form, times: i64| {
                offset = offset.take().and_then(|from| from.plus(by, times));
            };
            match ways.get(k) {
                None => dims.push(*dim),
                Some(Way::At(at)) => {
                    if at.as_number().is_some_and(|at| at < 0 || at >= dim.size) {
                        return Changed::Outside;
                    }
                    go(at, dim.stride);
                }
                Some(Way::Slice { start, count, step }) => {
                    if let Some(start) = start.as_number().filter(|_| *count > 0) {
                        let last = (count - 1).checked_mul(*step).and_then(|by| start.checked_add(by));
                        let inside = |at: i64| at >= 0 && at < dim.size;
                        if !inside(start) || !last.is_some_and(inside) {
                            return Changed::Outside;
                        }
                    }
                    let Some(stride) = dim.stride.checked_mul(*step) else { return Changed::No };
                    if *count > 0 {
                        go(start, dim.stride);
                    }
                    dims.push(Dim::new((*count).max(0), stride));
                }
                Some(Way::Some) => {
                    is_known = false;
                    dims.push(*dim);
                }
            }
        }
        match (offset, is_known) {
            (Some(offset), true) => Changed::View(View { offset, dims }),
            (Some(offset), false) => Changed::Within(View { offset, dims }),
            (None, _) => Changed::No,
        }
    }

    fn flat(&self, start: &Form, slice: &[(i64, i64)]) -> Changed {
        let Some((first, rest)) = self.dims.split_first() else { return Changed::No };
        if let Some(start) = start.as_number().filter(|_| slice.iter().all(|(count, _)| *count > 0)) {
            let (mut low, mut high) = (i128::from(start), i128::from(start));
            for (count, step) in slice {
                let reach = i128::from(count - 1) * i128::from(*step);
                low += reach.min(0);
                high += reach.max(0);
            }
            if low < 0 || high >= i128::from(first.size) {
                return Changed::Outside;
            }
        }
        let mut dims = Dims::new();
        for (count, step) in slice {
            let Some(stride) = step.checked_mul(first.stride) else { return Changed::No };
            dims.push(Dim::new((*count).max(0), stride));
        }
        dims.extend(rest.iter().copied());
        match self.offset.plus(start, first.stride) {
            Some(offset) => Changed::View(View { offset, dims }),
            None => Changed::No,
        }
    }

    fn reversed(&self) -> Option<View> {
        let first = *self.dims.first()?;
        if first.size <= 0 {
            return Some(self.clone());
        }
        let last = Form::number(first.size - 1);
        let mut dims = Dims::from_slice(&self.dims);
        dims[0].stride = first.stride.checked_neg()?;
        Some(View { offset: self.offset.plus(&last, first.stride)?, dims })
    }

    /// The same elements in the same order: neighbouring axes of the old shape that go through memory as one are joined,
    /// and the axes of the new shape cut out of these.
    fn reshaped(&self, shape: &[i64]) -> Option<View> {
        let count = shape.iter().try_fold(1i64, |all, size| all.checked_mul((*size).max(0)))?;
        if count == 0 || self.elements()? != count {
            let view = View::row_major(shape)?;
            return (count == 0).then_some(View { offset: self.offset.clone(), ..view });
        }
        // Joined axes, innermost last.
        let mut joined: Vec<Dim> = Vec::new();
        for dim in self.dims.iter().filter(|dim| dim.size != 1) {
            match joined.last_mut() {
                Some(last) if dim.size.checked_mul(dim.stride) == Some(last.stride) => {
                    *last = Dim::new(last.size.checked_mul(dim.size)?, dim.stride);
                }
                _ => joined.push(*dim),
            }
        }
        let mut dims = Dims::new();
        let mut left = joined.pop().unwrap_or(Dim::new(1, 1));
        for size in shape.iter().rev() {
            if *size == 1 {
                dims.push(Dim::new(1, 0));
                continue;
            }
            if left.size == 1 {
                left = joined.pop()?;
            }
            if left.size % size != 0 {
                return None;
            }
            dims.push(Dim::new(*size, left.stride));
            left = Dim::new(left.size / size, left.stride.checked_mul(*size)?);
        }
        dims.reverse();
        (left.size == 1 && joined.is_empty()).then_some(View { offset: self.offset.clone(), dims })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use galopvm_testkit::Random;

    fn places(changed: Changed) -> Option<Vec<i64>> {
        match changed {
            Changed::View(view) => Some(view.lmad().expect("a number").places().collect()),
            _ => None,
        }
    }

    #[test]
    fn changes_of_shape_keep_the_order_of_elements() {
        let mut random = Random::new(5);
        let shapes: &[&[i64]] =
            &[&[24], &[4, 6], &[2, 3, 4], &[2, 12], &[1, 24], &[6, 4], &[2, 2, 6], &[3, 8]];
        let mut changed = 0;
        for _ in 0..4000 {
            let shape = *random.pick(shapes);
            let mut order: Vec<usize> = (0..shape.len()).collect();
            let (a, b) = (random.below(shape.len()), random.below(shape.len()));
            order.swap(a, b);
            let mut view = View::packed(shape, &order).expect("a small view");
            if random.one_in(3) {
                view = view.reversed().expect("a small view");
            }
            let before: Vec<i64> = view.lmad().expect("a number").places().collect();
            let to = *random.pick(shapes);
            if let Some(after) = places(view.change(&Change::Reshape(to.to_vec()))) {
                assert_eq!(before, after, "{view:?} as {to:?}");
                changed += 1;
            }
        }
        assert!(changed > 1000, "{changed}");
    }

    #[test]
    fn parts_are_inside_or_no_parts() {
        let view = View::row_major(&[4, 6]).expect("a small view");
        let number = Form::number;
        let at = |i: i64| Way::At(number(i));
        assert_eq!(places(view.change(&Change::Index(vec![at(1), at(2)]))), Some(vec![8]));
        assert_eq!(view.change(&Change::Index(vec![at(4)])), Changed::Outside);
        let slice = |start: i64, count, step| Way::Slice { start: number(start), count, step };
        let back = Change::Index(vec![at(0), slice(5, 3, -2)]);
        assert_eq!(places(view.change(&back)), Some(vec![5, 3, 1]));
        assert_eq!(view.change(&Change::Index(vec![slice(2, 3, 1)])), Changed::Outside);
        let line = View::row_major(&[10]).expect("a small view");
        let square = Change::Flat(number(1), vec![(2, 4), (3, 1)]);
        assert_eq!(places(line.change(&square)), Some(vec![1, 2, 3, 5, 6, 7]));
        assert_eq!(line.change(&Change::Flat(number(4), vec![(2, 4), (3, 1)])), Changed::Outside);
    }
}
