//! Elements and rows of arrays, as values of their own: read, put in place of others, stacked.
//!
//! ```
//! use galopvm::{ElemType, Memory, Value, elements, scalar};
//!
//! # fn main() -> Result<(), galopvm::Error> {
//! let memory = Memory::default();
//! let mut array = elements::of_bytes(&memory, ElemType::U8, &[1, 2, 3, 4, 5, 6], &[2, 3])?;
//! let row = elements::at(&array, &[1]).unwrap();
//! assert_eq!((elements::shape(&row), elements::at(&array, &[2])), (vec![3], None));
//! elements::put(&memory, &mut array, &[1, 0], &Value::Scalar(scalar(9u8)))?;
//! assert_eq!(array.to_vec::<u8>().unwrap(), [1, 2, 3, 9, 5, 6]);
//! // The row is what it was.
//! let rows = elements::stacked(&memory, ElemType::U8, &[2], &[3], [&row, &row])?;
//! assert_eq!(rows.to_vec::<u8>().unwrap(), [4, 5, 6, 4, 5, 6]);
//! assert_eq!(elements::zeros(&memory, ElemType::I32, &[2])?.to_vec::<i32>().unwrap(), [0, 0]);
//! # Ok(())
//! # }
//! ```

use crate::error::{Error, of_trap};
use galopvm_base::{ElemType, Scalar};
use galopvm_runtime::{Array, Memory, Trap, Value};

/// The element at an index, or the row that an index with fewer numbers than dimensions means; nothing outside of the array, or
/// where the elements are gone. Rows share the memory.
pub fn at(array: &Array, index: &[i64]) -> Option<Value> {
    let shape = array.shape();
    if index.len() > shape.len() || !index.iter().zip(&shape).all(|(i, extent)| (0..*extent).contains(i)) {
        return None;
    }
    if index.len() == shape.len() {
        return array.get(index).map(Value::Scalar);
    }
    Some(Value::Array(index.iter().fold(array.clone(), |row, i| row.row(*i))))
}

/// The extents of a value; a scalar has none.
pub fn shape(value: &Value) -> Vec<i64> {
    value.as_array().map_or_else(Vec::new, |array| array.shape().to_vec())
}

/// Puts a value in place of what [`at`] finds, which is of the same type and shape: in the array's memory if nobody else holds it, else in
/// a copy, which the array then is.
pub fn put(memory: &Memory, array: &mut Array, index: &[i64], new: &Value) -> Result<(), Error> {
    match new {
        Value::Scalar(scalar) => array.set(memory, index, *scalar).map_err(of_trap),
        Value::Array(row) => {
            let shape = row.shape();
            for (place, bits) in row.iter_bits().enumerate() {
                let inner = index_of(place as i64, &shape);
                array
                    .set(memory, &[index, &inner].concat(), Scalar::new(row.elem(), bits))
                    .map_err(of_trap)?;
            }
            Ok(())
        }
    }
}

/// An array of this shape whose elements are these values in row-major order, as many as it says; all are of this element
/// type and these extents.
pub fn stacked<'v>(
    memory: &Memory,
    elem: ElemType,
    outer: &[i64],
    inner: &[i64],
    values: impl IntoIterator<Item = &'v Value>,
) -> Result<Array, Error> {
    let whole = [outer, inner].concat();
    let mut array = Array::fresh(memory, elem, &whole).map_err(|error| of_trap(Trap::from(error)))?;
    for (place, value) in values.into_iter().enumerate() {
        put(memory, &mut array, &index_of(place as i64, outer), value)?;
    }
    Ok(array)
}

/// An array of the elements whose bytes these are, in row-major order.
pub fn of_bytes(memory: &Memory, elem: ElemType, bytes: &[u8], shape: &[i64]) -> Result<Array, Error> {
    let mut block = memory.block(bytes.len()).map_err(|error| of_trap(Trap::from(error)))?;
    // Nobody else holds a new block.
    if let Some(places) = block.bytes_mut() {
        places[..bytes.len()].copy_from_slice(bytes);
    }
    let mut strides = vec![1; shape.len()];
    for dim in (1..shape.len()).rev() {
        strides[dim - 1] = strides[dim] * shape[dim];
    }
    Array::view_of(block, elem, 0, shape, &strides).map_err(of_trap)
}

/// An array of zeros.
pub fn zeros(memory: &Memory, elem: ElemType, shape: &[i64]) -> Result<Array, Error> {
    let count = shape.iter().map(|extent| usize::try_from(*extent).unwrap_or(0)).product::<usize>();
    of_bytes(memory, elem, &vec![0; count * elem.bytes()], shape)
}

/// The index of an element from its place in row-major order.
fn index_of(mut place: i64, shape: &[i64]) -> Vec<i64> {
    let mut index = vec![0; shape.len()];
    for (i, extent) in index.iter_mut().zip(shape).rev() {
        *i = place % (*extent).max(1);
        place /= (*extent).max(1);
    }
    index
}
