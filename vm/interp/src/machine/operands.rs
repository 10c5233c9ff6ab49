//! Arrays while a unit runs: inputs, which are only read, and cells, which are the unit's own.

use crate::arrays::mismatch;
use galopvm_base::{Bits, ElemType};
use galopvm_lmad::Lmad;
use galopvm_store::array::{Array, load, store};
use galopvm_store::error::{RuntimeError, Trap};
use galopvm_store::memory::Exclusive;

/// An array that is only read.
pub(super) struct Input<'v> {
    bytes: &'v [u8],
    view: &'v Lmad,
    width: usize,
    vector: Vector,
}

/// The numbers of a view with one dimension.
#[derive(Clone, Copy)]
struct Vector {
    offset: i64,
    size: u64,
    stride: i64,
}

impl Vector {
    fn of(view: &Lmad) -> Vector {
        let dim = view.dims.first().copied().unwrap_or(galopvm_lmad::Dim::new(0, 0));
        Vector { offset: view.offset, size: dim.size as u64, stride: dim.stride }
    }

    /// The place of an index, if it is inside.
    #[inline(always)]
    fn place(self, index: u64) -> Option<i64> {
        (index < self.size).then(|| self.offset.wrapping_add((index as i64).wrapping_mul(self.stride)))
    }
}

impl<'v> Input<'v> {
    pub(super) fn new(array: &'v Array) -> Input<'v> {
        Input {
            bytes: array.block().bytes(),
            view: array.lmad(),
            width: array.elem().bytes(),
            vector: Vector::of(array.lmad()),
        }
    }

    pub(super) fn view(&self) -> &Lmad {
        self.view
    }

    /// The element of a vector of `W` bytes wide elements, if the index is inside.
    #[inline(always)]
    pub(super) fn element<const W: usize>(&self, index: u64) -> Option<Bits> {
        self.vector.place(index).map(|place| load(self.bytes, W, place))
    }

    pub(super) fn element_at(&self, place: i64) -> Bits {
        load(self.bytes, self.width, place)
    }
}

/// An array of a unit's own. What nothing is stored to may be shared with others.
pub(super) struct Cell {
    held: Held,
    elem: ElemType,
    view: Lmad,
    vector: Vector,
}

enum Held {
    Own(Exclusive),
    Shared(galopvm_store::memory::Block),
}

impl Cell {
    pub(super) fn new(array: Array) -> Cell {
        let (block, elem, view) = array.into_parts();
        let held = match block.exclusive() {
            Ok(own) => Held::Own(own),
            Err(shared) => Held::Shared(shared),
        };
        Cell { held, elem, vector: Vector::of(&view), view }
    }

    pub(super) fn into_array(self) -> Array {
        let block = match self.held {
            Held::Own(own) => own.share(),
            Held::Shared(block) => block,
        };
        Array::of_parts(block, self.elem, self.view)
    }

    pub(super) fn view(&self) -> &Lmad {
        &self.view
    }

    #[inline(always)]
    fn bytes(&self) -> &[u8] {
        match &self.held {
            Held::Own(own) => own.bytes(),
            Held::Shared(block) => block.bytes(),
        }
    }

    /// The bytes; shared ones are not written, and whoever stores has seen to it that they are not shared.
    #[inline(always)]
    fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.held {
            Held::Own(own) => own.bytes_mut(),
            Held::Shared(_) => &mut [],
        }
    }

    #[inline(always)]
    pub(super) fn element<const W: usize>(&self, index: u64) -> Option<Bits> {
        self.vector.place(index).map(|place| load(self.bytes(), W, place))
    }

    pub(super) fn element_at(&self, place: i64) -> Bits {
        load(self.bytes(), self.elem.bytes(), place)
    }

    /// Stores an element of a vector; says whether the index is inside.
    #[inline(always)]
    pub(super) fn store<const W: usize>(&mut self, index: u64, bits: Bits) -> bool {
        let place = self.vector.place(index);
        if let Some(place) = place {
            store(self.bytes_mut(), W, place, bits);
        }
        place.is_some()
    }

    pub(super) fn store_at(&mut self, place: i64, bits: Bits) {
        let width = self.elem.bytes();
        store(self.bytes_mut(), width, place, bits);
    }
}

#[cold]
pub(super) fn extent_mismatch(width: i64, extent: i64) -> Box<RuntimeError> {
    Trap::new(mismatch("Arrays of an operator", &[width], &[extent])).into()
}
