//! Small sets of places as bits: the last resort where the exact search runs out of its budget.

use crate::view::Lmad;

/// The widest stretch of places a bit map is made for.
pub(crate) const GREATEST_WIDTH: i128 = 1 << 20;

/// A set of places from `base` on.
pub(crate) struct Bitmap {
    base: i64,
    width: usize,
    words: Vec<u64>,
}

impl Bitmap {
    /// The places of a view that lie in `base..=last`; `None` if that is more than [`GREATEST_WIDTH`] wide. `base`
    /// must not lie above the view's least place.
    pub(crate) fn of(view: &Lmad, base: i128, last: i128) -> Option<Bitmap> {
        let Some((low, _)) = view.wide_bounds() else {
            return Some(Bitmap { base: 0, width: 0, words: Vec::new() });
        };
        let width = last.checked_sub(base)?.checked_add(1)?;
        if !(0..=GREATEST_WIDTH).contains(&width) {
            return None;
        }
        debug_assert!(base <= low);
        let width = width as usize;
        let mut map = Bitmap { base: i64::try_from(base).ok()?, width, words: vec![0; width.div_ceil(64)] };
        if low <= last {
            let first = (low - base) as usize;
            map.words[first / 64] |= 1 << (first % 64);
            // From the least place up, each axis adds rising copies of what is there: places past the end never return.
            for dim in &view.dims {
                map.repeat(dim.size, dim.stride.unsigned_abs());
            }
        }
        Some(map)
    }

    /// Adds the copies of the set moved on by 1, 2, .., `count - 1` strides, doubling their number each time.
    fn repeat(&mut self, count: i64, stride: u64) {
        let mut have = 1;
        while have < count {
            let more = have.min(count - have);
            let Some(distance) = stride.checked_mul(more as u64).filter(|&d| d != 0 && d < self.width as u64)
            else {
                return;
            };
            self.add_moved(distance as usize);
            have += more;
        }
    }

    /// Adds the set moved on by `distance`, dropping what passes the end.
    fn add_moved(&mut self, distance: usize) {
        let (words, bits) = (distance / 64, distance % 64);
        // From the top down, so that every word is read before it changes.
        for at in (words..self.words.len()).rev() {
            let from = at - words;
            let carried = if bits > 0 && from > 0 { self.words[from - 1] >> (64 - bits) } else { 0 };
            let moved = self.words[from] << bits | carried;
            self.words[at] |= moved;
        }
        let used = self.width % 64;
        if let Some(last) = self.words.last_mut().filter(|_| used > 0) {
            *last &= (1 << used) - 1;
        }
    }

    /// Number of places.
    pub(crate) fn count(&self) -> i64 {
        self.words.iter().map(|word| i64::from(word.count_ones())).sum()
    }

    /// The least place in both; the maps must start at the same place.
    pub(crate) fn first_common(&self, other: &Bitmap) -> Option<i64> {
        debug_assert_eq!(self.base, other.base);
        let (at, word) = self
            .words
            .iter()
            .zip(&other.words)
            .map(|(a, b)| a & b)
            .enumerate()
            .find(|&(_, word)| word != 0)?;
        Some(self.base + at as i64 * 64 + i64::from(word.trailing_zeros()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::random::{Random, Views};

    #[test]
    fn bits_are_the_places() {
        let mut random = Random::new(10);
        for _ in 0..2000 {
            let (a, b) = (random.view(4, 6, 60), random.view(4, 6, 60));
            let (Some((low_a, high_a)), Some((low_b, high_b))) = (a.wide_bounds(), b.wide_bounds()) else {
                continue;
            };
            let (base, last) = (low_a.min(low_b), high_a.min(high_b));
            let places = |view: &Lmad| -> BTreeSet<i64> {
                view.places().filter(|&place| i128::from(place) <= last).collect()
            };
            let (set_a, set_b) = (places(&a), places(&b));
            let (map_a, map_b) = (Bitmap::of(&a, base, last).unwrap(), Bitmap::of(&b, base, last).unwrap());
            assert_eq!(map_a.count(), set_a.len() as i64, "{a}");
            assert_eq!(map_a.first_common(&map_b), set_a.intersection(&set_b).next().copied(), "{a} {b}");
        }
    }

    #[test]
    fn too_wide_is_refused() {
        assert!(Bitmap::of(&Lmad::scalar(0), 0, 1 << 20).is_none());
    }
}
