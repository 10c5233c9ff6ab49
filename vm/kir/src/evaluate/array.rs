//! Operations on whole arrays.

use super::expression::{not_negative, place};
use super::value::{Array, Value, each_index, elements, room};
use super::{Evaluation, failed};
use crate::backend::RunError;
use crate::ir::*;
use galopvm_base::scalar::eval;
use galopvm_base::{ElemType, Scalar, ScalarOp};
use galopvm_lmad::{Dim, Lmad};

impl Evaluation<'_> {
    pub(super) fn array_op(&self, op: &ArrayOp) -> Result<Value, RunError> {
        match op {
            ArrayOp::Copy(exp) => self.exp(exp),
            ArrayOp::Concat { first, rest } => self.concat(first, rest),
            ArrayOp::Scratch { shape, elem } => repeated(*elem, self.extents(shape)?, &[0]),
            ArrayOp::Iota(extent) => {
                let count = not_negative(self.int(extent)?)?;
                let mut data = room(elements(&[count])?)?;
                data.extend(0..count as u64);
                Ok(Value::new(ElemType::I64, vec![count], data))
            }
            ArrayOp::Replicate { shape, value } => {
                let value = self.exp(value)?;
                let shape = [self.extents(shape)?, value.shape().to_vec()].concat();
                repeated(value.elem(), shape, value.data())
            }
            ArrayOp::View { change, array } => {
                let new = match change {
                    ViewChange::Reshape(shape) => self.extents(shape)?,
                    ViewChange::Transpose
                    | ViewChange::Rearrange(_)
                    | ViewChange::Reverse
                    | ViewChange::Flatten => Vec::new(),
                };
                seen(change, self.exp(array)?.array()?, new)
            }
            ArrayOp::Call { function, .. } => Err(failed(format!("nothing is known of `{function}`"))),
            ArrayOp::Reduce { op, array } => fold(*op, self.exp(array)?.array()?),
        }
    }

    fn concat(&self, first: &Exp, rest: &[Exp]) -> Result<Value, RunError> {
        let first = self.exp(first)?;
        let (mut shape, mut data) = (first.shape().to_vec(), first.data().to_vec());
        for array in rest {
            let next = self.exp(array)?;
            if next.shape().get(1..) != shape.get(1..) {
                return Err(RunError::Trap);
            }
            shape[0] = shape[0].checked_add(next.shape()[0]).ok_or(RunError::Trap)?;
            data.extend_from_slice(next.data());
        }
        Ok(Value::new(first.elem(), shape, data))
    }
}

/// An array seen otherwise; `extents` are those that a change of shape asks for.
fn seen(change: &ViewChange, array: &Array, extents: Vec<i64>) -> Result<Value, RunError> {
    match change {
        ViewChange::Transpose | ViewChange::Rearrange(_) => {
            let perm = change.permutation(array.shape.len());
            rearranged(array, &perm.ok_or_else(|| failed("a transposition of one dimension"))?)
        }
        ViewChange::Reshape(_) => reshaped(array, extents),
        ViewChange::Flatten => {
            let [outer, inner, rest @ ..] = array.shape.as_slice() else {
                return Err(failed("there are no two dimensions to join"));
            };
            let rows = outer.checked_mul(*inner).ok_or(RunError::Trap)?;
            reshaped(array, [&[rows], rest].concat())
        }
        ViewChange::Reverse => {
            let row = elements(&array.shape[1..])?;
            let mut data = room(array.data.len())?;
            if row > 0 {
                array.data.rchunks(row).for_each(|chunk| data.extend_from_slice(chunk));
            }
            Ok(Value::new(array.elem, array.shape.clone(), data))
        }
    }
}

fn repeated(elem: ElemType, shape: Vec<i64>, piece: &[u64]) -> Result<Value, RunError> {
    let count = elements(&shape)?;
    let mut data = room(count)?;
    while data.len() < count {
        data.extend_from_slice(piece);
    }
    Ok(Value::new(elem, shape, data))
}

fn rearranged(array: &Array, perm: &[usize]) -> Result<Value, RunError> {
    let whole = Lmad::row_major(&array.shape);
    let dims: Vec<Dim> = perm.iter().map(|dim| whole.dims[*dim]).collect();
    let view = Lmad::new(0, dims);
    let shape = view.shape().to_vec();
    let mut data = room(array.data.len())?;
    each_index(&shape, |index| {
        data.push(array.data[place(&view, index)]);
        Ok(())
    })?;
    Ok(Value::new(array.elem, shape, data))
}

fn reshaped(array: &Array, shape: Vec<i64>) -> Result<Value, RunError> {
    if elements(&shape)? != array.data.len() {
        return Err(RunError::Trap);
    }
    Ok(Value::new(array.elem, shape, array.data.clone()))
}

fn fold(op: ScalarOp, array: &Array) -> Result<Value, RunError> {
    let identity = op.info().identity.ok_or_else(|| failed(format!("`{op}` has no neutral element")))?;
    let mut acc = identity.of(array.elem).bits;
    for bits in &array.data {
        acc = eval(op, array.elem, &[acc, *bits]).map_err(|_| RunError::Trap)?;
    }
    Ok(Value::Scalar(Scalar::new(array.elem, acc)))
}
