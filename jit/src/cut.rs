//! The pieces that an axis is cut into for threads, and to be able to stop between them.
//!
//! Invariant: pieces cover the axis in order and none is empty. They leave together what is computed together, where there is
//! enough of it: a piece of fewer rows than a vector has lanes does the work of a whole vector.

use smallvec::{SmallVec, smallvec};

/// The pieces of an axis: where each begins and ends.
pub type Pieces = SmallVec<[(i64, i64); 1]>;

/// Elements that pieces begin at multiples of, so that aligned stores stay aligned.
pub const PIECE_UNIT: i64 = 64;

/// Tiles of rows of a piece at least, where there are as many pieces without that as threads take: what rows share is read by
/// every piece.
const TILES: i64 = 16;

/// What the iterations of the axis that pieces are cut from have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Together {
    /// Nothing.
    Alone,
    /// So many are rows of a tile.
    Rows(i64),
    /// They go across lanes.
    Lanes {
        /// So many in a vector.
        vector: i64,
        /// So many in all vectors that are computed together.
        all: i64,
    },
}

impl Together {
    /// The most pieces of so many iterations that leave them together.
    pub fn most_pieces(self, length: i64) -> i64 {
        match self {
            Together::Alone => length,
            Together::Rows(rows) => length / (TILES * rows),
            Together::Lanes { all, .. } => length / all,
        }
    }

    /// The most pieces of so many iterations that still fill vectors.
    pub fn most_full_pieces(self, length: i64) -> i64 {
        match self {
            Together::Alone | Together::Rows(_) => length,
            Together::Lanes { vector, .. } => (length + vector - 1) / vector,
        }
    }

    /// What pieces begin at multiples of, if there are so many.
    fn unit(self, length: i64, parts: i64) -> i64 {
        let units: &[i64] = match self {
            Together::Alone => &[PIECE_UNIT],
            Together::Rows(rows) => &[rows],
            Together::Lanes { vector, all } => &[all.max(PIECE_UNIT), all, vector],
        };
        // A piece that ends amid a vector does the work of a whole one, the slow way.
        let least = match self {
            Together::Lanes { vector, .. } if parts <= self.most_full_pieces(length) => vector,
            _ => 1,
        };
        units.iter().copied().find(|unit| length >= parts.saturating_mul(*unit)).unwrap_or(least)
    }
}

/// Cuts `0..length` into about so many pieces that begin where vectors, tiles and cache lines do, if that is possible.
pub fn cut(length: i64, parts: i64, together: Together) -> Pieces {
    if parts <= 1 {
        return smallvec![(0, length)];
    }
    let unit = together.unit(length, parts);
    let size = ((length + parts - 1) / parts + unit - 1) / unit * unit;
    (0..parts).map(|k| (k * size, ((k + 1) * size).min(length))).filter(|(low, high)| low < high).collect()
}

#[cfg(test)]
mod tests {
    use super::{Together, cut};

    #[test]
    fn pieces_cover_the_axis_in_order() {
        let kinds = [
            Together::Alone,
            Together::Rows(6),
            Together::Lanes { vector: 16, all: 64 },
            Together::Lanes { vector: 4, all: 4 },
        ];
        for (length, parts) in [(1, 1), (7, 7), (100, 8), (2011, 8), (2048, 2000), (4096, 3)] {
            for kind in kinds {
                let pieces = cut(length, parts, kind);
                let mut end = 0;
                for (low, high) in &pieces {
                    assert!(*low == end && low < high, "{length} {parts} {kind:?}: {pieces:?}");
                    end = *high;
                }
                assert_eq!(end, length);
                assert!(pieces.len() as i64 <= parts);
            }
        }
    }

    #[test]
    fn vectors_stay_whole() {
        let lanes = Together::Lanes { vector: 16, all: 64 };
        assert_eq!((lanes.most_pieces(2048), lanes.most_full_pieces(2048)), (32, 128));
        assert!(cut(2048, 32, lanes).iter().all(|(low, high)| low % 64 == 0 && high % 64 == 0));
        assert_eq!((lanes.most_pieces(20), lanes.most_full_pieces(20)), (0, 2));
        assert!(cut(1000, 8, Together::Lanes { vector: 16, all: 16 }).iter().all(|(low, _)| low % 64 == 0));
        assert_eq!(
            cut(26, 4, Together::Lanes { vector: 8, all: 8 })[..],
            [(0, 8), (8, 16), (16, 24), (24, 26)]
        );
        assert!(cut(200, 8, Together::Lanes { vector: 16, all: 16 }).iter().all(|(low, _)| low % 16 == 0));
    }
}
