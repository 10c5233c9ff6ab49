//! The least and the greatest place of a view, and the safety check made from them.

use crate::view::{Dim, Lmad, saturate};

impl Lmad {
    /// Least and greatest place, exact; sums saturate far outside the 64-bit numbers. `None` when empty.
    pub(crate) fn wide_bounds(&self) -> Option<(i128, i128)> {
        if self.is_empty() {
            return None;
        }
        let start = (i128::from(self.offset), i128::from(self.offset));
        Some(self.dims.iter().fold(start, |(low, high), dim| {
            let reach = dim.reach();
            (low.saturating_add(reach.min(0)), high.saturating_add(reach.max(0)))
        }))
    }

    /// Least and greatest place, `None` for an empty view. Saturated to 64 bits: ask [`fits`](Lmad::fits) for safety.
    pub fn bounds(&self) -> Option<(i64, i64)> {
        self.wide_bounds().map(|(low, high)| (saturate(low), saturate(high)))
    }

    /// The shortest stretch of memory with all places of the view, as a view: `None` if empty.
    pub fn hull(&self) -> Option<Lmad> {
        let (low, high) = self.wide_bounds()?;
        let size = saturate(high.saturating_sub(low).saturating_add(1));
        Some(Lmad::new(saturate(low), [Dim::new(size, 1)]))
    }

    /// Whether every place of the view lies in a block of so many elements (an empty view fits in any).
    pub fn fits(&self, block_elements: i64) -> bool {
        self.wide_bounds().is_none_or(|(low, high)| low >= 0 && high < i128::from(block_elements))
    }
}

#[cfg(test)]
mod tests {
    use crate::random::{Random, Views};
    use crate::{Dim, Lmad};

    #[test]
    fn bounds_are_the_extreme_places() {
        let mut random = Random::new(1);
        for _ in 0..2000 {
            let view = random.view(4, 5, 20);
            let expected = view.places().min().zip(view.places().max());
            assert_eq!(view.bounds(), expected, "{view}");
            if let Some((low, high)) = expected {
                assert_eq!(view.fits(high + 1), low >= 0, "{view}");
                assert!(!view.fits(high), "{view}");
            }
        }
    }

    #[test]
    fn extreme_numbers_do_not_fit() {
        for dims in [vec![Dim::new(i64::MAX, i64::MAX); 9], vec![Dim::new(i64::MAX, i64::MIN); 9]] {
            assert!(!Lmad::new(0, dims).fits(i64::MAX));
        }
        assert!(!Lmad::new(0, [Dim::new(2, i64::MAX)]).fits(i64::MAX));
        assert!(Lmad::new(0, [Dim::new(2, i64::MAX - 1)]).fits(i64::MAX));
        assert!(Lmad::new(i64::MIN, [Dim::new(0, 1)]).fits(0));
    }

    #[test]
    fn hulls() {
        let view = Lmad::new(10, [Dim::new(3, -4), Dim::new(2, 7)]);
        assert_eq!(view.hull().unwrap().to_string(), "2 + {(16:1)}");
        assert_eq!(Lmad::row_major(&[0]).hull(), None);
    }
}
