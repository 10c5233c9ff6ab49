//! Statements, branches and loops for a group of rows.

use crate::array::{
    Across, Array, Made, Place, Store, copy_rows, dense, is_same_array, write_column, write_one,
};
use crate::backend::Target;
use crate::column::{Buffers, Column, Scalars};
use crate::lives::Lives;
use galopvm_base::{ElemType, ScalarOp, TypedId};
use galopvm_kir::{
    Axis, Body, Combine, Exp, Index, Plan, Refusal, Rhs, RunError, Stm, VarId, VerifiedRegion,
};
use galopvm_lmad::{Dim, Lmad};
use smallvec::{SmallVec, smallvec};
use std::collections::HashMap;
use std::rc::Rc;

/// Bodies between two looks at whether to go on.
const LOOK_AFTER: u32 = 32;

/// What may not come to an end.
pub(crate) type Run<T> = Result<T, RunError>;

pub(crate) fn failed(reason: impl Into<String>) -> RunError {
    RunError::Failed(Refusal::new(reason))
}

/// Values of the results of a body, or of a statement.
pub(crate) type Values<'a> = SmallVec<[Value<'a>; 2]>;

/// A value for each row of a group.
#[derive(Clone)]
pub(crate) enum Value<'a> {
    Scalars(Scalars<'a>),
    Array(Rc<Array<'a>>),
}

impl Value<'_> {
    pub fn int(value: i64) -> Value<'static> {
        Value::Scalars(Scalars::One(value as u64))
    }
}

/// A region in the middle of its execution: outside of groups as one row, or for the rows of a group.
pub(crate) struct Rows<'r, 'a> {
    pub region: &'r VerifiedRegion,
    pub plan: &'r Plan,
    pub lives: &'r Lives,
    pub stop: &'r (dyn Fn() -> bool + Sync),
    /// The values of names that have one now.
    pub values: Vec<Option<Value<'a>>>,
    /// The rows of the group, inside one.
    pub group: Option<usize>,
    /// The rows that count: some do. Without it all do.
    pub mask: Option<Column<'a>>,
    pub buffers: Buffers,
    /// Where results of the region go, by the name of the array.
    pub targets: HashMap<VarId, Target<'a>>,
    pub until_look: u32,
}

