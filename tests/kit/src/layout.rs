//! The ways in which an array may lie in its block: whatever takes arrays is tested with all of them, and with arrays that
//! have no elements and that have no dimensions.

use crate::Random;
use galopvm_lmad::{Dim, Lmad};

/// A way in which an array lies in its block. All hold the same value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Layout {
    /// Row-major from place 0 on.
    Contiguous,
    /// Dimensions in the opposite order in memory.
    Transposed,
    /// Row-major, but every third element only.
    Strided,
    /// Each dimension runs backwards.
    Reversed,
    /// Row-major from a place that no vector is aligned to.
    Offset,
    /// Longer in each dimension than what is used of it, and not from the first place on.
    Padded,
    /// Dimensions in the opposite order, the first one backwards, with gaps.
    Turned,
}

impl Layout {
    /// Every layout.
    pub const ALL: [Layout; 7] = [
        Layout::Contiguous,
        Layout::Transposed,
        Layout::Strided,
        Layout::Reversed,
        Layout::Offset,
        Layout::Padded,
        Layout::Turned,
    ];

    /// The view of an array of this shape, and the number of elements of its block.
    pub fn view(self, shape: &[i64]) -> (Lmad, i64) {
        let row_major = Lmad::row_major(shape);
        let count = row_major.elements();
        match self {
            Layout::Contiguous => (row_major, count),
            Layout::Transposed => {
                let perm: Vec<usize> = (0..shape.len()).rev().collect();
                (Lmad::manifest(shape, &perm), count)
            }
            Layout::Strided => {
                let dims = row_major.dims.iter().map(|dim| Dim::new(dim.size, dim.stride.saturating_mul(3)));
                (Lmad::new(0, dims), count.saturating_mul(3))
            }
            Layout::Reversed => {
                let dims = row_major.dims.iter().map(|dim| Dim::new(dim.size, -dim.stride));
                (Lmad::new((count - 1).max(0), dims), count)
            }
            Layout::Offset => (Lmad::new(5, row_major.dims), count.saturating_add(7)),
            Layout::Padded => {
                let mut stride = 1i64;
                let mut view = row_major;
                for dim in view.dims.iter_mut().rev() {
                    dim.stride = stride;
                    stride = stride.saturating_mul(dim.size.max(1).saturating_add(3));
                }
                view.offset = 2;
                (view, stride.saturating_add(2))
            }
            Layout::Turned => {
                let mut stride = 2i64;
                let mut view = row_major;
                view.offset = 1;
                for (k, dim) in view.dims.iter_mut().enumerate() {
                    dim.stride = if k == 0 { -stride } else { stride };
                    view.offset += if k == 0 { (dim.size.max(1) - 1).saturating_mul(stride) } else { 0 };
                    stride = stride.saturating_mul(dim.size.max(1));
                }
                (view, stride.saturating_add(1))
            }
        }
    }
}

/// A view of this shape, and the number of elements of its block: adjacent, with gaps, backwards, transposed, not at the start,
/// with one element at many indices.
pub fn any_view(random: &mut Random, shape: &[i64]) -> (Lmad, i64) {
    let mut order: Vec<usize> = (0..shape.len()).collect();
    if random.one_in(3) {
        order.reverse();
    }
    let mut dims = vec![Dim::new(0, 0); shape.len()];
    let mut stride = 1;
    for d in order.into_iter().rev() {
        stride *= random.pick(&[1, 1, 1, 2, 3]);
        dims[d] = Dim::new(shape[d], stride);
        stride *= shape[d].max(1);
    }
    let mut offset = *random.pick(&[0, 0, 0, 1, 5]);
    for dim in &mut dims {
        match random.below(6) {
            0 => {
                offset += (dim.size - 1).max(0) * dim.stride;
                dim.stride = -dim.stride;
            }
            1 if random.one_in(2) => dim.stride = 0,
            _ => {}
        }
    }
    let last: i64 = dims.iter().map(|dim| (dim.size - 1).max(0) * dim.stride.max(0)).sum();
    (Lmad::new(offset, dims), offset + last + 1)
}

#[test]
fn elements_of_a_layout_have_places_of_their_own() {
    let mut random = Random::new(3);
    for shape in [&[][..], &[0], &[1], &[7], &[3, 5], &[0, 4], &[4, 0], &[2, 3, 4], &[1, 1, 6]] {
        let count = shape.iter().product::<i64>() as usize;
        for layout in Layout::ALL {
            let (view, elements) = layout.view(shape);
            assert_eq!(view.shape().as_slice(), shape, "{layout:?}");
            assert!(view.fits(elements) && view.is_injective(), "{layout:?} {view}");
            assert_eq!(view.places().count(), count, "{layout:?} {view}");
        }
        for _ in 0..100 {
            let (view, elements) = any_view(&mut random, shape);
            assert_eq!(view.shape().as_slice(), shape, "{view}");
            assert!(view.fits(elements), "{view} in {elements}");
        }
    }
}
