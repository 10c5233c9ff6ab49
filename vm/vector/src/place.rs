//! Places of memory: what an index of an array means for each row of a group, and the elements that lie there.

use crate::array::{Across, Array};
use crate::body::{Rows, Run, Value, delivered, failed};
use crate::code::{DimPart, Part, Reg};
use crate::column::{Column, Scalars, fill};
use crate::loops;
use crate::scalar::not_negative;
use galopvm_base::{TypedId, element};
use galopvm_kir::RunError;
use galopvm_lmad::{Dim, Dims, Lmad};
use smallvec::SmallVec;
use std::ops::Range;
use std::rc::Rc;

impl<'a> Rows<'_, 'a> {
    /// The array of a register.
    #[inline]
    pub fn array_in(&self, reg: Reg) -> Run<&Rc<Array<'a>>> {
        match &self.values[reg.index()] {
            Some(Value::Array(array)) => Ok(array),
            Some(Value::Delivered) => Err(delivered()),
            Some(Value::Scalars(_)) => Err(failed("a scalar stands where an array should be")),
            None => Err(failed("a register is read that has no value")),
        }
    }

    /// An element, or a part, of an array.
    pub fn read(&mut self, array: Reg, part: &Part) -> Run<Value<'a>> {
        if let Some((offset, stride)) = self.even_place(array, part)? {
            let array = self.array_in(array)?.clone();
            return Ok(Value::Scalars(self.evenly(&array, offset, stride)));
        }
        let array = self.array_in(array)?.clone();
        if let (Part::Dims(dims), [dim @ Dim { stride: 0.., .. }], Across::Same) =
            (part, &array.view.dims[..], &array.across)
            && let [DimPart::At(index)] = dims[..]
        {
            return self.picked(&array, *dim, index);
        }
        let (view, across) = self.place_in(&array.view, &array.across, part)?;
        let part = Array { store: array.store.clone(), elem: array.elem, view, across };
        if part.view.rank() > 0 {
            return Ok(Value::Array(Rc::new(part)));
        }
        Ok(Value::Scalars(self.element(&part)))
    }

    /// The element of the first row and the distance of those of the others, if all are inside and lie evenly apart.
    fn even_place(&self, array: Reg, part: &Part) -> Run<Option<(i64, i64)>> {
        let (array, Part::Dims(entries)) = (self.array_in(array)?, part) else { return Ok(None) };
        let mut apart = match array.across {
            Across::Same => 0,
            Across::Stride(apart) => apart,
            Across::Each(_) => return Ok(None),
        };
        let (mut offset, dims) = (array.view.offset, &array.view.dims);
        if entries.len() != dims.len() {
            return Ok(None);
        }
        for (entry, dim) in entries.iter().zip(dims) {
            let DimPart::At(index) = entry else { return Ok(None) };
            let (start, step) = match self.scalars(*index)? {
                Scalars::One(bits) => (*bits as i64, 0),
                Scalars::Line { start, step } => (*start, *step),
                Scalars::Many(_) => return Ok(None),
            };
            let last = i128::from(start) + i128::from(step) * (self.rows() as i128 - 1);
            let inside = i128::from(dim.size);
            if !(0..dim.size).contains(&start) || !(0..inside).contains(&last) {
                return Ok(None);
            }
            offset = offset.saturating_add(start.saturating_mul(dim.stride));
            apart = apart.saturating_add(step.saturating_mul(dim.stride));
        }
        Ok(Some((offset, apart)))
    }

    /// The elements of a vector at indices that differ from row to row.
    fn picked(&mut self, array: &Array<'a>, dim: Dim, index: Reg) -> Run<Value<'a>> {
        let (index, width) = (self.column_in(index, 8)?, array.elem.bytes());
        let from = (array.view.offset as usize).saturating_mul(width);
        let bytes = array.store.bytes().get(from..).unwrap_or(&[]);
        let (mut is_outside, mask) = (false, self.mask.as_ref().map(Column::bytes));
        let out = fill(index.bytes().len() / 8 * width, |out| {
            is_outside = loops::pick(out, width, bytes, index.bytes(), mask, dim);
        });
        if is_outside { Err(RunError::Trap) } else { Ok(Value::Scalars(Scalars::Many(out))) }
    }

    /// Elements that lie evenly apart.
    fn evenly(&mut self, array: &Array<'a>, offset: i64, stride: i64) -> Scalars<'a> {
        let (width, rows, bytes) = (array.elem.bytes(), self.rows(), array.store.bytes());
        if stride == 0 {
            return Scalars::One(element::load(bytes, width, offset));
        }
        let first = (offset as usize).saturating_mul(width);
        let range = first..first.saturating_add(rows * width);
        if stride == 1
            && let Some(here) = bytes.get(range.clone())
        {
            // What is made here may be changed in place as soon as nobody looks at it.
            if array.store.is_given() {
                return Scalars::Many(Column::Part(array.store.clone(), range));
            }
            return Scalars::Many(fill(here.len(), |out| out.copy_from_slice(here)));
        }
        Scalars::Many(fill(rows * width, |out| loops::strided(out, width, bytes, offset, stride)))
    }

    /// The element of arrays without dimensions.
    pub fn element(&mut self, array: &Array<'a>) -> Scalars<'a> {
        let (width, rows, offset) = (array.elem.bytes(), self.rows(), array.view.offset);
        match &array.across {
            Across::Same => self.evenly(array, offset, 0),
            Across::Stride(stride) => self.evenly(array, offset, *stride),
            Across::Each(each) => {
                let places = fill(rows * 8, |out| {
                    for (out, distance) in out.as_chunks_mut().0.iter_mut().zip(each.bytes().as_chunks().0) {
                        *out = offset.wrapping_add(i64::from_le_bytes(*distance)).to_le_bytes();
                    }
                });
                let bytes = array.store.bytes();
                let column = fill(rows * width, |out| loops::gather(out, width, bytes, places.bytes()));
                Scalars::Many(column)
            }
        }
    }

    /// Where the part of a view lies. Traps if a row that counts is outside.
    pub fn place_in(&mut self, view: &Lmad, across: &Across<'a>, part: &Part) -> Run<(Lmad, Across<'a>)> {
        let (mut at, mut dims) = (Moving { offset: view.offset, across: across.clone() }, Dims::new());
        let whole = &view.dims;
        let used = match part {
            Part::Dims(entries) => {
                for (entry, dim) in entries.iter().zip(whole) {
                    match *entry {
                        DimPart::At(index) => self.advance(&mut at, index, Some(0..dim.size), dim.stride)?,
                        DimPart::Slice { start, count, step } => {
                            let slice = [(not_negative(self.int(count)?)?, self.int(step)?)];
                            let inside = slice_of(dim, &slice, &mut dims);
                            self.advance(&mut at, start, inside, dim.stride)?;
                        }
                    }
                }
                entries.len()
            }
            Part::Flat { offset, dims: entries } => {
                let dim = whole.first().ok_or_else(|| failed("a slice of a scalar"))?;
                let mut slice: SmallVec<[(i64, i64); 4]> = SmallVec::new();
                for (extent, stride) in entries {
                    slice.push((not_negative(self.int(*extent)?)?, self.int(*stride)?));
                }
                let inside = slice_of(dim, &slice, &mut dims);
                self.advance(&mut at, *offset, inside, dim.stride)?;
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
        index: Reg,
        inside: Option<Range<i64>>,
        stride: i64,
    ) -> Run<()> {
        let Some(inside) = inside else { return Ok(()) };
        match self.scalars(index)? {
            Scalars::One(bits) => {
                let index = *bits as i64;
                if !inside.contains(&index) {
                    return Err(RunError::Trap);
                }
                at.offset = at.offset.saturating_add(index.saturating_mul(stride));
                return Ok(());
            }
            Scalars::Line { start, step } => {
                let (start, step) = (*start, *step);
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
        let index = self.column_in(index, 8)?;
        let mut is_outside = false;
        let each = fill(index.bytes().len(), |out| {
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
