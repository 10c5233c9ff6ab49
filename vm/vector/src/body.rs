//! Steps for a group of rows: what is done one after the other, branches and loops.

use crate::array::{
    Across, Array, Made, Place, Store, copy_rows, dense, is_same_array, write_column, write_one,
};
use crate::backend::Target;
use crate::code::{Block, Code, Given, Part, Reg, Regs, Step, Taken, Work};
use crate::column::{Column, Scalars, Splat, fill};
use crate::frame::Frame;
use crate::loops;
use galopvm_base::{ElemType, TypedId};
use galopvm_kir::{Refusal, RunError};
use galopvm_lmad::{Dim, Lmad};
use smallvec::SmallVec;
use std::rc::Rc;

/// Blocks between two looks at whether to go on.
const LOOK_AFTER: u32 = 32;

/// What may not come to an end.
pub(crate) type Run<T> = Result<T, RunError>;

pub(crate) fn failed(reason: impl Into<String>) -> RunError {
    RunError::Failed(Refusal::new(reason))
}

/// An array is read that lies where nobody looks for it.
pub(crate) fn delivered() -> RunError {
    failed("an array is read that nobody should read")
}

/// Values of the results of a block, or of a step.
pub(crate) type Values<'a> = SmallVec<[Value<'a>; 2]>;

/// A value for each row of a group.
#[derive(Clone)]
pub(crate) enum Value<'a> {
    Scalars(Scalars<'a>),
    Array(Rc<Array<'a>>),
    /// An array that lies where a result of the region goes, and that no step reads.
    Delivered,
}

impl Value<'_> {
    pub fn int(value: i64) -> Value<'static> {
        Value::Scalars(Scalars::One(value as u64))
    }
}

/// A region in the middle of its execution: outside of groups as one row, or for the rows of a group.
pub(crate) struct Rows<'r, 'a> {
    pub stop: &'r (dyn Fn() -> bool + Sync),
    /// The values of registers that have one now.
    pub values: Vec<Option<Value<'a>>>,
    /// Numbers in registers as columns.
    pub splats: Vec<Splat>,
    /// The rows of the group, inside one.
    pub group: Option<usize>,
    /// The rows that count: some do. Without it all do.
    pub mask: Option<Column<'a>>,
    /// Where results of the region go, by the register that has the array.
    pub targets: SmallVec<[(Reg, Target<'a>); 2]>,
    /// Bytes of all arrays that were made.
    pub made: usize,
    pub until_look: u32,
}

impl<'r, 'a> Rows<'r, 'a> {
    pub fn new(code: &Code, stop: &'r (dyn Fn() -> bool + Sync)) -> Rows<'r, 'a> {
        let Frame { mut values, splats } = Frame::of(code.registers);
        for (reg, bits) in &code.constants {
            values[reg.index()] = Some(Value::Scalars(Scalars::One(*bits)));
        }
        Rows {
            stop,
            values,
            splats,
            group: None,
            mask: None,
            targets: SmallVec::new(),
            made: 0,
            until_look: 0,
        }
    }

    /// Leaves its room for the next region of the thread.
    pub fn end(&mut self) {
        let (values, splats) = (std::mem::take(&mut self.values), std::mem::take(&mut self.splats));
        Frame { values, splats }.leave();
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.group.unwrap_or(1)
    }

    #[inline]
    pub fn set(&mut self, reg: Reg, value: Value<'a>) {
        self.values[reg.index()] = Some(value);
    }

    pub fn set_all(&mut self, regs: &[Reg], values: impl IntoIterator<Item = Value<'a>>) {
        for (reg, value) in regs.iter().zip(values) {
            self.set(*reg, value);
        }
    }

    /// Nobody sees these any more: what they held may be changed in place, or used again.
    pub fn clear(&mut self, regs: &[Reg]) {
        regs.iter().for_each(|reg| self.values[reg.index()] = None);
    }

    pub fn value_of(&self, reg: Reg) -> Run<&Value<'a>> {
        // Verified names are defined before they are used.
        self.values[reg.index()].as_ref().ok_or_else(|| failed(format!("{reg} has no value")))
    }

    pub fn values_of(&self, regs: &[Reg]) -> Run<Values<'a>> {
        let mut values = Values::new();
        for reg in regs {
            values.push(self.value_of(*reg)?.clone());
        }
        Ok(values)
    }

