//! The view itself: an offset and one (size, stride) per axis, how it is made, and what it says of itself.
//!
//! Invariant: sizes are not negative. A negative size that comes in through the public fields is read as "empty".

use smallvec::SmallVec;

/// One axis of a view: how many indices it has, and how many elements apart neighbouring indices are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dim {
    /// Number of indices, at least 0.
    pub size: i64,
    /// Distance in elements between neighbouring indices; any sign, 0 repeats one element.
    pub stride: i64,
}

/// The axes of a view, outermost first.
pub type Dims = SmallVec<[Dim; 4]>;

/// A view of a block of elements: index `i` stands for place `offset + sum i_k * stride_k`.
#[derive(PartialEq, Eq, Hash, Debug)]
pub struct Lmad {
    /// Place of the element whose indices are all 0.
    pub offset: i64,
    /// The axes, outermost first; none for a single element.
    pub dims: Dims,
}

impl Dim {
    /// An axis of `size` indices, `stride` elements apart.
    pub const fn new(size: i64, stride: i64) -> Dim {
        Dim { size, stride }
    }

    /// How far the last index lies from the first one (0 for an axis of at most one index).
    pub(crate) fn reach(self) -> i128 {
        i128::from(self.size.saturating_sub(1).max(0)) * i128::from(self.stride)
    }

    /// Whether this axis followed by `inner` steps through memory like one axis would.
    pub(crate) fn packs(self, inner: Dim) -> bool {
        i128::from(self.stride) == i128::from(inner.size) * i128::from(inner.stride)
    }
}

impl Clone for Lmad {
    /// As bytes: views are cloned wherever arrays go.
    #[inline]
    fn clone(&self) -> Lmad {
        Lmad { offset: self.offset, dims: Dims::from_slice(&self.dims) }
    }
}

impl Lmad {
    /// The view with these numbers.
    pub fn new(offset: i64, dims: impl IntoIterator<Item = Dim>) -> Lmad {
        Lmad { offset, dims: dims.into_iter().collect() }
    }

    /// The view of one element (rank 0).
    pub fn scalar(offset: i64) -> Lmad {
        Lmad { offset, dims: Dims::new() }
    }

    /// A whole block from place 0 on, last axis innermost.
    pub fn row_major(shape: &[i64]) -> Lmad {
        let mut dims: Dims = shape.iter().map(|&size| Dim::new(size, 0)).collect();
        let mut stride = 1i64;
        for dim in dims.iter_mut().rev() {
            dim.stride = stride;
            stride = stride.saturating_mul(dim.size);
        }
        Lmad { offset: 0, dims }
    }

    /// A whole block from place 0 on, whose axes lie in memory in the order `perm`, outermost first.
    ///
    /// `perm` must be a permutation of the axes; axes it does not name get stride 0.
    pub fn manifest(shape: &[i64], perm: &[usize]) -> Lmad {
        debug_assert!(is_permutation(perm, shape.len()), "{perm:?} of {} axes", shape.len());
        let mut dims: Dims = shape.iter().map(|&size| Dim::new(size, 0)).collect();
        let mut stride = 1i64;
        for &axis in perm.iter().rev() {
            dims[axis].stride = stride;
            stride = stride.saturating_mul(shape[axis]);
        }
        Lmad { offset: 0, dims }
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// The sizes of the axes, outermost first.
    pub fn shape(&self) -> SmallVec<[i64; 4]> {
        self.dims.iter().map(|dim| dim.size).collect()
    }

    /// Whether some axis has no index.
    pub fn is_empty(&self) -> bool {
        self.dims.iter().any(|dim| dim.size <= 0)
    }

    /// Number of indices of the whole view, `i64::MAX` when there are more than that.
    pub fn elements(&self) -> i64 {
        if self.is_empty() {
            return 0;
        }
        product(self.dims.iter().map(|dim| dim.size))
    }

    /// The place an index stands for.
    ///
    /// Exact whenever the place is a 64-bit number, which holds for every index of a view that fits in a block.
    #[inline]
    pub fn place(&self, index: &[i64]) -> i64 {
        debug_assert_eq!(index.len(), self.rank());
        // Wrapping is exact modulo 2^64, so intermediate sums need no care.
        self.dims
            .iter()
            .zip(index)
            .fold(self.offset, |place, (dim, &i)| place.wrapping_add(i.wrapping_mul(dim.stride)))
    }
}

/// Whether `perm` names each of `rank` axes once.
pub(crate) fn is_permutation(perm: &[usize], rank: usize) -> bool {
    perm.len() == rank && (0..rank).all(|axis| perm.contains(&axis))
}

/// The product of sizes, `i64::MAX` when it is more than that.
pub(crate) fn product(sizes: impl IntoIterator<Item = i64>) -> i64 {
    sizes.into_iter().fold(1i64, i64::saturating_mul)
}

/// The 64-bit number nearest to `value`.
pub(crate) fn saturate(value: i128) -> i64 {
    value.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constructors() {
        assert_eq!(Lmad::row_major(&[4, 6]).to_string(), "0 + {(4:6),(6:1)}");
        assert_eq!(Lmad::row_major(&[]), Lmad::scalar(0));
        assert_eq!(Lmad::manifest(&[20, 30, 40], &[1, 2, 0]).to_string(), "0 + {(20:1),(30:800),(40:20)}");
        assert_eq!(Lmad::manifest(&[4, 6], &[0, 1]), Lmad::row_major(&[4, 6]));
    }

    #[test]
    fn elements_saturate_but_empty_is_empty() {
        let huge = Lmad::row_major(&[1 << 40, 1 << 40]);
        assert_eq!(huge.elements(), i64::MAX);
        assert!(!huge.fits(i64::MAX));
        assert_eq!(Lmad::row_major(&[1 << 40, 1 << 40, 0]).elements(), 0);
        assert_eq!(Lmad::scalar(3).elements(), 1);
    }

    #[test]
    fn place_is_exact_past_an_overflowing_middle() {
        let view = Lmad::new(0, [Dim::new(3, i64::MAX), Dim::new(3, -i64::MAX)]);
        assert_eq!(view.place(&[2, 2]), 0);
    }
}
