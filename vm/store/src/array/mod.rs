//! Arrays: a view (LMAD) of a counted block.
//!
//! - `element.rs`: elements as bytes and as Rust values. `host.rs`: a host's elements as arrays, and back. `view.rs`: indices and slices with Futhark's meaning and
//!   messages. `copy.rs`: moving elements from one view to another by the kind of copy. `granted.rs`: writing into
//!   blocks that others of the same execution hold.
//!
//! Invariants of [`Array`]: every place of the view lies in the block; bools are 0 or 1. Changing the layout changes
//! only the view.

mod copy;
pub(crate) mod element;
mod granted;
mod host;
pub mod view;

pub use element::Element;
pub use view::SliceIndex;

pub use copy::{copy_elements, move_elements};
pub use galopvm_base::element::{load, store};
pub use granted::{Granted, same_places};

use crate::error::{ErrorKind, Trap};
use crate::memory::{Block, DEVICE_LOST, Memory, OutOfMemory};
use crate::stop::{Pace, Stop};
use galopvm_base::scalar::eval2;
use galopvm_base::{Bits, ElemType, Scalar, ScalarOp};
use galopvm_lmad::Lmad;

/// Work on an element that is not part of a stretch, in bytes of one.
const BY_ELEMENT: usize = 32;

/// An array value; cloning shares the block.
#[derive(Clone, Debug)]
pub struct Array {
    block: Block,
    elem: ElemType,
    lmad: Lmad,
}

impl Array {
    /// A row-major array with a block of its own and unspecified elements.
    #[inline]
    pub fn fresh(memory: &Memory, elem: ElemType, shape: &[i64]) -> Result<Array, OutOfMemory> {
        let lmad = Lmad::row_major(shape);
        let bytes = i128::from(lmad.elements()) * elem.bytes() as i128;
        let too_large = || OutOfMemory {
            requested: u64::try_from(bytes).unwrap_or(u64::MAX),
            live: memory.stats().live_bytes,
            budget: None,
        };
        // `elements` saturates, so a shape with too many elements is found here as well.
        let bytes =
            usize::try_from(bytes).ok().filter(|_| lmad.elements() < i64::MAX).ok_or_else(too_large)?;
        // Stale bytes need not be truth values.
        let block = if elem == ElemType::Bool { memory.zeros(bytes)? } else { memory.block(bytes)? };
        Ok(Array { block, elem, lmad })
    }

    /// A shape whose elements are still to be made. Only who asks [`Array::is_unmade`] may be given it.
    #[inline]
    pub fn unmade(memory: &Memory, elem: ElemType, shape: &[i64]) -> Array {
        Array { block: memory.nothing(), elem, lmad: Lmad::row_major(shape) }
    }

    /// Moves index 0 to another place of the block, which need not be there: only who knows which rows are
    /// there may look at any.
    #[inline]
    pub fn move_origin(&mut self, place: i64) {
        self.lmad.offset = place;
    }

    /// Whether the elements are still to be made.
    #[inline]
    pub fn is_unmade(&self) -> bool {
        self.block.is_empty() && !self.lmad.is_empty()
    }

    /// A row-major array of the elements of a slice, which must be as many as the shape says.
    pub fn from_slice<T: Element>(memory: &Memory, elements: &[T], shape: &[i64]) -> Result<Array, Trap> {
        host::check_count(elements.len(), shape)?;
        let mut array = Array::fresh(memory, T::TYPE, shape)?;
        let bytes = array.block.bytes_mut().expect("nobody else has seen a fresh block");
        for (place, element) in bytes.chunks_exact_mut(T::TYPE.bytes()).zip(elements) {
            element.write(place);
        }
        Ok(array)
    }

    /// A view of a block, if the view fits it. Blocks of bools must hold 0 and 1 only where the view reaches, which
    /// is checked.
    #[inline]
    pub fn from_block(block: Block, elem: ElemType, lmad: Lmad) -> Option<Array> {
        if !lmad.fits((block.len() / elem.bytes()) as i64) || lmad.dims.iter().any(|d| d.size < 0) {
            return None;
        }
        let array = Array { block, elem, lmad };
        (elem != ElemType::Bool || array.holds_truth_values()).then_some(array)
    }

    fn holds_truth_values(&self) -> bool {
        match self.row_major_bytes() {
            Some(bytes) => bytes.iter().all(|byte| *byte <= 1),
            None => self.iter_bits().all(|bits| bits <= 1),
        }
    }

    /// The element type.
    #[inline]
    pub fn elem(&self) -> ElemType {
        self.elem
    }

    /// The extents, outermost first.
    #[inline]
    pub fn shape(&self) -> smallvec::SmallVec<[i64; 4]> {
        self.lmad.shape()
    }

    /// Number of dimensions.
    #[inline]
    pub fn rank(&self) -> usize {
        self.lmad.rank()
    }

    /// Number of elements.
    #[inline]
    pub fn elements(&self) -> i64 {
        self.lmad.elements()
    }

    /// How the array lies in its block.
    #[inline]
    pub fn lmad(&self) -> &Lmad {
        &self.lmad
    }