    /// An array that a step changes: nobody else has it if that is its end.
    pub fn taken(&mut self, Taken { from, ends }: Taken) -> Run<Array<'a>> {
        if !ends {
            return self.array_in(from).map(|array| Array::clone(array));
        }
        match self.values[from.index()].take() {
            Some(Value::Array(array)) => Ok(Rc::unwrap_or_clone(array)),
            _ => Err(failed("a changed array has no value")),
        }
    }

    /// Executes a block; gives its results.
    pub fn block(&mut self, block: &Block) -> Run<Values<'a>> {
        self.until_look = match self.until_look {
            0 if (self.stop)() => return Err(RunError::Stopped),
            0 => LOOK_AFTER,
            left => left - 1,
        };
        for step in &block.steps {
            self.step(step)?;
        }
        let mut results = Values::new();
        for (reg, leaves) in block.results.iter().zip(&block.leaving) {
            let value =
                if *leaves { self.values[reg.index()].take() } else { self.values[reg.index()].clone() };
            results.push(value.ok_or_else(|| failed(format!("{reg} has no value")))?);
        }
        Ok(results)
    }

    fn step(&mut self, Step { work, dies }: &Step) -> Run<()> {
        match work {
            Work::Copy { dst, from } => {
                let value = self.value_of(*from)?.clone();
                self.set(*dst, value);
            }
            Work::Unary { dst, a, op, ty, run } => {
                let scalars = self.unary(*a, *op, *ty, *run)?;
                self.set(*dst, Value::Scalars(scalars));
            }
            Work::Binary { dst, a, b, op, ty, run } => {
                let scalars = self.binary(*a, *b, *op, *ty, *run)?;
                self.set(*dst, Value::Scalars(scalars));
            }
            Work::Ternary { dst, operands, op, ty, run } => {
                let scalars = self.ternary(*operands, *op, *ty, *run)?;
                self.set(*dst, Value::Scalars(scalars));
            }
            Work::Convert { dst, a, from, to, run } => {
                let scalars = self.conversion(*a, *from, *to, *run)?;
                self.set(*dst, Value::Scalars(scalars));
            }
            Work::Read { dst, array, part } => {
                let value = self.read(*array, part)?;
                self.set(*dst, value);
            }
            Work::Update { dst, array, part, value } => {
                let value = self.update(*array, part, *value)?;
                self.set(*dst, value);
            }
            Work::Whole { dst, work } => {
                let value = self.whole(work)?;
                self.set(*dst, value);
            }
            Work::Branch { given, cond, then, otherwise } => {
                let values = self.branch(given, *cond, then, otherwise)?;
                self.set_all(&given.dsts, values);
            }
            Work::Count { given, init, counter, bound, body } => {
                let values = self.count(given, init, (*counter, *bound), body)?;
                self.set_all(&given.dsts, values);
            }
            Work::Repeat { given, init, cond, body } => {
                let values = self.repeat(given, init, cond, body)?;
                self.set_all(&given.dsts, values);
            }
            Work::Kernel(kernel) => {
                let values = self.kernel(kernel)?;
                kernel.made.iter().zip(values).for_each(|(made, value)| self.set(made.dst, value));
            }
            Work::Reduce(reduce) => {
                let values = self.reduction(reduce)?;
                self.set_all(&reduce.given.dsts, values);
            }
            Work::Scan(scan) => {
                let values = self.scan(scan)?;
                scan.made.iter().zip(values).for_each(|(made, value)| self.set(made.dst, value));
            }
            Work::Scatter(scatter) => {
                let values = self.scatter(scatter)?;
                self.set_all(&scatter.dsts, values);
            }
        }
        self.clear(dies);
        Ok(())
    }

    fn update(&mut self, array: Taken, part: &Part, value: Reg) -> Run<Value<'a>> {
        let value = self.value_of(value)?.clone();
        let array = self.taken(array)?;
        let (view, across) = self.place_in(&array.view, &array.across, part)?;
        let (shape, is_same) = match &value {
            Value::Scalars(scalars) => (Default::default(), matches!(scalars, Scalars::One(_))),
            Value::Array(array) => (array.view.shape(), array.across.is_same()),
            Value::Delivered => return Err(delivered()),
        };
        // The types agree, but an extent can be written in two ways that differ only for traps and empty arrays.
        if shape != view.shape() || !view.is_injective() {
            return Err(RunError::Trap);
        }
        let (mut made, is_copy) = self.changing(array, is_same && across.is_same())?;
        let (view, across) = match is_copy {
            true => self.place_in(&made.view.clone(), &made.across.clone(), part)?,
            false => (view, across),
        };
        self.put(&mut made, &view, &across, &value, true)?;
        Ok(made.value())
    }

    // Arrays that are made

    /// Room for an array of this shape: one for all rows, or one for each.
    pub fn room(&mut self, elem: ElemType, shape: &[i64], is_same: bool) -> Run<Made<'a>> {
        let rows = if is_same { 1 } else { self.rows() };
        let view = Lmad { offset: 0, dims: dense(shape, rows as i64) };
        let bytes = i128::from(view.elements()) * rows as i128 * elem.bytes() as i128;
        let bytes = usize::try_from(bytes).map_err(|_| failed("an array that does not fit in memory"))?;
        let across = if is_same { Across::Same } else { Across::Stride(1) };
        self.made = self.made.saturating_add(bytes);
        Ok(Made { store: Store::own(bytes)?, elem, view, across, is_delivered: false })
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
            }
            Value::Array(array) => {
                if array.view.shape() != view.shape() {
                    return Err(failed("rows of different extents"));
                }
                if across.is_same() && !array.across.is_same() && rows > 1 {
                    return Err(failed("rows that differ in an array that is the same for all"));
                }
                copy_rows(bytes, view, across, array, rows, mask)?;
            }
            Value::Delivered => return Err(delivered()),
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
                return Ok((Made { store: own, elem, view, across, is_delivered: false }, false));
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
        if mask.is_none() && holds {
            return cond.clone();
        }
        fill(cond.bytes().len(), |out| {
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
        self.mask = outer;
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
                    let width = elem.bytes();
                    let (a, b) = (self.column(&a, width), self.column(&b, width));
                    let select = loops::selection(width);
                    let out = fill(a.bytes().len(), |out| {
                        select(out, mask.bytes(), a.bytes(), b.bytes());
                    });
                    Value::Scalars(Scalars::Many(out))
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

    fn branch(&mut self, given: &Given, cond: Reg, then: &Block, otherwise: &Block) -> Run<Values<'a>> {
        if let Scalars::One(bits) = self.scalars(cond)? {
            return self.block(if *bits != 0 { then } else { otherwise });
        }
        let cond = self.column_in(cond, 1)?;
        let (yes, no) = (self.narrowed(&cond, true), self.narrowed(&cond, false));
        match (yes.holds_somewhere(), no.holds_somewhere()) {
            (_, false) => self.block(then),
            (false, true) => self.block(otherwise),
            (true, true) => {
                let mask = yes.clone();
                let first = self.masked(yes, |rows| rows.block(then))?;
                let second = self.masked(no, |rows| rows.block(otherwise))?;
                self.chosen(&mask, first, second, &given.elems)
            }
        }
    }

    fn count(
        &mut self,
        given: &Given,
        init: &Regs,
        (counter, bound): (Reg, Reg),
        body: &Block,
    ) -> Run<Values<'a>> {
        let bound = self.scalars(bound)?.clone();
        let mut values = self.values_of(init)?;
        if let Scalars::One(bits) = bound {
            for k in 0..bits as i64 {
                self.set_all(&body.params, std::mem::take(&mut values));
                self.set(counter, Value::int(k));
                values = self.block(body)?;
            }
            return Ok(values);
        }
        if given.elems.is_empty() {
            return Err(failed("a loop that carries nothing, whose rounds differ in number"));
        }
        self.rounds_of_each(&bound, counter, values, &given.elems, |rows, values| {
            rows.set_all(&body.params, values);
            rows.block(body)
        })
    }

    /// As many rounds for each row as it has: they change `values`, whose elements have these types.
    pub fn rounds_of_each(
        &mut self,
        bound: &Scalars<'a>,
        counter: Reg,
        mut values: Values<'a>,
        elems: &[ElemType],
        mut body: impl FnMut(&mut Self, Values<'a>) -> Run<Values<'a>>,
    ) -> Run<Values<'a>> {
        let bound = self.column(bound, 8);
        let mut round = 0;
        loop {
            let more = fill(self.rows(), |out| {
                for (out, bound) in out.iter_mut().zip(bound.bytes().as_chunks().0) {
                    *out = u8::from(round < i64::from_le_bytes(*bound));
                }
            });
            let mask = self.narrowed(&more, true);
            if !mask.holds_somewhere() {
                return Ok(values);
            }
            self.set(counter, Value::int(round));
            let next = self.masked(mask.clone(), |rows| body(rows, values.clone()))?;
            values = self.chosen(&mask, next, values, elems)?;
            round += 1;
        }
    }

    fn repeat(&mut self, given: &Given, init: &Regs, cond: &Block, body: &Block) -> Run<Values<'a>> {
        let mut values = self.values_of(init)?;
        let outer = self.mask.clone();
        let rounds = || -> Run<Values<'a>> {
            loop {
                self.set_all(&body.params, values.iter().cloned());
                let going = match self.block(cond)?.pop() {
                    Some(Value::Scalars(Scalars::One(0))) => return Ok(values),
                    Some(Value::Scalars(Scalars::One(_))) => None,
                    Some(Value::Scalars(scalars)) => {
                        let holds = self.column(&scalars, 1);
                        let going = self.narrowed(&holds, true);
                        if !going.holds_somewhere() {
                            return Ok(values);
                        }
                        Some(going)
                    }
                    Some(Value::Array(_) | Value::Delivered) | None => {
                        return Err(failed("a condition that is no scalar"));
                    }
                };
                // A row that is done is not asked again.
                if let Some(going) = going {
                    self.mask = Some(going);
                }
                match self.mask.clone().filter(|_| self.group.is_some()) {
                    None => {
                        values.clear();
                        values = self.block(body)?;
                    }
                    Some(mask) => {
                        let next = self.block(body)?;
                        values = self.chosen(&mask, next, std::mem::take(&mut values), &given.elems)?;
                    }
                }
            }
        };
        let done = rounds();
        self.mask = outer;
        self.clear(&body.params);
        done
    }
}