impl<'a> Rows<'_, 'a> {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.group.unwrap_or(1)
    }

    pub fn bind(&mut self, var: VarId, value: Value<'a>) {
        let old = self.values[var.index()].replace(value);
        self.forget(old);
    }

    pub fn bind_all(&mut self, vars: &[VarId], values: impl IntoIterator<Item = Value<'a>>) {
        for (var, value) in vars.iter().zip(values) {
            self.bind(*var, value);
        }
    }

    fn forget(&mut self, value: Option<Value<'a>>) {
        if let Some(Value::Scalars(Scalars::Many(column))) = value {
            self.buffers.give_back(column);
        }
    }

    pub fn value_of(&self, var: VarId) -> Run<&Value<'a>> {
        // Verified names are defined before they are used.
        self.values[var.index()].as_ref().ok_or_else(|| failed(format!("{var} has no value")))
    }

    pub fn array_of(&self, var: VarId) -> Run<&Rc<Array<'a>>> {
        match self.value_of(var)? {
            Value::Array(array) => Ok(array),
            Value::Scalars(_) => Err(failed("a scalar stands where an array should be")),
        }
    }

    /// An array that a statement changes: nobody else has it if that is its end.
    pub fn taken(&mut self, pat: &[VarId], var: VarId) -> Run<Array<'a>> {
        if !self.lives.ends(pat, var) {
            return self.array_of(var).map(|array| Array::clone(array));
        }
        match self.values[var.index()].take() {
            Some(Value::Array(array)) => Ok(Rc::unwrap_or_clone(array)),
            _ => Err(failed("a changed array has no value")),
        }
    }

    pub fn body(&mut self, body: &Body) -> Run<Values<'a>> {
        self.until_look = match self.until_look {
            0 if (self.stop)() => return Err(RunError::Stopped),
            0 => LOOK_AFTER,
            left => left - 1,
        };
        for stm in &body.stms {
            let values = self.rhs(stm)?;
            self.bind_all(&stm.pat, values);
        }
        let results = self.exps(&body.results)?;
        // Nobody sees them any more: what they held may be changed in place, or used again.
        for var in body.stms.iter().flat_map(|stm| &stm.pat) {
            let old = self.values[var.index()].take();
            self.forget(old);
        }
        Ok(results)
    }

    fn rhs(&mut self, stm: &Stm) -> Run<Values<'a>> {
        match &stm.rhs {
            Rhs::Exps(exps) => self.exps(exps),
            Rhs::Kernel { axes, body } => self.kernel(&stm.pat, axes, body),
            Rhs::Reduce { axes, body, combine } => self.reduction(axes, body, combine),
            Rhs::Scan { axis, body, combine } => self.scan(&stm.pat, axis, body, combine),
            Rhs::For { carried, init, axis, body } => self.count(carried, init, axis, body),
            Rhs::While { carried, init, cond, body } => self.repeat(carried, init, cond, body),
            Rhs::If { cond, then, otherwise } => self.branch(cond, then, otherwise),
            Rhs::Update { array, index, value } => self.update(&stm.pat, *array, index, value),
            // A layout is no part of a value.
            Rhs::Manifest { array, .. } => Ok(smallvec![self.value_of(*array)?.clone()]),
            Rhs::Scatter { arrays, axes, body, combine } => {
                self.scatter(&stm.pat, arrays, axes, body, combine.as_ref())
            }
            Rhs::Array(op) => Ok(smallvec![self.whole(op)?]),
        }
    }

    fn update(&mut self, pat: &[VarId], array: VarId, index: &Index, value: &Exp) -> Run<Values<'a>> {
        let value = self.exp(value)?;
        let array = self.taken(pat, array)?;
        let (view, across) = self.place_in(&array.view, &array.across, index)?;
        let (shape, is_same) = match &value {
            Value::Scalars(scalars) => (Default::default(), matches!(scalars, Scalars::One(_))),
            Value::Array(array) => (array.view.shape(), array.across.is_same()),
        };
        // The types agree, but an extent can be written in two ways that differ only for traps and empty arrays.
        if shape != view.shape() || !view.is_injective() {
            return Err(RunError::Trap);
        }
        let (mut made, is_copy) = self.changing(array, is_same && across.is_same())?;
        let (view, across) = match is_copy {
            true => self.place_in(&made.view.clone(), &made.across.clone(), index)?,
            false => (view, across),
        };
        self.put(&mut made, &view, &across, &value, true)?;
        Ok(smallvec![made.value()])
    }

    // Arrays that are made

    /// Room for an array of this shape: one for all rows, or one for each.
    pub fn room(&mut self, elem: ElemType, shape: &[i64], is_same: bool) -> Run<Made<'a>> {
        let rows = if is_same { 1 } else { self.rows() };
        let view = Lmad { offset: 0, dims: dense(shape, rows as i64) };
        let bytes = i128::from(view.elements()) * rows as i128 * elem.bytes() as i128;
        let bytes = usize::try_from(bytes).map_err(|_| failed("an array that does not fit in memory"))?;
        let across = if is_same { Across::Same } else { Across::Stride(1) };
        Ok(Made { store: Store::own(bytes)?, elem, view, across })
    }

    /// Stores a value in a part of an array that is being made: in the rows that count, if `masked`.
    pub fn put(
        &mut self,
        made: &mut Made<'a>,
        view: &Lmad,
        across: &Across<'a>,
        value: &Value<'a>,
        masked: bool,
    ) -> Run<()> {
        let rows = self.rows();
        let width = made.elem.bytes();
        let mask = self.mask.clone().filter(|_| masked);
        let mask = mask.as_ref().map(Column::bytes);
        let place = Place { offset: view.offset, across };
        let bytes = made.store.bytes_mut().ok_or_else(|| failed("an array that is only read"))?;
        match value {
            Value::Scalars(Scalars::One(bits)) => write_one(bytes, width, &place, *bits, rows, mask),
            Value::Scalars(scalars) => {
                if across.is_same() && rows > 1 {
                    return Err(failed("rows that differ in an array that is the same for all"));
                }
                let column = self.column(scalars, width);
                write_column(bytes, width, &place, column.bytes(), mask);
                self.buffers.give_back(column);
            }
            Value::Array(array) => {
                if array.view.shape() != view.shape() {
                    return Err(failed("rows of different extents"));
                }
                if across.is_same() && !array.across.is_same() && rows > 1 {
                    return Err(failed("rows that differ in an array that is the same for all"));
                }
                copy_rows(bytes, view, across, array, rows, mask);
            }
        }
        Ok(())
    }

    /// The array as one that may be changed, and whether that is a copy: itself if nobody else has it. It may be one for all rows
    /// if they are changed in the same way.
    pub fn changing(&mut self, array: Array<'a>, is_same: bool) -> Run<(Made<'a>, bool)> {
        let is_same = self.group.is_none() || is_same && array.across.is_same() && self.mask.is_none();
        let Array { store, elem, view, across } = array;
        // The arrays of all rows, as one.
        let all = match across {
            Across::Same if is_same => Some(view.clone()),
            Across::Stride(stride) => {
                let mut all = view.clone();
                all.dims.push(Dim::new(self.rows() as i64, stride));
                Some(all)
            }
            Across::Same | Across::Each(_) => None,
        };
        let store = match Rc::try_unwrap(store) {
            Ok(own) if !own.is_given() && all.is_some_and(|all| all.is_injective()) => {
                return Ok((Made { store: own, elem, view, across }, false));
            }
            Ok(other) => Rc::new(other),
            Err(shared) => shared,
        };
        Ok((self.copied(&Array { store, elem, view, across }, is_same)?, true))
    }

    /// A copy of an array: one for all rows, or one for each.
    pub fn copied(&mut self, array: &Array<'a>, is_same: bool) -> Run<Made<'a>> {
        let mut made = self.room(array.elem, &array.view.shape(), is_same)?;
        let (view, across) = (made.view.clone(), made.across.clone());
        self.put(&mut made, &view, &across, &Value::Array(Rc::new(array.clone())), false)?;
        Ok(made)
    }

    // Branches and loops

    /// The rows of the mask, or all, for which a condition holds, or does not.
    fn narrowed(&mut self, cond: &Column<'a>, holds: bool) -> Column<'a> {
        let mask = self.mask.clone();
        self.buffers.fill(cond.bytes().len(), |out| {
            let cond = cond.bytes();
            match mask.as_ref().map(Column::bytes) {
                None => out.iter_mut().zip(cond).for_each(|(out, c)| *out = u8::from((*c != 0) == holds)),
                Some(mask) => out.iter_mut().zip(cond.iter().zip(mask)).for_each(|(out, (c, mask))| {
                    *out = u8::from(((*c != 0) == holds) & (*mask != 0));
                }),
            }
        })
    }

    /// Does something for some rows only.
    pub fn masked<T>(&mut self, mask: Column<'a>, f: impl FnOnce(&mut Self) -> Run<T>) -> Run<T> {
        let outer = self.mask.replace(mask);
        let done = f(self);
        let inner = std::mem::replace(&mut self.mask, outer);
        inner.into_iter().for_each(|mask| self.buffers.give_back(mask));
        done
    }

    /// Values of the rows of a mask, and others for the rest.
    fn chosen(
        &mut self,
        mask: &Column<'a>,
        yes: Values<'a>,
        no: Values<'a>,
        elems: &[ElemType],
    ) -> Run<Values<'a>> {
        let mut chosen = Values::new();
        for ((yes, no), elem) in yes.into_iter().zip(no).zip(elems) {
            chosen.push(match (yes, no) {
                (Value::Scalars(Scalars::One(a)), Value::Scalars(Scalars::One(b))) if a == b => {
                    Value::Scalars(Scalars::One(a))
                }
                (Value::Scalars(a), Value::Scalars(b)) => {
                    let operands = smallvec![Scalars::Many(mask.clone()), a, b];
                    Value::Scalars(Scalars::Many(self.applied(ScalarOp::Select, *elem, operands)?))
                }
                (Value::Array(a), Value::Array(b)) if is_same_array(&a, &b) => Value::Array(a),
                (Value::Array(a), Value::Array(b)) => {
                    let mut made = self.copied(&b, false)?;
                    drop(b);
                    let (view, across) = (made.view.clone(), made.across.clone());
                    let outer = self.mask.replace(mask.clone());
                    let put = self.put(&mut made, &view, &across, &Value::Array(a), true);
                    self.mask = outer;
                    put?;
                    made.value()
                }
                _ => return Err(failed("a scalar and an array where one of both belongs")),
            });
        }
        Ok(chosen)
    }

    fn elems_of(&self, exps: &[Exp]) -> Run<Vec<ElemType>> {
        let elem = |exp| self.region.exp_type(exp).ok_or_else(|| failed("a value without a type"));
        exps.iter().map(elem).collect()
    }

    fn branch(&mut self, cond: &Exp, then: &Body, otherwise: &Body) -> Run<Values<'a>> {
        let cond = match self.scalars(cond)? {
            Scalars::One(bits) => return self.body(if bits != 0 { then } else { otherwise }),
            scalars => self.column(&scalars, 1),
        };
        let (yes, no) = (self.narrowed(&cond, true), self.narrowed(&cond, false));
        match (yes.holds_somewhere(), no.holds_somewhere()) {
            (_, false) => self.body(then),
            (false, true) => self.body(otherwise),
            (true, true) => {
                let mask = yes.clone();
                let first = self.masked(yes, |rows| rows.body(then))?;
                let second = self.masked(no, |rows| rows.body(otherwise))?;
                let elems = self.elems_of(&then.results)?;
                self.chosen(&mask, first, second, &elems)
            }
        }
    }

    fn count(&mut self, carried: &[VarId], init: &[Exp], axis: &Axis, body: &Body) -> Run<Values<'a>> {
        let bound = self.scalars(&axis.bound)?;
        let mut values = self.exps(init)?;
        if let Scalars::One(bits) = bound {
            for k in 0..bits as i64 {
                self.bind_all(carried, std::mem::take(&mut values));
                self.bind(axis.var, Value::int(k));
                values = self.body(body)?;
            }
            return Ok(values);
        }
        if carried.is_empty() {
            return Err(failed("a loop that carries nothing, whose rounds differ in number"));
        }
        self.rounds_of_each(&bound, axis.var, values, carried, |rows, values| {
            rows.bind_all(carried, values);
            rows.body(body)
        })
    }

    /// As many rounds for each row as it has: they change `values`, which have the types of these names.
    pub fn rounds_of_each(
        &mut self,
        bound: &Scalars<'a>,
        counter: VarId,
        mut values: Values<'a>,
        names: &[VarId],
        mut body: impl FnMut(&mut Self, Values<'a>) -> Run<Values<'a>>,
    ) -> Run<Values<'a>> {
        let bound = self.column(bound, 8);
        let elems: Vec<ElemType> = names.iter().map(|var| self.region.type_of(*var).elem).collect();
        let mut round = 0;
        loop {
            let more = self.buffers.fill(self.group.unwrap_or(1), |out| {
                for (out, bound) in out.iter_mut().zip(bound.bytes().as_chunks().0) {
                    *out = u8::from(round < i64::from_le_bytes(*bound));
                }
            });
            let mask = self.narrowed(&more, true);
            self.buffers.give_back(more);
            if !mask.holds_somewhere() {
                return Ok(values);
            }
            self.bind(counter, Value::int(round));
            let next = self.masked(mask.clone(), |rows| body(rows, values.clone()))?;
            values = self.chosen(&mask, next, values, &elems)?;
            round += 1;
        }
    }

    fn repeat(&mut self, carried: &[VarId], init: &[Exp], cond: &Exp, body: &Body) -> Run<Values<'a>> {
        let elems: Vec<ElemType> = carried.iter().map(|var| self.region.type_of(*var).elem).collect();
        let mut values = self.exps(init)?;
        let outer = self.mask.clone();
        let rounds = || -> Run<Values<'a>> {
            loop {
                self.bind_all(carried, values.iter().cloned());
                let going = match self.scalars(cond)? {
                    Scalars::One(0) => return Ok(values),
                    Scalars::One(_) => None,
                    scalars => {
                        let holds = self.column(&scalars, 1);
                        let going = self.narrowed(&holds, true);
                        if !going.holds_somewhere() {
                            return Ok(values);
                        }
                        Some(going)
                    }
                };
                // A row that is done is not asked again.
                if let Some(going) = going {
                    self.mask = Some(going);
                }
                match self.mask.clone().filter(|_| self.group.is_some()) {
                    None => {
                        values.clear();
                        values = self.body(body)?;
                    }
                    Some(mask) => {
                        let next = self.body(body)?;
                        values = self.chosen(&mask, next, std::mem::take(&mut values), &elems)?;
                    }
                }
            }
        };
        let done = rounds();
        self.mask = outer;
        done
    }

    /// Combines two values of each operand.
    pub fn combine(&mut self, combine: &Combine, acc: Values<'a>, items: Values<'a>) -> Run<Values<'a>> {
        self.bind_all(&combine.acc, acc);
        self.bind_all(&combine.item, items);
        self.body(&combine.body)
    }

    pub fn bind_index(&mut self, axes: &[Axis], index: &[i64]) {
        for (axis, at) in axes.iter().zip(index) {
            self.bind(axis.var, Value::int(*at));
        }
    }
}
