//! Kernels, reductions, scans and scatters outside of groups: one of their axes is cut into groups of rows.
//!
//! The axis is the one that the plan puts across lanes, else the innermost one, unless that is short. Reductions, scans and
//! scatters keep the order of their rows, so theirs is the innermost one. Where a kernel has few rows, each of which has much in
//! it, the rows come one after the other, and what is in them is cut.

use crate::array::{Across, Made, Store};
use crate::backend::Target;
use crate::body::{Rows, Run, Value, Values, failed};
use crate::column::{Column, Scalars};
use crate::loops::{self, MANY_ROWS, STRANDS, start_of_strand};
use crate::within::row_of;
use galopvm_base::scalar::eval2;
use galopvm_base::{Bits, ElemType, ScalarOp, TypedId, element};
use galopvm_kir::evaluate::each_index;
use galopvm_kir::{Axis, Body, Combine, Exp, Rhs, RunError, VarId};
use smallvec::{SmallVec, smallvec};
use std::rc::Rc;

/// Rows of a group of scalar code: its columns fit the first-level cache.
const ROWS: i64 = 1024;

/// Rows of a group whose rows make arrays.
const ROWS_OF_ARRAYS: i64 = 128;

/// Fewer rows than these come one after the other, if there is something in them that can be cut.
const FEW_ROWS: i64 = 24;

/// An innermost axis that is shorter is left for a longer one.
const SHORT: i64 = 16;

/// Combines what scalar operations can combine: for each accumulator the operation and its type.
pub(crate) type Operations = SmallVec<[(ScalarOp, ElemType); 4]>;

/// Some rows of a group, evenly apart.
struct Spread {
    first: usize,
    apart: usize,
    count: usize,
}