    /// The block.
    #[inline]
    pub fn block(&self) -> &Block {
        &self.block
    }

    /// The block, for writing to it; the view stays.
    #[inline]
    pub fn block_mut(&mut self) -> &mut Block {
        &mut self.block
    }

    /// The same block under another view, which the caller knows to fit.
    #[inline]
    pub fn with_view(&self, lmad: Lmad) -> Array {
        debug_assert!(self.block.is_empty() || lmad.fits((self.block.len() / self.elem.bytes()) as i64));
        Array { block: self.block.clone(), elem: self.elem, lmad }
    }

    /// This array under another view, which the caller knows to fit.
    #[inline]
    pub fn into_view(self, lmad: Lmad) -> Array {
        debug_assert!(self.block.is_empty() || lmad.fits((self.block.len() / self.elem.bytes()) as i64));
        Array { lmad, ..self }
    }

    /// Block, element type and view.
    #[inline]
    pub fn into_parts(self) -> (Block, ElemType, Lmad) {
        (self.block, self.elem, self.lmad)
    }

    /// An array of what [`Array::into_parts`] gave.
    #[inline]
    pub fn of_parts(block: Block, elem: ElemType, lmad: Lmad) -> Array {
        debug_assert!(lmad.fits((block.len() / elem.bytes()) as i64));
        Array { block, elem, lmad }
    }

    /// The element at an index, or nothing outside the array, or where the elements are gone.
    #[inline]
    pub fn get(&self, index: &[i64]) -> Option<Scalar> {
        let inside = index.len() == self.rank()
            && self.lmad.dims.iter().zip(index).all(|(d, &i)| 0 <= i && i < d.size);
        let element = inside.then(|| Scalar::new(self.elem, self.load(self.lmad.place(index))));
        element.filter(|_| self.block.is_intact())
    }

    /// The bits of the element at a place of the view.
    #[inline]
    pub fn load(&self, place: i64) -> Bits {
        load(self.block.bytes(), self.elem.bytes(), place)
    }

    /// Row `i` (an array of one dimension less); the caller knows that it exists.
    #[inline]
    pub fn row(&self, i: i64) -> Array {
        self.with_view(self.lmad.fix(0, i))
    }

    /// What a slice says; dimensions that it does not name stay whole.
    pub fn slice(self, dims: &[SliceIndex]) -> Result<Array, Trap> {
        if dims.len() > self.rank() {
            return Err(Trap::new(format!(
                "A slice of {} dimensions does not fit rank {}.",
                dims.len(),
                self.rank()
            )));
        }
        let view = view::slice(&self.lmad, dims).map_err(Trap::new)?;
        Ok(self.into_view(view))
    }

    /// The array whose dimension `k` is dimension `perm[k]` of this one.
    #[inline]
    pub fn permute(self, perm: &[usize]) -> Result<Array, Trap> {
        if perm.len() != self.rank() || (0..self.rank()).any(|dim| !perm.contains(&dim)) {
            return Err(Trap::new(format!("{perm:?} is not a permutation of {} dimensions.", self.rank())));
        }
        let view = self.lmad.permute(perm);
        Ok(self.into_view(view))
    }

    /// The array with one dimension backwards.
    #[inline]
    pub fn reverse(self, dim: usize) -> Result<Array, Trap> {
        if dim >= self.rank() {
            return Err(no_dimension(dim, self.rank()));
        }
        let view = self.lmad.reverse(dim);
        Ok(self.into_view(view))
    }

    /// The elements in row-major order under another shape: a view where one can say it, else a copy.
    pub fn reshape(self, memory: &Memory, shape: &[i64]) -> Result<Array, Trap> {
        let count = view::exact_count(shape);
        if shape.iter().any(|n| *n < 0) || count.is_none() || count != view::exact_count(&self.shape()) {
            let (from, to) = (view::shape_text(&self.shape()), view::shape_text(shape));
            return Err(Trap::new(format!("Cannot unflatten array of shape {from} to array of shape {to}")));
        }
        match self.lmad.reshape(shape) {
            Some(view) => Ok(self.into_view(view)),
            None => Ok(self.copy(memory)?.into_view(Lmad::row_major(shape))),
        }
    }

    /// Sets the element at an index: in place if nobody else holds the block and no other index means the same
    /// place, else in a copy, which this array then is.
    pub fn set(&mut self, memory: &Memory, index: &[i64], value: Scalar) -> Result<(), Trap> {
        if index.len() != self.rank() || value.ty != self.elem {
            let given = format!("a {} at {} indices", value.ty, index.len());
            return Err(Trap::new(format!(
                "Cannot set {given} in an array of rank {} of {}.",
                self.rank(),
                self.elem
            )));
        }
        view::place(&self.lmad, index.iter().copied()).map_err(Trap::new)?;
        self.make_writable(memory)?;
        let place = self.lmad.place(index);
        self.block.bytes();
        if !self.block.is_intact() {
            return Err(Trap::of_kind(ErrorKind::Input, DEVICE_LOST));
        }
        let width = self.elem.bytes();
        store(self.block.bytes_mut().expect("the array is writable now"), width, place, value.bits);
        Ok(())
    }

