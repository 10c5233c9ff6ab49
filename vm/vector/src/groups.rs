//! Kernels, reductions and scans outside of groups: one of their axes is cut into groups of rows.
//!
//! The axis is the one that the plan puts across lanes, else the innermost one, unless that is short. Reductions, scans and
//! scatters keep the order of their rows, so theirs is the innermost one. Where a kernel has few rows, each of which has much in
//! it, the rows come one after the other, and what is in them is cut.

use crate::array::Across;
use crate::body::{Rows, Run, Value, Values, failed};
use crate::code::{Block, CombineCode, Kernel, NewArray, Operation, Reduce, Reg, Rounds, Scan, Work};
use crate::column::{Column, Scalars, fill};
use crate::loops::{self, MANY_ROWS, STRANDS, start_of_strand};
use crate::within::{Extents, finished, row_of};
use galopvm_base::scalar::eval2;
use galopvm_base::{Bits, TypedId, element};
use galopvm_kir::RunError;
use galopvm_kir::evaluate::each_index;
use smallvec::{SmallVec, smallvec};

/// Rows of a group of scalar code: its columns fit the first-level cache.
const ROWS: i64 = 1024;

/// Rows of a group whose rows make arrays: of the first one where nobody knows how large these are, and at least and at most of
/// others, whose arrays should take so many bytes, which a second-level cache has. Loops over the elements of a row cost the same for
/// few rows as for many: with 32 rows instead of 256, rows of 4000 elements with scans took nearly four times as long.
const ROWS_OF_ARRAYS: i64 = 128;
const LEAST_ROWS: i64 = 256;
const MOST_ROWS: i64 = 512;
const CACHE: usize = 1 << 20;

/// Fewer rows than these come one after the other, if there is something in them that can be cut; those with operators in them
/// are better left to somebody else.
pub const FEW_ROWS: i64 = 24;

/// An innermost axis that is shorter is left for a longer one.
const SHORT: i64 = 16;

/// Some rows of a group, evenly apart.
struct Spread {
    first: usize,
    apart: usize,
    count: usize,
}