impl<'a> Rows<'_, 'a> {
    pub fn kernel(&mut self, pat: &[VarId], axes: &[Axis], body: &Body) -> Run<Values<'a>> {
        if self.group.is_some() {
            return self.kernel_in_turn(pat, axes, body);
        }
        let space = self.space(axes)?;
        let is_few = space.iter().fold(1, |all: i64, extent| all.saturating_mul(*extent)) < FEW_ROWS;
        if is_few && has_operators(body) {
            return self.kernel_in_turn(pat, axes, body);
        }
        let mut made = self.rooms(pat, &space)?;
        let lane = self.lane(axes, &space);
        let mut others = space.clone();
        others[lane] = others[lane].min(1);
        each_index(&others, |index| {
            self.bind_index(axes, index);
            self.in_groups(axes[lane].var, space[lane], body, |rows, first| {
                let results = rows.body(body)?;
                let mut index: SmallVec<[i64; 4]> = index.into();
                index[lane] = first;
                for (made, value) in made.iter_mut().zip(results) {
                    let (view, across) = (row_of(made, &index), Across::Stride(made.view.dims[lane].stride));
                    rows.put(made, &view, &across, &value, false)?;
                }
                Ok(())
            })
        })?;
        Ok(made.into_iter().map(|made| made.value()).collect())
    }

    /// The axis that is cut.
    fn lane(&self, axes: &[Axis], space: &[i64]) -> usize {
        let planned = self.plan.lane().and_then(|var| axes.iter().position(|axis| axis.var == var));
        let last = axes.len() - 1;
        match planned {
            Some(axis) if space[axis] >= SHORT => axis,
            _ if space[last] >= SHORT => last,
            _ => (0..axes.len()).max_by_key(|axis| space[*axis]).unwrap_or(last),
        }
    }

    /// Does something for each group of the rows of an axis, which is told its first row.
    fn in_groups(
        &mut self,
        axis: VarId,
        count: i64,
        body: &Body,
        mut f: impl FnMut(&mut Self, i64) -> Run<()>,
    ) -> Run<()> {
        let (most, period) = (rows_of_group(body), self.period(axis, body));
        let mut first = 0;
        while first < count {
            let mut rows = most.min(count - first);
            if let Some(period) = period {
                rows = rows.min(period - first % period);
            }
            self.group = Some(rows as usize);
            self.bind(axis, Value::Scalars(Scalars::Line { start: first, step: 1 }));
            let done = f(self, first);
            self.group = None;
            done?;
            first += rows;
        }
        Ok(())
    }

    /// How many neighbouring rows have the same quotient by a number that the body divides the row by: groups of such rows read
    /// lines.
    fn period(&self, axis: VarId, body: &Body) -> Option<i64> {
        let mut period = None;
        body.visit_exps(&mut |exp| {
            use ScalarOp::{Div, Mod, Quot, Rem};
            if let Exp::Op(Div | Mod | Quot | Rem, ElemType::I64, args) = exp
                && let [Exp::Var(dividend), divisor] = &args[..]
                && *dividend == axis
            {
                let divisor = match divisor {
                    Exp::Const(value) => Some(value.as_i64()),
                    Exp::Var(var) => match self.values[var.index()] {
                        Some(Value::Scalars(Scalars::One(bits))) => Some(bits as i64),
                        _ => None,
                    },
                    _ => None,
                };
                period = period.max(divisor.filter(|divisor| *divisor >= SHORT));
            }
        });
        period
    }

    pub fn reduction(&mut self, axes: &[Axis], body: &Body, combine: &Combine) -> Run<Values<'a>> {
        let is_scalar = combine.acc.iter().all(|acc| self.region.type_of(*acc).is_scalar());
        if self.group.is_some() || !is_scalar {
            return self.reduction_in_turn(axes, body, combine);
        }
        let space = self.space(axes)?;
        let (Some(lane), Some(rows)) = (axes.last(), space.last()) else {
            return self.exps(&combine.neutral);
        };
        let mut acc = self.exps(&combine.neutral)?;
        let operations = self.operations(combine);
        let mut strands = match &operations {
            Some(operations) if *rows >= MANY_ROWS => Some(Strands::new(operations, &acc)?),
            _ => None,
        };
        each_index(&space[..space.len() - 1], |index| {
            self.bind_index(axes, index);
            self.in_groups(lane.var, *rows, body, |group, first| {
                let items = group.body(body)?;
                match (&operations, &mut strands) {
                    (Some(operations), Some(strands)) => strands.take(group, operations, items, first),
                    (Some(operations), None) => {
                        for ((acc, item), (op, ty)) in acc.iter_mut().zip(items).zip(operations) {
                            let fold = loops::fold(*op, *ty).ok_or_else(|| no_such(*op, *ty))?;
                            let column = group.column_of(&item, ty.bytes())?;
                            let value = fold(one(acc)?, column.bytes()).map_err(|_| RunError::Trap)?;
                            *acc = Value::Scalars(Scalars::One(value));
                        }
                        Ok(())
                    }
                    (None, _) => {
                        let total = group.total(combine, items)?;
                        group.group = None;
                        acc = group.combine(combine, std::mem::take(&mut acc), total)?;
                        Ok(())
                    }
                }
            })
        })?;
        match (strands, operations) {
            (Some(strands), Some(operations)) => strands.finish(&operations),
            _ => Ok(acc),
        }
    }

    /// The operator as one scalar operation for each accumulator, if it is that.
    pub fn operations(&self, combine: &Combine) -> Option<Operations> {
        let elem = |acc: &VarId| self.region.type_of(*acc).elem;
        let operations: Operations =
            combine.scalar_ops()?.into_iter().zip(combine.acc.iter().map(elem)).collect();
        operations.iter().all(|(op, ty)| loops::fold(*op, *ty).is_some()).then_some(operations)
    }

    fn column_of(&mut self, value: &Value<'a>, width: usize) -> Run<Column<'a>> {
        match value {
            Value::Scalars(scalars) => Ok(self.column(scalars, width)),
            Value::Array(_) => Err(failed("an array stands where a scalar should be")),
        }
    }

    /// The columns of some rows.
    fn some_rows(&mut self, values: &[Value<'a>], widths: &[usize], rows: Spread) -> Run<Values<'a>> {
        let Spread { first, apart, count } = rows;
        let mut some = Values::new();
        for (value, width) in values.iter().zip(widths) {
            let column = self.column_of(value, *width)?;
            some.push(Value::Scalars(Scalars::Many(self.buffers.fill(count * width, |out| {
                loops::strided(out, *width, column.bytes(), first as i64, apart as i64);
            }))));
        }
        Ok(some)
    }

    fn widths(&self, combine: &Combine) -> Vec<usize> {
        combine.acc.iter().map(|acc| self.region.type_of(*acc).elem.bytes()).collect()
    }

    /// All rows of a group combined, in their order: neighbours, then neighbours of these.
    fn total(&mut self, combine: &Combine, mut values: Values<'a>) -> Run<Values<'a>> {
        let widths = self.widths(combine);
        let mut rows = self.rows();
        while rows > 1 {
            let half = rows / 2;
            let left = self.some_rows(&values, &widths, Spread { first: 0, apart: 2, count: half })?;
            let right = self.some_rows(&values, &widths, Spread { first: 1, apart: 2, count: half })?;
            let rest =
                self.some_rows(&values, &widths, Spread { first: rows - 1, apart: 1, count: rows % 2 })?;
            self.group = Some(half);
            values = self.combine(combine, left, right)?;
            rows = half + rows % 2;
            if rows > half {
                values = self.joined(values, rest, &widths, half, 1)?;
            }
            self.group = Some(rows);
        }
        let first = |(value, width)| Ok(Value::Scalars(Scalars::One(first_of(value, width)?)));
        values.iter().zip(widths).map(first).collect()
    }

    /// The columns of so many rows, and others after them.
    fn joined(
        &mut self,
        first: Values<'a>,
        second: Values<'a>,
        widths: &[usize],
        before: usize,
        after: usize,
    ) -> Run<Values<'a>> {
        let mut joined = Values::new();
        for ((first, second), width) in first.iter().zip(&second).zip(widths) {
            self.group = Some(before);
            let first = self.column_of(first, *width)?;
            self.group = Some(after);
            let second = self.column_of(second, *width)?;
            joined.push(Value::Scalars(Scalars::Many(self.buffers.fill((before + after) * width, |out| {
                let (start, end) = out.split_at_mut(before * width);
                start.copy_from_slice(first.bytes());
                end.copy_from_slice(second.bytes());
            }))));
        }
        Ok(joined)
    }

    pub fn scan(&mut self, pat: &[VarId], axis: &Axis, body: &Body, combine: &Combine) -> Run<Values<'a>> {
        let is_scalar = combine.acc.iter().all(|acc| self.region.type_of(*acc).is_scalar());
        if self.group.is_some() || !is_scalar {
            return self.scan_in_turn(pat, axis, body, combine);
        }
        let rows = self.int(&axis.bound)?.max(0);
        let mut made = self.rooms(pat, &[rows])?;
        let mut acc = self.exps(&combine.neutral)?;
        let (operations, widths) = (self.operations(combine), self.widths(combine));
        self.in_groups(axis.var, rows, body, |group, first| {
            let items = group.body(body)?;
            let prefixes = match &operations {
                Some(operations) => group.prefixes(operations, &mut acc, items)?,
                None => {
                    let count = group.rows();
                    let own = group.own_prefixes(combine, items)?;
                    group.group = Some(count);
                    let all = group.combine(combine, acc.clone(), own)?;
                    acc = group.some_rows(&all, &widths, Spread { first: count - 1, apart: 1, count: 1 })?;
                    for (last, width) in acc.iter_mut().zip(&widths) {
                        *last = Value::Scalars(Scalars::One(first_of(last, *width)?));
                    }
                    all
                }
            };
            for (made, value) in made.iter_mut().zip(prefixes) {
                let (view, across) = (row_of(made, &[first]), Across::Stride(made.view.dims[0].stride));
                group.put(made, &view, &across, &value, false)?;
            }
            Ok(())
        })?;
        Ok(made.into_iter().map(|made| made.value()).collect())
    }

    /// All prefixes by scalar operations, after what came before, which becomes the last of them.
    fn prefixes(
        &mut self,
        operations: &Operations,
        acc: &mut [Value<'a>],
        items: Values<'a>,
    ) -> Run<Values<'a>> {
        let mut prefixes = Values::new();
        for ((acc, item), (op, ty)) in acc.iter_mut().zip(items).zip(operations) {
            let run = loops::prefixes(*op, *ty).ok_or_else(|| no_such(*op, *ty))?;
            let column = self.column_of(&item, ty.bytes())?;
            let (start, mut last) = (one(acc)?, Ok(0));
            prefixes.push(Value::Scalars(Scalars::Many(
                self.buffers.fill(column.bytes().len(), |out| last = run(start, column.bytes(), out)),
            )));
            *acc = Value::Scalars(Scalars::One(last.map_err(|_| RunError::Trap)?));
        }
        Ok(prefixes)
    }

    /// The prefixes of a group by itself: each row is combined with the one that is 1, 2, 4, .. rows before it.
    fn own_prefixes(&mut self, combine: &Combine, mut values: Values<'a>) -> Run<Values<'a>> {
        let (rows, widths) = (self.rows(), self.widths(combine));
        let mut apart = 1;
        while apart < rows {
            self.group = Some(rows);
            let left =
                self.some_rows(&values, &widths, Spread { first: 0, apart: 1, count: rows - apart })?;
            let right =
                self.some_rows(&values, &widths, Spread { first: apart, apart: 1, count: rows - apart })?;
            let first = self.some_rows(&values, &widths, Spread { first: 0, apart: 1, count: apart })?;
            self.group = Some(rows - apart);
            let combined = self.combine(combine, left, right)?;
            values = self.joined(first, combined, &widths, apart, rows - apart)?;
            apart *= 2;
        }
        self.group = Some(rows);
        Ok(values)
    }

    pub fn scatter(
        &mut self,
        pat: &[VarId],
        arrays: &[VarId],
        axes: &[Axis],
        body: &Body,
        combine: Option<&Combine>,
    ) -> Run<Values<'a>> {
        let mut made: Vec<Made<'a>> = Vec::with_capacity(arrays.len());
        for (name, var) in pat.iter().zip(arrays) {
            let array = self.taken(pat, *var)?;
            made.push(match self.targets.remove(name) {
                Some(Target { bytes, view, has_begun }) => {
                    let mut made =
                        Made { store: Store::Result(bytes), elem: array.elem, view, across: Across::Same };
                    if !has_begun {
                        let view = made.view.clone();
                        self.put(&mut made, &view, &Across::Same, &Value::Array(Rc::new(array)), false)?;
                    }
                    made
                }
                None => self.changing(array, false)?.0,
            });
        }
        let shape = made.first().map(|made| made.view.shape());
        if made.iter().any(|other| Some(other.view.shape()) != shape) {
            return Err(failed("arrays of different shapes are written together"));
        }
        if self.group.is_some() {
            self.scatter_in_turn(&mut made, axes, body, combine)?;
            return Ok(made.into_iter().map(|made| made.value()).collect());
        }
        let space = self.space(axes)?;
        let (Some(lane), Some(rows)) = (axes.last(), space.last()) else { return Err(failed("no axis")) };
        let operations = combine.map(|combine| self.operations(combine));
        each_index(&space[..space.len() - 1], |index| {
            self.bind_index(axes, index);
            self.in_groups(lane.var, *rows, body, |group, _| {
                let values = group.body(body)?;
                group.write_in_order(&mut made, values, combine, operations.as_ref().and_then(Option::as_ref))
            })
        })?;
        Ok(made.into_iter().map(|made| made.value()).collect())
    }

    /// Writes what the rows of a group say, one row after the other.
    fn write_in_order(
        &mut self,
        made: &mut [Made<'a>],
        mut values: Values<'a>,
        combine: Option<&Combine>,
        operations: Option<&Operations>,
    ) -> Run<()> {
        let Some(first) = made.first() else { return Ok(()) };
        let dims = first.view.dims.clone();
        let items: Values<'a> = values.drain(dims.len()..).collect();
        let mut index: SmallVec<[Column<'a>; 4]> = SmallVec::new();
        for value in &values {
            index.push(self.column_of(value, 8)?);
        }
        let mut columns: SmallVec<[Column<'a>; 4]> = SmallVec::new();
        for (made, item) in made.iter().zip(&items) {
            columns.push(self.column_of(item, made.elem.bytes())?);
        }
        for row in 0..self.rows() {
            let at: SmallVec<[i64; 4]> = index.iter().map(|index| index.int(row)).collect();
            if at.iter().zip(&dims).any(|(at, dim)| !(0..dim.size).contains(at)) {
                continue;
            }
            let element = |column: &Column<'_>, made: &Made<'_>| {
                element::load(column.bytes(), made.elem.bytes(), row as i64)
            };
            let old =
                |made: &Made<'_>| element::load(made.store.bytes(), made.elem.bytes(), made.view.place(&at));
            let new: SmallVec<[Bits; 4]> = match (combine, operations) {
                (None, _) => columns.iter().zip(&*made).map(|(column, made)| element(column, made)).collect(),
                (Some(_), Some(operations)) => {
                    let pairs = columns.iter().zip(&*made).zip(operations);
                    let combined = pairs
                        .map(|((column, made), (op, ty))| eval2(*op, *ty, old(made), element(column, made)));
                    combined.collect::<Result<_, _>>().map_err(|_| RunError::Trap)?
                }
                (Some(combine), None) => {
                    let scalar = |bits| Value::Scalars(Scalars::One(bits));
                    let olds = made.iter().map(|made| scalar(old(made))).collect();
                    let items = columns
                        .iter()
                        .zip(&*made)
                        .map(|(column, made)| scalar(element(column, made)))
                        .collect();
                    let group = self.group.take();
                    let new = self.combine(combine, olds, items);
                    self.group = group;
                    new?.iter().map(one).collect::<Run<_>>()?
                }
            };
            for (made, bits) in made.iter_mut().zip(new) {
                let (width, place) = (made.elem.bytes(), made.view.place(&at));
                if let Some(bytes) = made.store.bytes_mut() {
                    element::store(bytes, width, place, bits);
                }
            }
        }
        Ok(())
    }
}

/// Accumulators of a reduction by scalar operations over many rows: those of floats in strands.
struct Strands(SmallVec<[SmallVec<[Bits; 1]>; 4]>);

impl Strands {
    fn new(operations: &Operations, neutral: &[Value<'_>]) -> Run<Strands> {
        let strands = operations.iter().zip(neutral).map(|((op, ty), first)| {
            let first = one(first)?;
            let mut strands: SmallVec<[Bits; 1]> = match start_of_strand(*op, *ty) {
                Some(other) => smallvec![other; STRANDS],
                None => smallvec![first],
            };
            strands[0] = first;
            Ok(strands)
        });
        Ok(Strands(strands.collect::<Run<_>>()?))
    }

    /// Takes the items of a group, which are those from row `first` on.
    fn take<'a>(
        &mut self,
        group: &mut Rows<'_, 'a>,
        operations: &Operations,
        items: Values<'a>,
        first: i64,
    ) -> Run<()> {
        let turn = first as usize % STRANDS;
        for ((strands, item), (op, ty)) in self.0.iter_mut().zip(items).zip(operations) {
            let column = group.column_of(&item, ty.bytes())?;
            match (strands.as_mut_array::<STRANDS>(), loops::fold_strands(*op, *ty)) {
                (Some(strands), Some(fold)) => {
                    strands.rotate_left(turn);
                    fold(strands, column.bytes());
                    strands.rotate_right(turn);
                }
                _ => {
                    let fold = loops::fold(*op, *ty).ok_or_else(|| no_such(*op, *ty))?;
                    strands[0] = fold(strands[0], column.bytes()).map_err(|_| RunError::Trap)?;
                }
            }
            group.buffers.give_back(column);
        }
        Ok(())
    }

    fn finish<'a>(self, operations: &Operations) -> Run<Values<'a>> {
        let total = |(strands, (op, ty)): (SmallVec<[Bits; 1]>, &(ScalarOp, ElemType))| {
            let total = strands[1..].iter().try_fold(strands[0], |a, b| eval2(*op, *ty, a, *b));
            total.map(|bits| Value::Scalars(Scalars::One(bits))).map_err(|_| RunError::Trap)
        };
        self.0.into_iter().zip(operations).map(total).collect()
    }
}

fn no_such(op: ScalarOp, ty: ElemType) -> RunError {
    failed(format!("there is no `{op}` on {ty}"))
}

/// The value of one row.
fn one(value: &Value<'_>) -> Run<Bits> {
    match value {
        Value::Scalars(Scalars::One(bits)) => Ok(*bits),
        Value::Scalars(Scalars::Line { start, .. }) => Ok(*start as Bits),
        _ => Err(failed("a row by itself has many values")),
    }
}

/// The value of the first row.
fn first_of(value: &Value<'_>, width: usize) -> Run<Bits> {
    match value {
        Value::Scalars(Scalars::Many(column)) => Ok(element::load(column.bytes(), width, 0)),
        other => one(other),
    }
}

fn rows_of_group(body: &Body) -> i64 {
    if makes_arrays(body) { ROWS_OF_ARRAYS } else { ROWS }
}

/// Whether rows have arrays of their own.
fn makes_arrays(body: &Body) -> bool {
    let mut found = false;
    body.visit_stms(&mut |stm| {
        found |= !matches!(
            stm.rhs,
            Rhs::Exps(_) | Rhs::Reduce { .. } | Rhs::For { .. } | Rhs::While { .. } | Rhs::If { .. }
        );
    });
    found
}

/// Whether there is something in rows that can be cut into groups.
fn has_operators(body: &Body) -> bool {
    let mut found = false;
    body.visit_stms(&mut |stm| {
        found |= matches!(
            stm.rhs,
            Rhs::Kernel { .. } | Rhs::Reduce { .. } | Rhs::Scan { .. } | Rhs::Scatter { .. }
        );
    });
    found
}
