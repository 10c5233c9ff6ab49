//! Values in bytes, under any view; and the ways in which an array may lie in its block, for tests of every tier.

use super::failed;
use super::value::{Value, each_index, elements, room};
use crate::backend::RunError;
use galopvm_base::ElemType;
use galopvm_base::scalar::Bits;
use galopvm_lmad::{Dim, Lmad};
use std::ops::Range;

/// A way in which an array lies in its block. All hold the same value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Layout {
    /// Row-major from place 0 on.
    Contiguous,
    /// Dimensions in the opposite order in memory.
    Transposed,
    /// Row-major, but every third element only.
    Strided,
    /// Each dimension runs backwards.
    Reversed,
    /// Row-major from a place that no vector is aligned to.
    Offset,
    /// Rows longer than what is used of them.
    Padded,
}

impl Layout {
    /// Every layout.
    pub const ALL: [Layout; 6] = [
        Layout::Contiguous,
        Layout::Transposed,
        Layout::Strided,
        Layout::Reversed,
        Layout::Offset,
        Layout::Padded,
    ];

    /// The view of an array of this shape, and the number of elements of its block.
    pub fn view(self, shape: &[i64]) -> (Lmad, i64) {
        let row_major = Lmad::row_major(shape);
        let count = row_major.elements();
        match self {
            Layout::Contiguous => (row_major, count),
            Layout::Transposed => {
                let perm: Vec<usize> = (0..shape.len()).rev().collect();
                (Lmad::manifest(shape, &perm), count)
            }
            Layout::Strided => {
                let dims = row_major.dims.iter().map(|dim| Dim::new(dim.size, dim.stride.saturating_mul(3)));
                (Lmad::new(0, dims), count.saturating_mul(3))
            }
            Layout::Reversed => {
                let dims = row_major.dims.iter().map(|dim| Dim::new(dim.size, -dim.stride));
                (Lmad::new((count - 1).max(0), dims), count)
            }
            Layout::Offset => (Lmad::new(5, row_major.dims), count.saturating_add(7)),
            Layout::Padded => {
                let mut wide = shape.to_vec();
                if let Some(last) = wide.last_mut() {
                    *last += 3;
                }
                let whole = Lmad::row_major(&wide);
                let dims = whole.dims.iter().zip(shape).map(|(dim, extent)| Dim::new(*extent, dim.stride));
                (Lmad::new(0, dims), whole.elements())
            }
        }
    }
}

/// The bytes of one element, if it has a place.
fn range(elem: ElemType, lmad: &Lmad, index: &[i64]) -> Option<Range<usize>> {
    let start = usize::try_from(lmad.place(index)).ok()?.checked_mul(elem.bytes())?;
    Some(start..start.checked_add(elem.bytes())?)
}

/// The value that a view shows of a block; the view must fit in the block.
pub fn load(elem: ElemType, bytes: &[u8], lmad: &Lmad) -> Result<Value, RunError> {
    let shape = lmad.shape().to_vec();
    let mut data: Vec<Bits> = room(elements(&shape)?)?;
    each_index(&shape, |index| {
        let mut wide = [0; 8];
        let source = range(elem, lmad, index).and_then(|range| bytes.get(range)).ok_or_else(outside)?;
        wide[..elem.bytes()].copy_from_slice(source);
        let bits = Bits::from_le_bytes(wide);
        data.push(if elem == ElemType::Bool { Bits::from(bits != 0) } else { bits });
        Ok(())
    })?;
    Ok(Value::new(elem, shape, data))
}

/// Writes a value into a block under a view of its shape; the view must fit in the block.
pub fn store(value: &Value, bytes: &mut [u8], lmad: &Lmad) -> Result<(), RunError> {
    let elem = value.elem();
    if value.shape() != lmad.shape().as_slice() {
        return Err(failed("a value has another shape than its view"));
    }
    let mut elements = value.data().iter();
    each_index(value.shape(), |index| {
        let place = range(elem, lmad, index).and_then(|range| bytes.get_mut(range)).ok_or_else(outside)?;
        if let Some(bits) = elements.next() {
            place.copy_from_slice(&bits.to_le_bytes()[..elem.bytes()]);
        }
        Ok(())
    })
}

fn outside() -> RunError {
    failed("a view leaves its block")
}