impl<'a> Rows<'_, 'a> {
    pub fn kernel(&mut self, kernel: &Kernel) -> Run<Values<'a>> {
        let Kernel { made: new, rounds, lane: planned } = kernel;
        let space = self.space(rounds)?;
        let is_few = || space.iter().fold(1, |all: i64, extent| all.saturating_mul(*extent)) < FEW_ROWS;
        if self.group.is_some() || rounds.has_operators && is_few() {
            return self.kernel_in_turn(new, rounds, &space);
        }
        let mut made = self.rooms(new, &space)?;
        let lane = lane(*planned, &space);
        let mut others = Extents::from_slice(&space);
        others[lane] = others[lane].min(1);
        each_index(&others, |index| {
            self.set_index(rounds, index);
            self.in_groups(rounds, lane, space[lane], |rows, first| {
                let results = rows.block(&rounds.body)?;
                let mut index = Extents::from_slice(index);
                index[lane] = first;
                for (made, value) in made.iter_mut().zip(results) {
                    let (view, across) = (row_of(made, &index), Across::Stride(made.view.dims[lane].stride));
                    rows.put(made, &view, &across, &value, false)?;
                }
                Ok(())
            })
        })?;
        Ok(finished(made))
    }

    /// Does something for each group of the rows of an axis, which is told its first row.
    pub fn in_groups(
        &mut self,
        rounds: &Rounds,
        axis: usize,
        count: i64,
        mut f: impl FnMut(&mut Self, i64) -> Run<()>,
    ) -> Run<()> {
        let counter = rounds.axes[axis].counter;
        let period = self.period(rounds, counter);
        let mut most = match rounds.makes_arrays {
            true => self.bytes_of_row(&rounds.body).map_or(ROWS_OF_ARRAYS, rows_with),
            false => ROWS,
        };
        let mut first = 0;
        while first < count {
            let mut rows = most.min(count - first);
            if let Some(period) = period {
                rows = rows.min(period - first % period);
            }
            self.group = Some(rows as usize);
            self.set(counter, Value::Scalars(Scalars::Line { start: first, step: 1 }));
            let made = self.made;
            let done = f(self, first);
            self.group = None;
            done?;
            first += rows;
            if rounds.makes_arrays {
                let of_row = self.made.saturating_sub(made) / rows as usize;
                most = rows_with(of_row);
            }
        }
        Ok(())
    }

    /// The bytes of the arrays that a row makes, if that is known before the first one: their extents have values now.
    fn bytes_of_row(&self, body: &Block) -> Option<usize> {
        let known = |reg: Reg| match &self.values[reg.index()] {
            Some(Value::Scalars(Scalars::One(bits))) => usize::try_from(*bits as i64).ok(),
            _ => None,
        };
        let bytes_of = |made: &[NewArray], rounds: &Rounds| {
            let axes = || rounds.axes.iter().map(|axis| axis.bound);
            let bytes_of = |made: &NewArray| {
                let mut extents = axes().chain(made.extents.iter().copied());
                extents.try_fold(made.elem.bytes(), |bytes, extent| bytes.checked_mul(known(extent)?))
            };
            let mut all = made.iter().map(bytes_of);
            all.try_fold(0usize, |all, bytes| all.checked_add(bytes?)).filter(|_| !rounds.makes_arrays)
        };
        let of_step = |work: &Work| match work {
            Work::Kernel(kernel) => bytes_of(&kernel.made, &kernel.rounds),
            Work::Scan(scan) => bytes_of(&scan.made, &scan.rounds),
            Work::Reduce(reduce) => bytes_of(&[], &reduce.rounds),
            Work::Copy { .. }
            | Work::Unary { .. }
            | Work::Binary { .. }
            | Work::Ternary { .. }
            | Work::Convert { .. }
            | Work::Read { .. } => Some(0),
            Work::Update { .. }
            | Work::Whole { .. }
            | Work::Branch { .. }
            | Work::Count { .. }
            | Work::Repeat { .. }
            | Work::Scatter(_) => None,
        };
        body.steps.iter().try_fold(0usize, |all, step| all.checked_add(of_step(&step.work)?))
    }

    /// How many neighbouring rows have the same quotient by a number that the block divides the row by.
    fn period(&self, rounds: &Rounds, counter: Reg) -> Option<i64> {
        let divisors = rounds.divisors.iter().filter(|(dividend, _)| *dividend == counter);
        let known = divisors.filter_map(|(_, divisor)| match self.values[divisor.index()] {
            Some(Value::Scalars(Scalars::One(bits))) => Some(bits as i64),
            _ => None,
        });
        known.filter(|divisor| *divisor >= SHORT).max()
    }

    pub fn reduction(&mut self, reduce: &Reduce) -> Run<Values<'a>> {
        let Reduce { rounds, combine, .. } = reduce;
        if self.group.is_some() || !combine.is_scalar {
            return self.reduction_in_turn(reduce);
        }
        let space = self.space(rounds)?;
        let mut acc = self.values_of(&combine.neutral)?;
        let (Some(lane), Some(rows)) = (rounds.axes.len().checked_sub(1), space.last()) else {
            return Ok(acc);
        };
        let mut strands = match &combine.operations {
            Some(operations) if *rows >= MANY_ROWS => Some(Strands::new(operations, &acc)?),
            _ => None,
        };
        each_index(&space[..lane], |index| {
            self.set_index(rounds, index);
            self.in_groups(rounds, lane, *rows, |group, first| {
                let items = group.block(&rounds.body)?;
                match (&combine.operations, &mut strands) {
                    (Some(operations), Some(strands)) => strands.take(group, operations, items, first),
                    (Some(operations), None) => {
                        for ((acc, item), operation) in acc.iter_mut().zip(items).zip(operations) {
                            let column = group.column_of(&item, operation.ty.bytes())?;
                            let value = (operation.fold)(one(acc)?, column.bytes());
                            *acc = Value::Scalars(Scalars::One(value.map_err(|_| RunError::Trap)?));
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
        match (strands, &combine.operations) {
            (Some(strands), Some(operations)) => strands.finish(operations),
            _ => Ok(acc),
        }
    }

    pub fn column_of(&mut self, value: &Value<'a>, width: usize) -> Run<Column<'a>> {
        match value {
            Value::Scalars(scalars) => Ok(self.column(scalars, width)),
            Value::Array(_) | Value::Delivered => Err(failed("an array stands where a scalar should be")),
        }
    }

    /// The columns of some rows.
    fn some_rows(&mut self, values: &[Value<'a>], widths: &[usize], rows: Spread) -> Run<Values<'a>> {
        let Spread { first, apart, count } = rows;
        let mut some = Values::new();
        for (value, width) in values.iter().zip(widths) {
            let column = self.column_of(value, *width)?;
            some.push(Value::Scalars(Scalars::Many(fill(count * width, |out| {
                loops::strided(out, *width, column.bytes(), first as i64, apart as i64);
            }))));
        }
        Ok(some)
    }

    /// All rows of a group combined, in their order: neighbours, then neighbours of these.
    fn total(&mut self, combine: &CombineCode, mut values: Values<'a>) -> Run<Values<'a>> {
        let widths = widths(combine);
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
            joined.push(Value::Scalars(Scalars::Many(fill((before + after) * width, |out| {
                let (start, end) = out.split_at_mut(before * width);
                start.copy_from_slice(first.bytes());
                end.copy_from_slice(second.bytes());
            }))));
        }
        Ok(joined)
    }

    pub fn scan(&mut self, scan: &Scan) -> Run<Values<'a>> {
        let Scan { made: new, rounds, combine } = scan;
        let space = self.space(rounds)?;
        if self.group.is_some() || !combine.is_scalar {
            return self.scan_in_turn(scan, &space);
        }
        let mut made = self.rooms(new, &space)?;
        let mut acc = self.values_of(&combine.neutral)?;
        let widths = widths(combine);
        self.in_groups(rounds, 0, space[0], |group, first| {
            let items = group.block(&rounds.body)?;
            let prefixes = match &combine.operations {
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
        Ok(finished(made))
    }

    /// All prefixes by scalar operations, after what came before, which becomes the last of them.
    fn prefixes(
        &mut self,
        operations: &[Operation],
        acc: &mut [Value<'a>],
        items: Values<'a>,
    ) -> Run<Values<'a>> {
        let mut prefixes = Values::new();
        for ((acc, item), operation) in acc.iter_mut().zip(items).zip(operations) {
            let column = self.column_of(&item, operation.ty.bytes())?;
            let (start, mut last) = (one(acc)?, Ok(0));
            prefixes.push(Value::Scalars(Scalars::Many(fill(column.bytes().len(), |out| {
                last = (operation.prefixes)(start, column.bytes(), out);
            }))));
            *acc = Value::Scalars(Scalars::One(last.map_err(|_| RunError::Trap)?));
        }
        Ok(prefixes)
    }

    /// The prefixes of a group by itself: each row is combined with the one that is 1, 2, 4, .. rows before it.
    fn own_prefixes(&mut self, combine: &CombineCode, mut values: Values<'a>) -> Run<Values<'a>> {
        let (rows, widths) = (self.rows(), widths(combine));
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
}

/// Accumulators of a reduction by scalar operations over many rows: those of floats in strands.
struct Strands(SmallVec<[SmallVec<[Bits; 1]>; 4]>);

impl Strands {
    fn new(operations: &[Operation], neutral: &[Value<'_>]) -> Run<Strands> {
        let strands = operations.iter().zip(neutral).map(|(operation, first)| {
            let first = one(first)?;
            let mut strands: SmallVec<[Bits; 1]> = match start_of_strand(operation.op, operation.ty) {
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
        operations: &[Operation],
        items: Values<'a>,
        first: i64,
    ) -> Run<()> {
        let turn = first as usize % STRANDS;
        for ((strands, item), operation) in self.0.iter_mut().zip(items).zip(operations) {
            let column = group.column_of(&item, operation.ty.bytes())?;
            match (strands.as_mut_array::<STRANDS>(), operation.strands) {
                (Some(strands), Some(fold)) => {
                    strands.rotate_left(turn);
                    fold(strands, column.bytes());
                    strands.rotate_right(turn);
                }
                _ => {
                    let value = (operation.fold)(strands[0], column.bytes());
                    strands[0] = value.map_err(|_| RunError::Trap)?;
                }
            }
        }
        Ok(())
    }

    fn finish<'a>(self, operations: &[Operation]) -> Run<Values<'a>> {
        let total = |(strands, by): (SmallVec<[Bits; 1]>, &Operation)| {
            let total = strands[1..].iter().try_fold(strands[0], |a, b| eval2(by.op, by.ty, a, *b));
            total.map(|bits| Value::Scalars(Scalars::One(bits))).map_err(|_| RunError::Trap)
        };
        self.0.into_iter().zip(operations).map(total).collect()
    }
}

/// The rows of a group whose rows make arrays of so many bytes.
fn rows_with(bytes: usize) -> i64 {
    ((CACHE / bytes.max(1)) as i64).clamp(LEAST_ROWS, MOST_ROWS)
}

fn widths(combine: &CombineCode) -> Vec<usize> {
    combine.elems.iter().map(|elem| elem.bytes()).collect()
}

/// The axis that is cut.
fn lane(planned: Option<usize>, space: &[i64]) -> usize {
    let last = space.len() - 1;
    match planned {
        Some(axis) if space[axis] >= SHORT => axis,
        _ if space[last] >= SHORT => last,
        _ => (0..space.len()).max_by_key(|axis| space[*axis]).unwrap_or(last),
    }
}

/// The value of one row.
pub(crate) fn one(value: &Value<'_>) -> Run<Bits> {
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
