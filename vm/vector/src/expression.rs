//! Values of expressions for a group of rows, and the places that indices stand for.

use crate::array::{Across, Array};
use crate::body::{Rows, Run, Value, Values, failed};
use crate::column::{Column, Scalars};
use crate::loops;
use galopvm_base::scalar::{convert, eval, eval2};
use galopvm_base::{Bits, ElemType, ScalarOp, element};
use galopvm_kir::{DimIndex, Exp, Index, Read, RunError};
use galopvm_lmad::{Dim, Dims, Lmad};
use smallvec::SmallVec;
use std::ops::Range;
use std::rc::Rc;

/// The operands of an operation.
type Operands<'a> = SmallVec<[Scalars<'a>; 3]>;

impl<'a> Rows<'_, 'a> {
    pub fn exps(&mut self, exps: &[Exp]) -> Run<Values<'a>> {
        exps.iter().map(|exp| self.exp(exp)).collect()
    }

    pub fn exp(&mut self, exp: &Exp) -> Run<Value<'a>> {
        match exp {
            Exp::Const(value) => Ok(Value::Scalars(Scalars::One(value.bits))),
            Exp::Var(var) => self.value_of(*var).cloned(),
            Exp::Op(op, ty, args) => self.operation(*op, *ty, args).map(Value::Scalars),
            Exp::Convert(to, arg) => self.conversion(arg, *to).map(Value::Scalars),
            Exp::Read(read) => self.read(read),
            Exp::Opaque(name, _) => Err(failed(format!("nothing is known of `{name}`"))),
        }
    }

    /// A scalar of each row.
    pub fn scalars(&mut self, exp: &Exp) -> Run<Scalars<'a>> {
        match self.exp(exp)? {
            Value::Scalars(scalars) => Ok(scalars),
            Value::Array(_) => Err(failed("an array stands where a scalar should be")),
        }
    }

    /// A number that has to be the same for all rows.
    pub fn int(&mut self, exp: &Exp) -> Run<i64> {
        match self.scalars(exp)? {
            Scalars::One(bits) => Ok(bits as i64),
            Scalars::Line { start, .. } if self.rows() == 1 => Ok(start),
            Scalars::Many(column) if self.rows() == 1 => Ok(column.int(0)),
            Scalars::Line { .. } | Scalars::Many(_) => Err(failed("a size that differs from row to row")),
        }
    }

    /// The extents of an array to be made: a negative one is a trap.
    pub fn extents(&mut self, extents: &[Exp]) -> Run<Vec<i64>> {
        extents.iter().map(|extent| not_negative(self.int(extent)?)).collect()
    }

    /// The scalars as a column.
    pub fn column(&mut self, scalars: &Scalars<'a>, width: usize) -> Column<'a> {
        let rows = self.rows();
        match scalars {
            Scalars::One(bits) => self.buffers.fill(rows * width, |out| loops::splat(out, width, *bits)),
            Scalars::Line { start, step } => {
                self.buffers.fill(rows * 8, |out| loops::count(out, *start, *step))
            }
            Scalars::Many(column) => column.clone(),
        }
    }

    /// All operands are computed first: `select` and the logical operations are no branches.
    fn operation(&mut self, op: ScalarOp, ty: ElemType, args: &[Exp]) -> Run<Scalars<'a>> {
        let mut operands: Operands<'a> = args.iter().map(|arg| self.scalars(arg)).collect::<Run<_>>()?;
        if operands.iter().any(|operand| matches!(operand, Scalars::Many(_))) {
            // Columns of constants are there for the next group as well.
            for (k, (operand, arg)) in operands.iter_mut().zip(args).enumerate() {
                if let (Scalars::One(bits), Exp::Const(_)) = (&*operand, arg) {
                    let width = op.operand_type(k, ty).bytes();
                    *operand = Scalars::Many(self.buffers.splat(*bits, width, self.rows()));
                }
            }
        }
        self.apply(op, ty, operands)
    }

    /// An operation on the scalars of all rows.
    pub fn apply(&mut self, op: ScalarOp, ty: ElemType, operands: Operands<'a>) -> Run<Scalars<'a>> {
        let one = |scalars: &Scalars<'_>| if let Scalars::One(bits) = scalars { Some(*bits) } else { None };
        if let Some(bits) = operands.iter().map(one).collect::<Option<SmallVec<[Bits; 3]>>>() {
            return eval(op, ty, &bits).map(Scalars::One).map_err(|_| RunError::Trap);
        }
        if let (ElemType::I64, [a, b]) = (ty, &operands[..])
            && let Some(line) = line(op, a, b, self.rows())
        {
            return Ok(line);
        }
        self.applied(op, ty, operands).map(Scalars::Many)
    }

    /// An operation on columns.
    pub fn applied(&mut self, op: ScalarOp, ty: ElemType, operands: Operands<'a>) -> Run<Column<'a>> {
        let none = || failed(format!("there is no `{op}` on {ty}"));
        let width = |k| op.operand_type(k, ty).bytes();
        let columns: SmallVec<[Column<'a>; 3]> =
            operands.iter().enumerate().map(|(k, operand)| self.column(operand, width(k))).collect();
        drop(operands);
        let bytes = self.rows() * op.result_type(ty).bytes();
        let mut trapped = false;
        let out = match &columns[..] {
            [a] => {
                let run = loops::unary(op, ty).ok_or_else(none)?;
                self.buffers.fill(bytes, |out| run(out, a.bytes()))
            }
            [a, b] => {
                let run = loops::binary(op, ty).ok_or_else(none)?;
                self.buffers.fill(bytes, |out| trapped = run(out, a.bytes(), b.bytes()))
            }
            [a, b, c] => {
                let run = match op {
                    ScalarOp::Select => loops::selection(ty.bytes()),
                    _ => loops::ternary(op, ty).ok_or_else(none)?,
                };
                self.buffers.fill(bytes, |out| run(out, a.bytes(), b.bytes(), c.bytes()))
            }
            _ => return Err(none()),
        };
        if trapped && self.counts_a_trap(op, ty, &columns[0], &columns[1]) {
            return Err(RunError::Trap);
        }
        columns.into_iter().for_each(|column| self.buffers.give_back(column));
        Ok(out)
    }

    /// Whether a row that counts has no value.
    fn counts_a_trap(&self, op: ScalarOp, ty: ElemType, a: &Column<'_>, b: &Column<'_>) -> bool {
        let Some(mask) = &self.mask else { return true };
        let element = |column: &Column<'_>, row| element::load(column.bytes(), ty.bytes(), row as i64);
        let mut rows = (0..self.rows()).filter(|row| mask.holds(*row));
        rows.any(|row| eval2(op, ty, element(a, row), element(b, row)).is_err())
    }

    fn conversion(&mut self, arg: &Exp, to: ElemType) -> Run<Scalars<'a>> {
        let from = self.region.exp_type(arg).ok_or_else(|| failed("a value without a type"))?;
        let value = self.scalars(arg)?;
        if let Scalars::One(bits) = value {
            return Ok(Scalars::One(convert(from, to, bits)));
        }
        if from == to {
            return Ok(value);
        }
        let column = self.column(&value, from.bytes());
        drop(value);
        let run = loops::conversion(from, to);
        let out = self.buffers.fill(self.rows() * to.bytes(), |out| run(out, column.bytes()));
        self.buffers.give_back(column);
        Ok(Scalars::Many(out))
    }

    fn read(&mut self, read: &Read) -> Run<Value<'a>> {
        let array = self.array_of(read.array)?.clone();
        let part = self.part(&array, &read.index)?;
        if part.view.rank() > 0 {
            return Ok(Value::Array(Rc::new(part)));
        }
        Ok(Value::Scalars(self.element(&part)))
    }

    /// The element of arrays without dimensions.
    pub fn element(&mut self, array: &Array<'a>) -> Scalars<'a> {
        let (width, rows, offset) = (array.elem.bytes(), self.rows(), array.view.offset);
        let bytes = array.store.bytes();
        match &array.across {
            Across::Same | Across::Stride(0) => Scalars::One(element::load(bytes, width, offset)),
            Across::Stride(stride) => {
                let first = (offset as usize).saturating_mul(width);
                let range = first..first.wrapping_add(rows * width);
                // What is made here may be changed in place as soon as nobody looks at it.
                if *stride == 1 && array.store.is_given() && bytes.get(range.clone()).is_some() {
                    return Scalars::Many(Column::Part(array.store.clone(), range));
                }
                Scalars::Many(
                    self.buffers.fill(rows * width, |out| loops::strided(out, width, bytes, offset, *stride)),
                )
            }
            Across::Each(each) => {
                let places = self.buffers.fill(rows * 8, |out| {
                    for (out, distance) in out.as_chunks_mut().0.iter_mut().zip(each.bytes().as_chunks().0) {
                        *out = offset.wrapping_add(i64::from_le_bytes(*distance)).to_le_bytes();
                    }
                });
                let column =
                    self.buffers.fill(rows * width, |out| loops::gather(out, width, bytes, places.bytes()));
                self.buffers.give_back(places);
                Scalars::Many(column)
            }
        }
    }

    /// The part of an array that an index says. Traps if a row that counts is outside.
    fn part(&mut self, array: &Array<'a>, index: &Index) -> Run<Array<'a>> {
        let (view, across) = self.place_in(&array.view, &array.across, index)?;
        Ok(Array { store: array.store.clone(), elem: array.elem, view, across })
    }

    /// Where the part of a view lies that an index says.
    pub fn place_in(&mut self, view: &Lmad, across: &Across<'a>, index: &Index) -> Run<(Lmad, Across<'a>)> {
        let (mut at, mut dims) = (Moving { offset: view.offset, across: across.clone() }, Dims::new());
        let whole = &view.dims;
        let used = match index {
            Index::Dims(entries) => {
                for (entry, dim) in entries.iter().zip(whole) {
                    match entry {
                        DimIndex::At(place) => {
                            let index = self.scalars(place)?;
                            self.advance(&mut at, index, Some(0..dim.size), dim.stride)?;
                        }
                        DimIndex::Slice { start, count, step } => {
                            let start = self.scalars(start)?;
                            let slice = [(not_negative(self.int(count)?)?, self.int(step)?)];
                            let inside = slice_of(dim, &slice, &mut dims);
                            self.advance(&mut at, start, inside, dim.stride)?;
                        }
                    }
                }
                entries.len()
            }
            Index::Lmad { offset, dims: entries } => {
                let dim = whole.first().ok_or_else(|| failed("a slice of a scalar"))?;
                let start = self.scalars(offset)?;
                let mut slice: SmallVec<[(i64, i64); 4]> = SmallVec::new();
                for (extent, stride) in entries {
                    slice.push((not_negative(self.int(extent)?)?, self.int(stride)?));
                }
                let inside = slice_of(dim, &slice, &mut dims);
                self.advance(&mut at, start, inside, dim.stride)?;
                1
            }
        };
        dims.extend_from_slice(whole.get(used..).unwrap_or(&[]));
        Ok((Lmad { offset: at.offset, dims }, at.across))
    }

    /// Moves a place by the indices of a dimension, which have to be `inside`; they are not used if that is not given.
    fn advance(
        &mut self,
        at: &mut Moving<'a>,
        index: Scalars<'a>,
        inside: Option<Range<i64>>,
        stride: i64,
    ) -> Run<()> {
        let Some(inside) = inside else { return Ok(()) };
        match index {
            Scalars::One(bits) => {
                if !inside.contains(&(bits as i64)) {
                    return Err(RunError::Trap);
                }
                at.offset = at.offset.saturating_add((bits as i64).saturating_mul(stride));
                return Ok(());
            }
            Scalars::Line { start, step } => {
                let last = i128::from(start) + i128::from(step) * (self.rows() as i128 - 1);
                let apart = match at.across {
                    Across::Same => Some(0),
                    Across::Stride(apart) => Some(apart),
                    Across::Each(_) => None,
                };
                if let Some(apart) = apart
                    && inside.contains(&start)
                    && i64::try_from(last).is_ok_and(|last| inside.contains(&last))
                {
                    at.offset = at.offset.saturating_add(start.saturating_mul(stride));
                    at.across = Across::Stride(apart.saturating_add(step.saturating_mul(stride)));
                    return Ok(());
                }
            }
            Scalars::Many(_) => {}
        }
        let index = self.column(&index, 8);
        let mut is_outside = false;
        let each = self.buffers.fill(index.bytes().len(), |out| {
            let index = index.bytes().as_chunks().0;
            let out = out.as_chunks_mut().0;
            is_outside = leaves(index, &inside);
            match &at.across {
                Across::Same => distances(out, index, stride, std::iter::repeat(0)),
                Across::Stride(apart) => {
                    let rows = (0i64..).map(|row| row.wrapping_mul(*apart));
                    distances(out, index, stride, rows);
                }
                Across::Each(each) => {
                    let rows = each.bytes().as_chunks().0.iter().map(|each| i64::from_le_bytes(*each));
                    distances(out, index, stride, rows);
                }
            }
        });
        if is_outside {
            // Rows that do not count may be anywhere.
            let Some(mask) = &self.mask else { return Err(RunError::Trap) };
            let mut rows = (0..self.rows()).filter(|row| mask.holds(*row));
            if rows.any(|row| !inside.contains(&index.int(row))) {
                return Err(RunError::Trap);
            }
        }
        self.buffers.give_back(index);
        at.across = Across::Each(each);
        Ok(())
    }
}

/// Whether some index is not inside.
fn leaves(index: &[[u8; 8]], inside: &Range<i64>) -> bool {
    let (start, size) = (inside.start, inside.end.wrapping_sub(inside.start).max(0) as u64);
    let outside = |index: &[u8; 8]| i64::from_le_bytes(*index).wrapping_sub(start) as u64 >= size;
    index.iter().fold(false, |found, index| found | outside(index))
}

/// Moves distances by what indices mean.
fn distances(out: &mut [[u8; 8]], index: &[[u8; 8]], stride: i64, before: impl Iterator<Item = i64>) {
    for ((out, index), before) in out.iter_mut().zip(index).zip(before) {
        *out = before.wrapping_add(i64::from_le_bytes(*index).wrapping_mul(stride)).to_le_bytes();
    }
}

/// A place on its way through the dimensions of an index.
struct Moving<'a> {
    offset: i64,
    across: Across<'a>,
}

/// What an operation on lines of so many rows gives, if that is a line.
fn line<'a>(op: ScalarOp, a: &Scalars<'_>, b: &Scalars<'_>, rows: usize) -> Option<Scalars<'a>> {
    let as_line = |scalars: &Scalars<'_>| match scalars {
        Scalars::One(bits) => Some((*bits as i64, 0)),
        Scalars::Line { start, step } => Some((*start, *step)),
        Scalars::Many(_) => None,
    };
    let ((a, a_step), (b, b_step)) = (as_line(a)?, as_line(b)?);
    let (start, step) = match op {
        ScalarOp::Add => (a.wrapping_add(b), a_step.wrapping_add(b_step)),
        ScalarOp::Sub => (a.wrapping_sub(b), a_step.wrapping_sub(b_step)),
        ScalarOp::Mul if a_step == 0 || b_step == 0 => {
            let step = if a_step == 0 { a.wrapping_mul(b_step) } else { a_step.wrapping_mul(b) };
            (a.wrapping_mul(b), step)
        }
        // Where the quotient is the same for all rows, the remainder is a line.
        ScalarOp::Div | ScalarOp::Mod | ScalarOp::Quot | ScalarOp::Rem if b > 0 && b_step == 0 && a >= 0 => {
            let last = i128::from(a) + i128::from(a_step) * (rows as i128 - 1);
            let last = i64::try_from(last).ok().filter(|last| *last >= 0)?;
            match op {
                _ if a / b != last / b => return None,
                ScalarOp::Div | ScalarOp::Quot => return Some(Scalars::One((a / b) as Bits)),
                _ => (a % b, a_step),
            }
        }
        _ => return None,
    };
    Some(Scalars::Line { start, step })
}

/// Adds the dimensions of a slice `{(extent:stride),..}` of a dimension; says where it may begin, nothing if it has no place.
fn slice_of(dim: &Dim, slice: &[(i64, i64)], dims: &mut Dims) -> Option<Range<i64>> {
    let empty = slice.iter().any(|(extent, _)| *extent == 0);
    let (mut low, mut high) = (0, 0);
    for (extent, stride) in slice {
        let far = (i128::from(*extent) - 1) * i128::from(*stride);
        low += far.min(0);
        high += far.max(0);
        // Strides that nothing is reached with may be of any size.
        let stride = if *extent <= 1 || empty { 0 } else { stride.saturating_mul(dim.stride) };
        dims.push(Dim::new(*extent, stride));
    }
    let place = |place: i128| place.clamp(0, i64::MAX.into()) as i64;
    (!empty).then(|| place(-low)..place(i128::from(dim.size) - high))
}

fn not_negative(extent: i64) -> Run<i64> {
    if extent < 0 { Err(RunError::Trap) } else { Ok(extent) }
}
