//! Operations on whole arrays.

use super::expression::place;
use super::value::{Array, Value, each_index, elements, room};
use super::{Evaluation, failed};
use crate::backend::RunError;
use crate::ir::*;
use galopvm_base::scalar::eval;
use galopvm_base::{ElemType, Scalar, ScalarOp};
use galopvm_lmad::{Dim, Lmad};

impl Evaluation<'_> {
    pub(super) fn array_op(&self, op: ArrayOp, args: &[ArrayArg]) -> Result<Value, RunError> {
        match (op, args) {
            (ArrayOp::Copy, [ArrayArg::Exp(exp)]) => self.exp(exp),
            (ArrayOp::Concat, [first, rest @ ..]) => self.concat(first, rest),
            (ArrayOp::Scratch, [ArrayArg::Shape(shape), ArrayArg::Elem(elem)]) => {
                let shape = self.extents(shape)?;
                repeated(*elem, shape, &[0])
            }
            (ArrayOp::Iota, [ArrayArg::Shape(shape)]) => {
                let shape = self.extents(shape)?;
                let count = elements(&shape)?;
                let mut data = room(count)?;
                data.extend(0..count as u64);
                Ok(Value::new(ElemType::I64, shape, data))
            }
            (ArrayOp::Replicate, [ArrayArg::Shape(shape), ArrayArg::Exp(exp)]) => {
                let value = self.exp(exp)?;
                let shape = [self.extents(shape)?, value.shape().to_vec()].concat();
                repeated(value.elem(), shape, value.data())
            }
            (ArrayOp::Transpose, [ArrayArg::Exp(exp)]) => {
                let value = self.exp(exp)?;
                let mut perm: Vec<usize> = (0..value.shape().len()).collect();
                if perm.len() < 2 {
                    return Err(wrong(op));
                }
                perm.swap(0, 1);
                rearranged(value.array()?, &perm)
            }
            (ArrayOp::Rearrange, [ArrayArg::Perm(perm), ArrayArg::Exp(exp)]) => {
                rearranged(self.exp(exp)?.array()?, perm)
            }
            (ArrayOp::Reshape, [ArrayArg::Shape(shape), ArrayArg::Exp(exp)]) => {
                let shape = self.extents(shape)?;
                reshaped(self.exp(exp)?.array()?, shape)
            }
            (ArrayOp::Flatten, [ArrayArg::Exp(exp)]) => {
                let value = self.exp(exp)?;
                let array = value.array()?;
                let [outer, inner, rest @ ..] = array.shape.as_slice() else { return Err(wrong(op)) };
                let rows = outer.checked_mul(*inner).ok_or(RunError::Trap)?;
                let shape = [&[rows], rest].concat();
                reshaped(array, shape)
            }
            (ArrayOp::Reverse, [ArrayArg::Exp(exp)]) => {
                let value = self.exp(exp)?;
                let array = value.array()?;
                let row = elements(&array.shape[1..])?;
                let mut data = room(array.data.len())?;
                if row > 0 {
                    array.data.rchunks(row).for_each(|chunk| data.extend_from_slice(chunk));
                }
                Ok(Value::new(array.elem, array.shape.clone(), data))
            }
            (ArrayOp::Reduce, [ArrayArg::Op(scalar_op), ArrayArg::Exp(exp)]) => {
                fold(*scalar_op, self.exp(exp)?.array()?)
            }
            _ => Err(wrong(op)),
        }
    }

    fn concat(&self, first: &ArrayArg, rest: &[ArrayArg]) -> Result<Value, RunError> {
        let array = |arg: &ArrayArg| match arg {
            ArrayArg::Exp(exp) => self.exp(exp),
            _ => Err(wrong(ArrayOp::Concat)),
        };
        let first = array(first)?;
        let (mut shape, mut data) = (first.shape().to_vec(), first.data().to_vec());
        for arg in rest {
            let next = array(arg)?;
            if next.shape().get(1..) != shape.get(1..) {
                return Err(RunError::Trap);
            }
            shape[0] = shape[0].checked_add(next.shape()[0]).ok_or(RunError::Trap)?;
            data.extend_from_slice(next.data());
        }
        Ok(Value::new(first.elem(), shape, data))
    }
}

fn wrong(op: ArrayOp) -> RunError {
    failed(format!("{op:?} does not take these arguments"))
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
    let identity = op.info().identity.ok_or_else(|| wrong(ArrayOp::Reduce))?;
    let mut acc = identity.of(array.elem).bits;
    for bits in &array.data {
        acc = eval(op, array.elem, &[acc, *bits]).map_err(|_| RunError::Trap)?;
    }
    Ok(Value::Scalar(Scalar::new(array.elem, acc)))
}
