//! Copies of arrays in another layout.
//!
//! Views that show the same elements in another order of dimensions, or backwards, share their copies: a copy is of the
//! *plain* view, whose dimensions go by falling distance and forwards, and is looked at as the array is.

use galopvm_lmad::{Dim, Dims, Lmad};
use galopvm_store::array::{Array, move_elements};
use galopvm_store::error::Trap;
use galopvm_store::memory::{Memory, Wanted};
use smallvec::SmallVec;
use std::cmp::Reverse;

/// A view as a plain one is looked at.
struct Plain {
    view: Lmad,
    /// By dimension of the view: the dimension of the plain one, and whether it goes backwards.
    dims: SmallVec<[(usize, bool); 4]>,
}

impl Plain {
    fn of(view: &Lmad) -> Plain {
        let mut from: SmallVec<[usize; 4]> = (0..view.rank()).collect();
        from.sort_by_key(|dim| Reverse(view.dims[*dim].stride.unsigned_abs()));
        let mut plain = Lmad::new(view.offset, Dims::new());
        let mut dims: SmallVec<[(usize, bool); 4]> = SmallVec::from_elem((0, false), view.rank());
        for (at, dim) in from.into_iter().enumerate() {
            let Dim { size, stride } = view.dims[dim];
            let backwards = stride < 0 && size > 0;
            if backwards {
                plain.offset += (size - 1) * stride;
            }
            plain.dims.push(Dim::new(size, if backwards { -stride } else { stride }));
            dims[dim] = (at, backwards);
        }
        Plain { view: plain, dims }
    }

    /// The order of the plain view's dimensions for an order of the view's.
    fn order(&self, order: &[usize]) -> SmallVec<[usize; 4]> {
        order.iter().map(|dim| self.dims[*dim].0).collect()
    }

    /// The view of a copy of the plain one.
    fn seen(&self, copy: &Lmad) -> Lmad {
        let mut seen = Lmad::new(copy.offset, Dims::new());
        for (at, backwards) in &self.dims {
            let Dim { size, stride } = copy.dims[*at];
            if *backwards {
                seen.offset += (size - 1) * stride;
            }
            seen.dims.push(Dim::new(size, if *backwards { -stride } else { stride }));
        }
        seen
    }
}

/// A copy of an array that is there already or could be made.
pub(crate) struct Relaid<'a> {
    array: &'a Array,
    plain: Plain,
    order: SmallVec<[usize; 4]>,
}

impl<'a> Relaid<'a> {
    /// The array in this layout: its dimensions, outermost in memory first.
    pub(crate) fn new(array: &'a Array, order: &[usize]) -> Relaid<'a> {
        let plain = Plain::of(array.lmad());
        Relaid { array, order: plain.order(order), plain }
    }

    fn wanted(&self) -> Wanted<'_> {
        Wanted { elem: self.array.elem(), view: &self.plain.view, order: &self.order }
    }

    /// Counts that the layout is asked for; gives how often it was.
    pub(crate) fn ask(&self, memory: &Memory) -> u64 {
        self.array.block().shelf(memory).ask(self.wanted())
    }

    /// The bytes of a copy.
    pub(crate) fn bytes(&self) -> u64 {
        self.array.elements().unsigned_abs().saturating_mul(self.array.elem().bytes() as u64)
    }

    fn lmad(&self) -> Lmad {
        Lmad::manifest(&self.plain.view.shape(), &self.order)
    }

    /// The copy, if it is there.
    pub(crate) fn kept(&self, memory: &Memory) -> Option<Array> {
        let block = self.array.block().shelf(memory).copy(self.wanted())?;
        Some(Array::of_parts(block, self.array.elem(), self.plain.seen(&self.lmad())))
    }

    /// Makes the copy; nothing if there is no memory. The error is that the call is to end.
    pub(crate) fn make(&self, memory: &Memory, keep: bool) -> Result<Option<Array>, Trap> {
        let (array, lmad) = (self.array, self.lmad());
        let Ok(copy) = Array::fresh(memory, array.elem(), &[array.elements()]) else { return Ok(None) };
        let mut copy = copy.into_view(lmad.clone());
        let target = copy.block_mut().bytes_mut().expect("nobody else has seen a fresh block");
        let (source, width) = (array.block().bytes(), array.elem().bytes());
        move_elements(memory, target, &lmad, source, &self.plain.view, width)?;
        memory.count_layout(Some(self.bytes()));
        if keep {
            array.block().shelf(memory).keep(self.wanted(), copy.block().clone());
        }
        Ok(Some(copy.into_view(self.plain.seen(&lmad))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use galopvm_store::array::SliceIndex;

    fn matrix(memory: &Memory) -> Array {
        let elements: Vec<i32> = (0..24).collect();
        Array::from_slice(memory, &elements, &[2, 3, 4]).unwrap()
    }

    #[test]
    fn copies_are_equal_however_the_array_is_looked_at() {
        let memory = Memory::new(None);
        let all = matrix(&memory);
        let part = [SliceIndex::At(1), SliceIndex::Range { start: Some(2), end: None, step: Some(-1) }];
        let views = [
            all.clone(),
            all.clone().permute(&[2, 0, 1]).unwrap(),
            all.clone().reverse(1).unwrap().permute(&[1, 0, 2]).unwrap(),
            all.clone().slice(&part).unwrap(),
            all.clone().slice(&[SliceIndex::Range { start: Some(1), end: Some(1), step: None }]).unwrap(),
        ];
        for view in views {
            let rank = view.rank();
            for turn in 0..rank {
                let order: Vec<usize> = (0..rank).map(|dim| (dim + turn) % rank).collect();
                let relaid = Relaid::new(&view, &order);
                let copy = relaid.make(&memory, false).unwrap().unwrap();
                assert_eq!(copy, view);
                // The last dimension of the order has neighbours.
                let last = copy.lmad().dims[order[rank - 1]];
                assert!(last.size <= 1 || last.stride.abs() == 1 || view.elements() == 0, "{order:?}");
            }
        }
    }

    #[test]
    fn views_share_a_copy() {
        let memory = Memory::new(None);
        let all = matrix(&memory);
        let relaid = Relaid::new(&all, &[2, 0, 1]);
        assert!(relaid.kept(&memory).is_none());
        relaid.make(&memory, true).unwrap();
        let turned = all.clone().permute(&[2, 1, 0]).unwrap().reverse(1).unwrap();
        // Dimension 2 of the array is dimension 0 of this view.
        let kept = Relaid::new(&turned, &[0, 2, 1]).kept(&memory).unwrap();
        assert_eq!(kept, turned);
        assert_eq!((memory.stats().layouts, memory.stats().layout_bytes), (1, 96));
    }
}
