//! For tests: small random views, and the indices of a shape.

use crate::view::{Dim, Lmad};
pub use galopvm_testkit::Random;

/// Views and shapes, as the algebra has them.
pub trait Views {
    /// A view of at most so many axes, sizes and absolute strides; sizes 0 and 1 and strides 0 occur.
    fn view(&mut self, max_rank: usize, max_size: i64, max_stride: i64) -> Lmad;
    /// A view of numbers around the ends of the 64-bit range; sizes may be negative.
    fn extreme_view(&mut self, max_rank: usize) -> Lmad;
    /// Sizes whose product is `product`, with unit sizes strewn in.
    fn factors(&mut self, product: i64) -> Vec<i64>;
}

impl Views for Random {
    fn view(&mut self, max_rank: usize, max_size: i64, max_stride: i64) -> Lmad {
        let rank = self.below(max_rank + 1);
        let dims: Vec<Dim> = (0..rank)
            .map(|_| {
                let size = if self.below(20) == 0 { 0 } else { self.between(1, max_size) };
                Dim::new(size, self.between(-max_stride, max_stride))
            })
            .collect();
        Lmad::new(self.between(-2 * max_stride, 2 * max_stride), dims)
    }

    fn extreme_view(&mut self, max_rank: usize) -> Lmad {
        let ends =
            [0, 1, 2, 3, -1, -2, 1 << 31, 1 << 40, -(1 << 40), 1 << 62, i64::MAX, i64::MAX - 1, i64::MIN];
        let mut number = || *self.pick(&ends);
        let dims = [(); 6].map(|()| Dim::new(number(), number()));
        let offset = number();
        let rank = self.below(max_rank + 1);
        Lmad::new(offset, dims.into_iter().take(rank))
    }

    fn factors(&mut self, product: i64) -> Vec<i64> {
        let mut sizes = Vec::new();
        let mut left = product;
        while left > 1 {
            let divisors: Vec<i64> = (2..=left).filter(|d| left % d == 0).collect();
            let size = *self.pick(&divisors);
            sizes.push(size);
            left /= size;
        }
        for _ in 0..self.below(3) {
            sizes.insert(self.below(sizes.len() + 1), 1);
        }
        sizes
    }
}

/// All indices of a shape, last axis fastest.
pub fn indices(shape: &[i64]) -> impl Iterator<Item = Vec<i64>> + use<> {
    let shape = shape.to_vec();
    let count: i64 = shape.iter().product();
    (0..count).map(move |mut flat| {
        let mut index = vec![0; shape.len()];
        for (i, size) in index.iter_mut().zip(&shape).rev() {
            *i = flat % size;
            flat /= size;
        }
        index
    })
}

#[test]
fn extreme_numbers_neither_overflow_nor_unbalance() {
    use crate::{Overlap, copy_plan, disjoint};
    let mut random = Random::new(16);
    for _ in 0..20000 {
        let (a, b) = (random.extreme_view(5), random.extreme_view(5));
        let meeting = disjoint(&a, &b);
        if matches!(meeting, Overlap::Overlap { .. }) {
            assert!(matches!(disjoint(&b, &a), Overlap::Overlap { .. }), "{a} # {b}");
        }
        let forms = [
            Some(a.index_form()),
            Some(a.merged()),
            a.set_form(),
            a.hull(),
            a.flatten(),
            a.reshape(&b.shape()),
        ];
        for form in forms.into_iter().flatten() {
            assert_eq!(form.is_empty(), a.is_empty(), "{a} to {form}");
            if a.fits(i64::MAX) && !a.is_empty() {
                assert_eq!(form.bounds(), a.bounds(), "{a} to {form}");
            }
        }
        let _ = (a.is_injective(), a.is_dense(), a.is_row_major(), a.map_transpose(), a.places().next());
        let source = Lmad::new(
            b.offset,
            a.dims
                .iter()
                .zip(b.dims.iter().chain(&a.dims))
                .map(|(dim, other)| Dim::new(dim.size, other.stride)),
        );
        assert_eq!(copy_plan(&a, &source).target, a.offset);
        if a.rank() > 0 {
            let changed = [
                a.fix(0, b.offset),
                a.triplet(0, b.offset, 3, b.offset),
                a.slice_lmad(&b),
                a.reverse(0),
                a.expand(0, 7),
            ];
            assert!(
                changed
                    .iter()
                    .all(|view| view.bounds().is_some() || a.is_empty() || b.is_empty() || view.is_empty())
            );
        }
    }
}
