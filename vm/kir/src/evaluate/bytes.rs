//! Values in bytes, under any view.

use super::failed;
use super::value::{Value, each_index, elements, room};
use crate::backend::RunError;
use galopvm_base::ElemType;
use galopvm_base::scalar::Bits;
use galopvm_lmad::Lmad;
use std::ops::Range;

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
