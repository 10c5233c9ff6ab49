//! Executing bodies and right sides.

use super::expression::place;
use super::value::{Array, Value, each_index, elements, room};
use super::{Evaluation, LOOK_AFTER, failed};
use crate::backend::RunError;
use crate::ir::*;
use galopvm_base::Scalar;
use galopvm_base::scalar::Bits;
use galopvm_lmad::Lmad;
use std::rc::Rc;

/// Results of many rounds, one after the other.
struct Collected {
    /// The shape of one round's result.
    inner: Vec<i64>,
    data: Vec<Bits>,
}

impl Evaluation<'_> {
    pub(super) fn body(&mut self, body: &Body) -> Result<Vec<Value>, RunError> {
        self.until_look = match self.until_look {
            0 if (self.stop)() => return Err(RunError::Stopped),
            0 => LOOK_AFTER,
            left => left - 1,
        };
        for stm in &body.stms {
            let values = self.rhs(stm)?;
            self.bind_all(&stm.pat, values);
        }
        self.exps(&body.results)
    }

    /// The extents of axes; negative bounds count as 0.
    fn space(&self, axes: &[Axis]) -> Result<Vec<i64>, RunError> {
        axes.iter().map(|axis| Ok(self.int(&axis.bound)?.max(0))).collect()
    }

    fn rhs(&mut self, stm: &Stm) -> Result<Vec<Value>, RunError> {
        match &stm.rhs {
            Rhs::Exps(exps) => self.exps(exps),
            Rhs::Kernel { axes, body } => self.kernel(&stm.pat, axes, body),
            Rhs::Reduce { axes, body, combine } => {
                let space = self.space(axes)?;
                let mut acc = self.exps(&combine.neutral)?;
                each_index(&space, |index| {
                    self.bind_index(axes, index);
                    let items = self.body(body)?;
                    acc = self.combine(combine, std::mem::take(&mut acc), items)?;
                    Ok(())
                })?;
                Ok(acc)
            }
            Rhs::Scan { axis, body, combine } => {
                let axes = std::slice::from_ref(axis);
                let space = self.space(axes)?;
                let mut out = self.collected(&stm.pat, &space)?;
                let mut acc = self.exps(&combine.neutral)?;
                each_index(&space, |index| {
                    self.bind_index(axes, index);
                    let items = self.body(body)?;
                    acc = self.combine(combine, std::mem::take(&mut acc), items)?;
                    collect(&mut out, &acc)
                })?;
                Ok(self.arrays(&stm.pat, &space, out))
            }
            Rhs::For { carried, init, axis, body } => {
                let axes = std::slice::from_ref(axis);
                let space = self.space(axes)?;
                let mut values = self.exps(init)?;
                each_index(&space, |index| {
                    self.bind_all(carried, std::mem::take(&mut values));
                    self.bind_index(axes, index);
                    values = self.body(body)?;
                    Ok(())
                })?;
                Ok(values)
            }
            Rhs::While { carried, init, cond, body } => {
                let mut values = self.exps(init)?;
                loop {
                    self.bind_all(carried, values.clone());
                    if self.scalar(cond)?.bits == 0 {
                        return Ok(values);
                    }
                    values = self.body(body)?;
                }
            }
            Rhs::If { cond, then, otherwise } => {
                let taken = if self.scalar(cond)?.bits != 0 { then } else { otherwise };
                self.body(taken)
            }
            Rhs::Update { array, index, value } => Ok(vec![self.update(*array, index, value)?]),
            // A layout is no part of a value.
            Rhs::Manifest { array, .. } => Ok(vec![self.value_of(*array)?.clone()]),
            Rhs::Scatter { arrays, axes, body, combine } => {
                self.scatter(arrays, axes, body, combine.as_ref())
            }
            Rhs::Array(op) => Ok(vec![self.array_op(op)?]),
        }
    }

    fn bind_index(&mut self, axes: &[Axis], index: &[i64]) {
        for (axis, at) in axes.iter().zip(index) {
            self.bind(axis.var, Value::int(*at));
        }
    }

    fn kernel(&mut self, pat: &[VarId], axes: &[Axis], body: &Body) -> Result<Vec<Value>, RunError> {
        let space = self.space(axes)?;
        let mut out = self.collected(pat, &space)?;
        each_index(&space, |index| {
            self.bind_index(axes, index);
            let results = self.body(body)?;
            collect(&mut out, &results)
        })?;
        Ok(self.arrays(pat, &space, out))
    }

    fn combine(
        &mut self,
        combine: &Combine,
        acc: Vec<Value>,
        items: Vec<Value>,
    ) -> Result<Vec<Value>, RunError> {
        self.bind_all(&combine.acc, acc);
        self.bind_all(&combine.item, items);
        self.body(&combine.body)
    }

    /// Arrays with values at computed places; indices outside are passed by.
    fn scatter(
        &mut self,
        arrays: &[VarId],
        axes: &[Axis],
        body: &Body,
        combine: Option<&Combine>,
    ) -> Result<Vec<Value>, RunError> {
        let mut made: Vec<Array> = Vec::new();
        for array in arrays {
            made.push(Array::clone(self.value_of(*array)?.array()?));
        }
        let shape = made.first().map_or(Vec::new(), |first| first.shape.clone());
        if made.iter().any(|other| other.shape != shape) {
            return Err(failed("arrays of different shapes are written together"));
        }
        let view = Lmad::row_major(&shape);
        let space = self.space(axes)?;
        each_index(&space, |index| {
            self.bind_index(axes, index);
            let mut values = self.body(body)?;
            let items = values.split_off(shape.len());
            let mut at = Vec::new();
            for value in &values {
                at.push(value.scalar()?.as_i64());
            }
            if at.iter().zip(&shape).any(|(at, extent)| *at < 0 || at >= extent) {
                return Ok(());
            }
            let at = place(&view, &at);
            let new = match combine {
                None => items,
                Some(combine) => {
                    let old = |array: &Array| Value::Scalar(Scalar::new(array.elem, array.data[at]));
                    let old = made.iter().map(old).collect();
                    self.combine(combine, old, items)?
                }
            };
            for (array, value) in made.iter_mut().zip(new) {
                array.data[at] = value.scalar()?.bits;
            }
            Ok(())
        })?;
        Ok(made.into_iter().map(|array| Value::Array(Rc::new(array))).collect())
    }

    /// Empty collections for arrays over a space; the names have the types of the whole arrays.
    fn collected(&self, pat: &[VarId], space: &[i64]) -> Result<Vec<Collected>, RunError> {
        let mut collections = Vec::new();
        for var in pat {
            let extents = self.region.type_of(*var).shape.get(space.len()..).unwrap_or(&[]);
            let inner = extents
                .iter()
                .map(|extent| Ok(self.int(extent)?.max(0)))
                .collect::<Result<Vec<i64>, RunError>>()?;
            let whole: Vec<i64> = space.iter().chain(&inner).copied().collect();
            collections.push(Collected { data: room(elements(&whole)?)?, inner });
        }
        Ok(collections)
    }

    fn arrays(&self, pat: &[VarId], space: &[i64], collections: Vec<Collected>) -> Vec<Value> {
        let whole = |(var, out): (&VarId, Collected)| {
            let shape = space.iter().copied().chain(out.inner).collect();
            Value::new(self.region.type_of(*var).elem, shape, out.data)
        };
        pat.iter().zip(collections).map(whole).collect()
    }

    fn update(&self, array: VarId, index: &Index, value: &Exp) -> Result<Value, RunError> {
        let array = self.value_of(array)?.array()?;
        let view = self.view(&array.shape, index)?;
        let value = self.exp(value)?;
        let shape = view.shape().to_vec();
        // The types agree, but an extent can be written in two ways that differ only for traps and empty arrays.
        if value.shape() != shape || !view.is_injective() {
            return Err(RunError::Trap);
        }
        let mut data = array.data.clone();
        let mut elements = value.data().iter();
        each_index(&shape, |at| {
            if let Some(bits) = elements.next() {
                data[place(&view, at)] = *bits;
            }
            Ok(())
        })?;
        Ok(Value::Array(Rc::new(Array { elem: array.elem, shape: array.shape.clone(), data })))
    }
}

fn collect(out: &mut [Collected], values: &[Value]) -> Result<(), RunError> {
    for (collected, value) in out.iter_mut().zip(values) {
        if value.shape() != collected.inner {
            return Err(failed("the results of two rounds have different shapes"));
        }
        collected.data.extend_from_slice(value.data());
    }
    Ok(())
}
