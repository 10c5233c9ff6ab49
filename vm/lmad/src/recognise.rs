//! Recognising layouts: row-major, dense in some order, and the transposes a tiled kernel can do.

use smallvec::SmallVec;

use crate::view::{Dims, Lmad, product};

/// A view that reads row-major memory transposed, block by block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MapTranspose {
    /// Number of blocks.
    pub batch: i64,
    /// Rows of each block in memory: the innermost axis of the view.
    pub rows: i64,
    /// Elements of each row in memory: the axis of the view that steps by one element.
    pub cols: i64,
}

impl Lmad {
    /// Whether index order is memory order without holes (at any offset).
    pub fn is_row_major(&self) -> bool {
        if self.is_empty() {
            return true;
        }
        let merged = self.merged();
        merged.rank() == 0 || (merged.rank() == 1 && merged.dims[0].stride == 1)
    }

    /// Whether the places are one stretch of memory, each taken once, with rising axes in any order.
    pub fn is_dense(&self) -> bool {
        self.is_empty() || dense_order(&self.merged().dims).is_some()
    }

    /// The decomposition of a dense view that is a (batched) transpose of row-major memory, else `None`.
    pub fn map_transpose(&self) -> Option<MapTranspose> {
        if self.is_empty() {
            return None;
        }
        // With packed neighbours joined, every batched transpose has two axes, or three with the batch outside.
        let dims = self.merged().dims;
        let order = dense_order(&dims)?;
        let (outer, _, _) = map_transpose(&order)?;
        let (batch, pair) = dims.split_at(outer);
        let batch = product(batch.iter().map(|dim| dim.size));
        Some(MapTranspose { batch, rows: pair[1].size, cols: pair[0].size })
    }
}

/// For dense axes, the position of each in memory, outermost 0: the permutation that makes them from row-major.
fn dense_order(dims: &Dims) -> Option<SmallVec<[usize; 4]>> {
    let mut inner_first: SmallVec<[usize; 4]> = (0..dims.len()).collect();
    inner_first.sort_unstable_by_key(|&axis| dims[axis].stride);
    let mut order: SmallVec<[usize; 4]> = SmallVec::from_elem(0, dims.len());
    let mut stride = 1i128;
    for (position, &axis) in inner_first.iter().enumerate() {
        if i128::from(dims[axis].stride) != stride {
            return None;
        }
        stride *= i128::from(dims[axis].size);
        order[axis] = dims.len() - 1 - position;
    }
    Some(order)
}

/// The decomposition of a permutation into `k` axes kept outside, then `a` axes, then the `b` axes that stood before
/// those: `Some((k, a, b))`, or `None` if it has no such form (the identity has none).
pub fn map_transpose(perm: &[usize]) -> Option<(usize, usize, usize)> {
    let kept = perm.iter().enumerate().take_while(|&(k, &axis)| k == axis).count();
    let moved = &perm[kept..];
    let first = *moved.first()?;
    let run = moved.iter().enumerate().take_while(|&(k, &axis)| axis == first + k).count();
    let rest = &moved[run..];
    let exchanged = !rest.is_empty() && rest.iter().enumerate().all(|(k, &axis)| axis == kept + k);
    exchanged.then_some((kept, run, rest.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, Views};

    #[test]
    fn recognises_permutations_of_row_major() {
        let mut random = Random::new(7);
        for _ in 0..3000 {
            let shape: Vec<i64> = (0..random.below(5)).map(|_| random.between(1, 4)).collect();
            let perm = random.permutation(shape.len());
            let view = Lmad::row_major(&shape).permute(&perm).shift(random.between(0, 9));
            assert!(view.is_dense(), "{view}");
            let rising = view.places().eq(view.offset..view.offset + view.elements());
            assert_eq!(view.is_row_major(), rising, "{view}");
            if !shape.contains(&1) {
                // The axes of the first run step inside a row of memory, those of the second from row to row.
                let expected = map_transpose(&perm).map(|(k, a, b)| {
                    let size =
                        |range: std::ops::Range<usize>| product(perm[range].iter().map(|&axis| shape[axis]));
                    MapTranspose { batch: size(0..k), rows: size(k + a..k + a + b), cols: size(k..k + a) }
                });
                assert_eq!(view.map_transpose(), expected, "{view} {perm:?}");
            }
        }
    }

    #[test]
    fn dense_is_a_stretch_of_distinct_places() {
        let mut random = Random::new(8);
        for _ in 0..5000 {
            let view = random.view(3, 4, 6);
            let Some((low, high)) = view.bounds() else {
                assert!(view.is_dense() && view.is_row_major());
                continue;
            };
            let rising = view.dims.iter().all(|dim| dim.size == 1 || dim.stride > 0);
            let stretch = rising && view.is_injective() && high - low + 1 == view.elements();
            assert_eq!(view.is_dense(), stretch, "{view}");
            assert_eq!(
                view.is_row_major(),
                view.places().eq(view.offset..view.offset + view.elements()),
                "{view}"
            );
        }
    }

    #[test]
    fn transposed_memory_reads_as_said() {
        let view = Lmad::row_major(&[5, 3, 4]).permute(&[0, 2, 1]);
        assert_eq!(view.map_transpose(), Some(MapTranspose { batch: 5, rows: 3, cols: 4 }));
        assert_eq!(Lmad::row_major(&[5, 3, 4]).map_transpose(), None);
        assert_eq!(Lmad::row_major(&[5, 3, 4]).permute(&[2, 1, 0]).map_transpose(), None);
    }
}
