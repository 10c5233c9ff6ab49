//! The places of a view, one per index, in the order of the indices (last axis fastest).

use smallvec::SmallVec;

use crate::view::{Dim, Lmad};

/// Iterator over the places of a view; made by [`Lmad::places`].
#[derive(Clone, Debug)]
pub struct Places {
    /// The axes with the index each stands at.
    axes: SmallVec<[(Dim, i64); 4]>,
    /// The place the next call answers.
    place: i64,
    /// How many indices are left.
    left: i64,
}

impl Lmad {
    /// The places of the view in index order; an empty view has none, one of rank 0 has one.
    pub fn places(&self) -> Places {
        Places {
            axes: self.dims.iter().map(|&dim| (dim, 0)).collect(),
            place: self.offset,
            left: self.elements(),
        }
    }
}

impl Iterator for Places {
    type Item = i64;

    #[inline]
    fn next(&mut self) -> Option<i64> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        let place = self.place;
        // An odometer: each axis steps on, or falls back to 0 and lets the next outer one step.
        for (dim, at) in self.axes.iter_mut().rev() {
            *at += 1;
            if *at < dim.size {
                self.place = self.place.wrapping_add(dim.stride);
                break;
            }
            self.place = self.place.wrapping_sub((*at - 1).wrapping_mul(dim.stride));
            *at = 0;
        }
        Some(place)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl ExactSizeIterator for Places {}

#[cfg(test)]
mod tests {
    use crate::random::{Random, Views, indices};
    use crate::{Dim, Lmad};

    #[test]
    fn places_follow_the_indices() {
        let mut random = Random::new(3);
        for _ in 0..2000 {
            let view = random.view(4, 5, 30);
            let expected: Vec<i64> = indices(&view.shape()).map(|index| view.place(&index)).collect();
            assert_eq!(view.places().len(), expected.len());
            assert_eq!(view.places().collect::<Vec<_>>(), expected, "{view}");
        }
    }

    #[test]
    fn one_and_none() {
        assert_eq!(Lmad::scalar(7).places().collect::<Vec<_>>(), [7]);
        assert_eq!(Lmad::new(7, [Dim::new(3, 1), Dim::new(0, 1)]).places().next(), None);
    }
}