    /// Whether elements can be replaced without anybody else seeing it, and without replacing other elements.
    #[inline]
    pub fn is_writable(&self) -> bool {
        let injective = match self.lmad.dims.as_slice() {
            // Short ways for the views that updates mostly have.
            [] => true,
            [dim] => dim.stride != 0 || dim.size <= 1,
            _ => self.lmad.is_injective(),
        };
        injective && self.block.is_unique()
    }

    /// Copies the array unless its elements can be replaced.
    #[inline]
    pub fn make_writable(&mut self, memory: &Memory) -> Result<(), Trap> {
        if !self.is_writable() {
            *self = self.copy(memory)?;
        }
        Ok(())
    }

    /// The bytes of all elements in row-major order, if they lie like that.
    #[inline]
    pub fn row_major_bytes(&self) -> Option<&[u8]> {
        if !self.lmad.is_row_major() {
            return None;
        }
        let width = self.elem.bytes();
        let start = if self.lmad.is_empty() { 0 } else { self.lmad.offset as usize * width };
        self.block.bytes().get(start..start + self.elements() as usize * width)
    }

    /// A row-major array with the same elements: this one if it lies like that, else a copy.
    #[inline]
    pub fn to_row_major(&self, memory: &Memory) -> Result<Array, Trap> {
        if self.lmad.is_row_major() { Ok(self.clone()) } else { self.copy(memory) }
    }

    /// A copy in a row-major block of its own.
    #[inline]
    pub fn copy(&self, memory: &Memory) -> Result<Array, Trap> {
        let mut copy = Array::fresh(memory, self.elem, &self.shape())?;
        let target = copy.block.bytes_mut().expect("nobody else has seen a fresh block");
        copy_elements(memory, target, &copy.lmad, self.block.bytes(), &self.lmad, self.elem.bytes())?;
        Ok(copy)
    }

    /// A copy in which index `i` of a dimension is index `i + amount` of this array, around the end.
    pub fn rotate(&self, memory: &Memory, dim: usize, amount: i64) -> Result<Array, Trap> {
        let Some(extent) = self.lmad.dims.get(dim).map(|d| d.size) else {
            return Err(no_dimension(dim, self.rank()));
        };
        let mut rotated = Array::fresh(memory, self.elem, &self.shape())?;
        let first = if extent > 0 { amount.rem_euclid(extent) } else { 0 };
        let target = rotated.block.bytes_mut().expect("nobody else has seen a fresh block");
        for (to, from, count) in [(0, first, extent - first), (extent - first, 0, first)] {
            let target_view = rotated.lmad.triplet(dim, to, count, 1);
            let source_view = self.lmad.triplet(dim, from, count, 1);
            copy_elements(memory, target, &target_view, self.block.bytes(), &source_view, self.elem.bytes())?;
        }
        Ok(rotated)
    }

    /// Whether two arrays have one element type, one shape, and equal elements by the rule of `==`: zeros of either
    /// sign are equal, NaN equals nothing.
    #[inline]
    pub fn equals(&self, other: &Array) -> bool {
        self.equals_until(other, &mut Stop::default().pace()).unwrap_or(false)
    }

    /// The same, unless the call is to end.
    pub fn equals_until(&self, other: &Array, pace: &mut Pace<'_>) -> Result<bool, Trap> {
        if self.elem != other.elem || self.shape() != other.shape() {
            return Ok(false);
        }
        if !self.elem.is_float()
            && let (Some(a), Some(b)) = (self.row_major_bytes(), other.row_major_bytes())
        {
            for (a, b) in a.chunks(Pace::STRETCH).zip(b.chunks(Pace::STRETCH)) {
                pace.go(a.len())?;
                if a != b {
                    return Ok(false);
                }
            }
            return Ok(true);
        }
        let equal = |a, b| match self.elem.is_float() {
            true => eval2(ScalarOp::Eq, self.elem, a, b) == Ok(1),
            false => a == b,
        };
        for (a, b) in self.iter_bits().zip(other.iter_bits()) {
            pace.go(BY_ELEMENT)?;
            if !equal(a, b) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The bits of all elements in row-major order; zeros where they are gone ([`Block::is_intact`]).
    #[inline]
    pub fn iter_bits(&self) -> impl Iterator<Item = Bits> + '_ {
        let (bytes, width) = (self.block.bytes(), self.elem.bytes());
        self.lmad.places().map(move |place| load(bytes, width, place))
    }
}

fn no_dimension(dim: usize, rank: usize) -> Trap {
    Trap::new(format!("There is no dimension {dim} in an array of rank {rank}."))
}

/// Equal element types, shapes and elements; elements are equal when their bits are, so NaN equals itself.
impl PartialEq for Array {
    fn eq(&self, other: &Array) -> bool {
        if self.elem != other.elem || self.shape() != other.shape() {
            return false;
        }
        match (self.row_major_bytes(), other.row_major_bytes()) {
            (Some(a), Some(b)) => a == b,
            _ => self.iter_bits().eq(other.iter_bits()),
        }
    }
}

#[cfg(test)]
mod tests;
