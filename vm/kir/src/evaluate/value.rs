//! Values of the evaluator.

use super::failed;
use crate::backend::RunError;
use galopvm_base::scalar::Bits;
use galopvm_base::{ElemType, Scalar};
use smallvec::{SmallVec, smallvec};
use std::rc::Rc;

/// An array, row-major and whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Array {
    /// Element type.
    pub elem: ElemType,
    /// Extents, outermost first.
    pub shape: Vec<i64>,
    /// The elements in row-major order.
    pub data: Vec<Bits>,
}

/// A scalar or an array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A scalar.
    Scalar(Scalar),
    /// An array of rank 1 or more.
    Array(Rc<Array>),
}

impl Value {
    /// The array of these elements; a scalar if the shape is empty.
    pub fn new(elem: ElemType, shape: Vec<i64>, data: Vec<Bits>) -> Value {
        match (shape.as_slice(), data.as_slice()) {
            ([], [bits]) => Value::Scalar(Scalar::new(elem, *bits)),
            _ => Value::Array(Rc::new(Array { elem, shape, data })),
        }
    }

    /// An `i64`.
    pub fn int(value: i64) -> Value {
        Value::Scalar(Scalar::i64(value))
    }

    /// The element type.
    pub fn elem(&self) -> ElemType {
        match self {
            Value::Scalar(value) => value.ty,
            Value::Array(array) => array.elem,
        }
    }

    /// The extents; none for a scalar.
    pub fn shape(&self) -> &[i64] {
        match self {
            Value::Scalar(_) => &[],
            Value::Array(array) => &array.shape,
        }
    }

    /// The elements in row-major order.
    pub fn data(&self) -> &[Bits] {
        match self {
            Value::Scalar(value) => std::slice::from_ref(&value.bits),
            Value::Array(array) => &array.data,
        }
    }

    /// The scalar.
    pub(super) fn scalar(&self) -> Result<Scalar, RunError> {
        match self {
            Value::Scalar(value) => Ok(*value),
            Value::Array(_) => Err(failed("an array stands where a scalar should be")),
        }
    }

    /// The array.
    pub(super) fn array(&self) -> Result<&Rc<Array>, RunError> {
        match self {
            Value::Array(array) => Ok(array),
            Value::Scalar(_) => Err(failed("a scalar stands where an array should be")),
        }
    }
}

/// The number of elements of a shape.
pub(super) fn elements(shape: &[i64]) -> Result<usize, RunError> {
    let count =
        shape.iter().try_fold(1usize, |count, extent| count.checked_mul(usize::try_from(*extent).ok()?));
    // A shape with a zero holds nothing, however large its other extents are.
    let count = if shape.contains(&0) { Some(0) } else { count };
    count.ok_or_else(|| failed(format!("an array of shape {shape:?} does not fit in memory")))
}

/// Room for `count` elements.
pub(super) fn room(count: usize) -> Result<Vec<Bits>, RunError> {
    let mut data = Vec::new();
    data.try_reserve_exact(count).map_err(|_| failed(format!("{count} elements do not fit in memory")))?;
    Ok(data)
}

/// Calls `f` with every index of a shape, in row-major order, until it fails.
pub fn each_index(shape: &[i64], mut f: impl FnMut(&[i64]) -> Result<(), RunError>) -> Result<(), RunError> {
    if shape.iter().any(|extent| *extent <= 0) {
        return Ok(());
    }
    let mut index: SmallVec<[i64; 4]> = smallvec![0; shape.len()];
    loop {
        f(&index)?;
        let Some(axis) = (0..shape.len()).rev().find(|k| index[*k] + 1 < shape[*k]) else {
            return Ok(());
        };
        index[axis] += 1;
        index[axis + 1..].fill(0);
    }
}
