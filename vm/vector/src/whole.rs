//! Operations on whole arrays: views where a view can say it.

use crate::array::{Across, Array, Made, Store, dense};
use crate::body::{Rows, Run, Value, delivered, failed};
use crate::code::{Reg, Whole};
use crate::column::Scalars;
use crate::loops;
use galopvm_base::{ElemType, ScalarOp, element};
use galopvm_kir::RunError;
use galopvm_lmad::{Dim, Lmad};
use std::rc::Rc;

impl<'a> Rows<'_, 'a> {
    pub fn whole(&mut self, work: &Whole) -> Run<Value<'a>> {
        let array = match work {
            Whole::Concat(parts) => self.concat(parts)?,
            Whole::Scratch { shape, elem } => {
                let shape = self.extents(shape)?;
                self.room(*elem, &shape, true)?.finish()
            }
            Whole::Iota(extent) => {
                let shape = self.extents(&[*extent])?;
                let mut made = self.room(ElemType::I64, &shape, true)?;
                made.store.bytes_mut().into_iter().for_each(|bytes| loops::count(bytes, 0, 1));
                made.finish()
            }
            Whole::Replicate { shape, value, elem } => {
                let shape = self.extents(shape)?;
                self.replicated(&shape, self.value_of(*value)?.clone(), *elem)?
            }
            Whole::Transpose(array) => {
                let array = self.array(*array)?;
                if array.view.rank() < 2 {
                    return Err(too_few());
                }
                Array { view: array.view.transpose(), ..array }
            }
            Whole::Rearrange { order, array } => {
                let array = self.array(*array)?;
                Array { view: array.view.permute(order), ..array }
            }
            Whole::Reverse(array) => {
                let array = self.array(*array)?;
                Array { view: array.view.reverse(0), ..array }
            }
            Whole::Reshape { shape, array } => {
                let (array, shape) = (self.array(*array)?, self.extents(shape)?);
                self.reshaped(array, &shape)?
            }
            Whole::Flatten(array) => {
                let array = self.array(*array)?;
                let shape = array.view.shape();
                let [outer, inner, rest @ ..] = shape.as_slice() else { return Err(too_few()) };
                let rows = outer.checked_mul(*inner).ok_or(RunError::Trap)?;
                self.reshaped(array, &[&[rows], rest].concat())?
            }
            Whole::Fold { op, array } => return self.folded(*op, &self.array(*array)?),
        };
        Ok(Value::Array(Rc::new(array)))
    }

    fn array(&self, reg: Reg) -> Run<Array<'a>> {
        self.array_in(reg).map(|array| Array::clone(array))
    }

    fn concat(&mut self, arrays: &[Reg]) -> Run<Array<'a>> {
        let parts = arrays.iter().map(|array| self.array(*array)).collect::<Run<Vec<Array<'a>>>>()?;
        let Some(first) = parts.first() else { return Err(too_few()) };
        let (elem, mut shape) = (first.elem, first.view.shape());
        let is_same = self.group.is_none() || parts.iter().all(|part| part.across.is_same());
        for part in &parts[1..] {
            let other = part.view.shape();
            if other.get(1..) != shape.get(1..) {
                return Err(RunError::Trap);
            }
            shape[0] = shape[0].checked_add(other[0]).ok_or(RunError::Trap)?;
        }
        let mut made = self.room(elem, &shape, is_same)?;
        let mut from = 0;
        for part in parts {
            let count = part.view.shape()[0];
            let (view, across) = (made.view.triplet(0, from, count, 1), made.across.clone());
            self.put(&mut made, &view, &across, &Value::Array(Rc::new(part)), false)?;
            from += count;
        }
        Ok(made.finish())
    }

    /// A value again and again: all of it in one place.
    fn replicated(&mut self, shape: &[i64], value: Value<'a>, elem: ElemType) -> Run<Array<'a>> {
        let mut array = match value {
            Value::Delivered => return Err(delivered()),
            Value::Array(array) => Rc::unwrap_or_clone(array),
            Value::Scalars(Scalars::One(bits)) => {
                let mut store = Store::own(elem.bytes())?;
                store.bytes_mut().into_iter().for_each(|bytes| element::store(bytes, elem.bytes(), 0, bits));
                Array { store: Rc::new(store), elem, view: Lmad::scalar(0), across: Across::Same }
            }
            Value::Scalars(scalars) => {
                let column = self.column(&scalars, elem.bytes());
                let mut store = Store::own(column.bytes().len())?;
                store.bytes_mut().into_iter().for_each(|bytes| bytes.copy_from_slice(column.bytes()));
                Array { store: Rc::new(store), elem, view: Lmad::scalar(0), across: Across::Stride(1) }
            }
        };
        let again = shape.iter().map(|extent| Dim::new(*extent, 0));
        array.view.dims = again.chain(array.view.dims.iter().copied()).collect();
        Ok(array)
    }

    fn reshaped(&mut self, array: Array<'a>, shape: &[i64]) -> Run<Array<'a>> {
        let count = shape.iter().try_fold(1i64, |count, extent| count.checked_mul(*extent));
        let count = if shape.contains(&0) { Some(0) } else { count };
        if count != Some(array.view.elements()) {
            return Err(RunError::Trap);
        }
        let is_same = array.across.is_same() || self.group.is_none();
        let made = self.copied(&array, is_same)?;
        let rows = if is_same { 1 } else { self.rows() as i64 };
        let view = Lmad { offset: 0, dims: dense(shape, rows) };
        Ok(Made { view, ..made }.finish())
    }

    fn folded(&mut self, op: ScalarOp, array: &Array<'a>) -> Run<Value<'a>> {
        let elem = array.elem;
        let identity = op.info().identity.ok_or_else(|| failed(format!("`{op}` has no neutral element")))?;
        let run = loops::binary(op, elem).ok_or_else(|| failed(format!("there is no `{op}` on {elem}")))?;
        let mut acc: Scalars<'a> = Scalars::One(identity.of(elem).bits);
        for place in array.view.places() {
            let view = Lmad::scalar(place);
            let part = Array { view, ..array.clone() };
            let item = self.element(&part);
            acc = self.apply2(&acc, &item, op, elem, run)?;
        }
        Ok(Value::Scalars(acc))
    }
}

fn too_few() -> RunError {
    failed("an array of too few dimensions")
}
