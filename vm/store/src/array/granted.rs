//! Writing into a block that the same execution also reads.
//!
//! Usually a block is written by its only holder. Where an analysis has shown that a result may be made in a block that
//! other registers still name, the block is *granted*: whoever grants has counted the holders and found that all of
//! them are values of this execution. The holders lend no bytes while elements are stored.
#![allow(unsafe_code)]

use super::copy::move_elements;
use super::{Array, store};
use crate::error::Trap;
use crate::memory::{Block, CopyKind, Memory, OutOfMemory};
use galopvm_base::resident::{Fresh, Landing, Resident, Stored};
use galopvm_base::{Bits, ElemType};
use galopvm_lmad::{Dim, Lmad};
use std::sync::Arc;

/// A place for a result: a view of a block that may be written although others hold it.
#[derive(Clone, Debug)]
pub struct Granted(Array);

impl Granted {
    /// Grants an array's places. `holders` is the number of values of this execution that hold the block, this array
    /// among them; nothing if others hold it, too, or if it may not be written.
    #[inline]
    pub fn new(array: Array, holders: usize) -> Option<Granted> {
        let block = array.block();
        (block.is_own() && block.references() == holders && array.lmad().is_injective())
            .then_some(Granted(array))
    }

    /// A new row-major array: nobody else has seen its block.
    #[inline]
    pub fn fresh(memory: &Memory, elem: ElemType, shape: &[i64]) -> Result<Granted, OutOfMemory> {
        Array::fresh(memory, elem, shape).map(Granted)
    }

    /// Another view of the same block, which fits it.
    #[inline]
    pub fn with_view(&self, view: Lmad) -> Granted {
        Granted(self.0.with_view(view))
    }

    /// The array that the place is.
    #[inline]
    pub fn array(&self) -> &Array {
        &self.0
    }

    /// The array that the place is.
    #[inline]
    pub fn into_array(self) -> Array {
        self.0
    }

    /// Whether an array lies in this place already.
    #[inline]
    pub fn holds(&self, array: &Array) -> bool {
        self.0.block().same(array.block()) && same_places(self.0.lmad(), array.lmad())
    }

    /// The bytes of the block. While they are lent, nobody looks at another array of it:
    /// kernels and the code below get at the block by these bytes alone.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let block: &Block = self.0.block();
        // SAFETY: the block was granted, so its holders are values of the execution that has this place by a unique
        // reference now; the callers look at no other array of this block meanwhile.
        unsafe { block.bytes_mut_unguarded() }.expect("a granted block may be written")
    }

    /// Stores an element at a place of the block.
    #[inline]
    pub fn store(&mut self, place: i64, bits: Bits) {
        let width = self.0.elem().bytes();
        store(self.bytes_mut(), width, place, bits);
    }

    /// Stores elements that lie one after the other at indices from `from` on; this place has one dimension.
    pub fn store_column(&mut self, from: i64, values: &[u8]) {
        let (view, width) = (self.0.lmad(), self.0.elem().bytes());
        let stride = view.dims.first().map_or(0, |dim| dim.stride);
        let first = view.offset + from * stride;
        self.store_from(values, |bytes, values| {
            if stride == 1 {
                let at = first as usize * width;
                bytes[at..at + values.len()].copy_from_slice(values);
            } else {
                store_strided(bytes, width, values, first, stride);
            }
        });
    }

    /// Lets code store elements that it reads in `source`. The code looks at nothing else.
    #[inline]
    pub fn store_from<T>(&mut self, source: &[u8], store: impl FnOnce(&mut [u8], &[u8]) -> T) -> T {
        let own = self.0.block().bytes().as_ptr_range();
        let other = source.as_ptr_range();
        if own.start < other.end && other.start < own.end {
            // Of the block itself there are elements to read as they were.
            let before = source.to_vec();
            return store(self.bytes_mut(), &before);
        }
        store(self.bytes_mut(), source)
    }

    /// Stores the elements of an array that has this place's shape. Gives the kind of copy, if anything was moved.
    #[inline]
    pub fn store_all(&mut self, memory: &Memory, array: &Array) -> Result<Option<CopyKind>, Trap> {
        if self.holds(array) {
            return Ok(None);
        }
        if array.block().same(self.0.block()) {
            let apart = array.copy(memory)?;
            return self.store_apart(memory, &apart);
        }
        self.store_apart(memory, array)
    }

    fn store_apart(&mut self, memory: &Memory, array: &Array) -> Result<Option<CopyKind>, Trap> {
        let (view, width) = (self.0.lmad().clone(), self.0.elem().bytes());
        move_elements(memory, self.bytes_mut(), &view, array.block().bytes(), array.lmad(), width)
    }
}

/// For a place of [`Granted::fresh`]; another one keeps its bytes at home.
impl Fresh for Granted {
    fn size(&self) -> usize {
        self.0.block().len()
    }

    fn bytes(&self) -> &[u8] {
        self.0.block().bytes()
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        Granted::bytes_mut(self)
    }

    fn keep(&mut self, copy: Arc<dyn Resident>) {
        self.0.block().keep(copy);
    }

    fn leave(&mut self, make: &mut dyn FnMut(Box<dyn Landing>) -> Arc<dyn Resident>) -> bool {
        self.0.block_mut().leave(make)
    }
}

/// Stores elements that lie one after the other at places in equal distances.
fn store_strided(bytes: &mut [u8], width: usize, values: &[u8], first: i64, stride: i64) {
    fn each<const W: usize>(bytes: &mut [u8], values: &[u8], first: i64, stride: i64) {
        let mut place = first;
        for value in values.as_chunks::<W>().0 {
            let at = place as usize * W;
            bytes[at..at + W].copy_from_slice(value);
            place += stride;
        }
    }
    match width {
        1 => each::<1>(bytes, values, first, stride),
        2 => each::<2>(bytes, values, first, stride),
        4 => each::<4>(bytes, values, first, stride),
        _ => each::<8>(bytes, values, first, stride),
    }
}

/// Whether two views of one shape put each element at the same place. Strides that are never taken do not matter.
#[inline]
pub fn same_places(a: &Lmad, b: &Lmad) -> bool {
    let same = |(a, b): (&Dim, &Dim)| a.size == b.size && (a.stride == b.stride || a.size <= 1);
    a.rank() == b.rank() && a.dims.iter().zip(&b.dims).all(same) && (a.is_empty() || a.offset == b.offset)
}
