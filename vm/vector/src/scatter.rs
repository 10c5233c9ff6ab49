//! Scatters and histograms: outside of groups the rows of a group write in their order, inside of one each row has arrays of its own.

use crate::array::{Across, Made, Store};
use crate::backend::Target;
use crate::body::{Rows, Run, Value, Values, failed};
use crate::code::{CombineCode, Rounds, Scatter};
use crate::column::{Column, Scalars, fill};
use crate::groups::one;
use crate::loops;
use crate::within::{Rooms, finished};
use galopvm_base::element;
use galopvm_kir::RunError;
use galopvm_kir::evaluate::each_index;
use galopvm_lmad::Lmad;
use smallvec::SmallVec;
use std::rc::Rc;

/// The place of a row that writes nothing.
const NOWHERE: i64 = i64::MIN;

impl<'a> Rows<'_, 'a> {
    pub fn scatter(&mut self, scatter: &Scatter) -> Run<Values<'a>> {
        let Scatter { dsts, arrays, rounds, combine } = scatter;
        let space = self.space(rounds)?;
        let mut made = Rooms::new();
        for (dst, taken) in dsts.iter().zip(arrays) {
            let array = self.taken(*taken)?;
            made.push(match self.target(*dst) {
                Some(Target { bytes, view, has_begun, is_read }) => {
                    let mut made = Made {
                        store: Store::Result(bytes),
                        elem: array.elem,
                        view,
                        across: Across::Same,
                        is_delivered: !is_read,
                    };
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
            self.scatter_in_turn(&mut made, rounds, combine.as_ref(), &space)?;
            return Ok(finished(made));
        }
        let (Some(lane), Some(rows)) = (rounds.axes.len().checked_sub(1), space.last()) else {
            return Err(failed("no axis"));
        };
        each_index(&space[..lane], |index| {
            self.set_index(rounds, index);
            self.in_groups(rounds, lane, *rows, |group, _| {
                let values = group.block(&rounds.body)?;
                group.write_in_order(&mut made, values, combine.as_ref())
            })
        })?;
        Ok(finished(made))
    }

    /// Writes what the rows of a group say, one row after the other.
    fn write_in_order(
        &mut self,
        made: &mut [Made<'a>],
        mut values: Values<'a>,
        combine: Option<&CombineCode>,
    ) -> Run<()> {
        let Some(rank) = made.first().map(|made| made.view.rank()) else { return Ok(()) };
        let items: Values<'a> = values.drain(rank..).collect();
        if let Some(combine) = combine
            && combine.operations.is_none()
        {
            return self.combine_in_order(made, &values, items, combine);
        }
        // The arrays have nothing to do with each other.
        for (k, (made, item)) in made.iter_mut().zip(&items).enumerate() {
            let places = self.places_in(&made.view, &values)?;
            let (width, column) = (made.elem.bytes(), self.column_of(item, made.elem.bytes())?);
            let bytes = made.store.bytes_mut().ok_or_else(|| failed("an array that is only read"))?;
            let operation = combine.and_then(|combine| combine.operations.as_ref()?.get(k));
            match operation {
                None => loops::scatter(bytes, width, places.bytes(), column.bytes()),
                Some(operation) if (operation.accumulate)(bytes, places.bytes(), column.bytes()) => {
                    return Err(RunError::Trap);
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Combines with what is there by a block, row after row.
    fn combine_in_order(
        &mut self,
        made: &mut [Made<'a>],
        index: &[Value<'a>],
        items: Values<'a>,
        combine: &CombineCode,
    ) -> Run<()> {
        let mut columns: SmallVec<[(Column<'a>, Column<'a>); 2]> = SmallVec::new();
        for (made, item) in made.iter().zip(&items) {
            columns.push((self.places_in(&made.view, index)?, self.column_of(item, made.elem.bytes())?));
        }
        for row in 0..self.rows() {
            if columns.iter().any(|(places, _)| places.int(row) == NOWHERE) {
                continue;
            }
            let (mut olds, mut items) = (Values::new(), Values::new());
            for (made, (places, column)) in made.iter().zip(&columns) {
                let load = |bytes, place| {
                    Value::Scalars(Scalars::One(element::load(bytes, made.elem.bytes(), place)))
                };
                olds.push(load(made.store.bytes(), places.int(row)));
                items.push(load(column.bytes(), row as i64));
            }
            let group = self.group.take();
            let new = self.combine(combine, olds, items);
            self.group = group;
            for ((made, (places, _)), value) in made.iter_mut().zip(&columns).zip(new?) {
                let (width, bits) = (made.elem.bytes(), one(&value)?);
                if let Some(bytes) = made.store.bytes_mut() {
                    element::store(bytes, width, places.int(row), bits);
                }
            }
        }
        Ok(())
    }

    /// The place in a view that the indices of each row say, or [`NOWHERE`].
    fn places_in(&mut self, view: &Lmad, index: &[Value<'a>]) -> Run<Column<'a>> {
        let mut columns: SmallVec<[Column<'a>; 4]> = SmallVec::new();
        for value in index {
            columns.push(self.column_of(value, 8)?);
        }
        Ok(fill(self.rows() * 8, |out| {
            let out = out.as_chunks_mut().0;
            out.fill(view.offset.to_le_bytes());
            for (column, dim) in columns.iter().zip(&view.dims) {
                for (out, index) in out.iter_mut().zip(column.bytes().as_chunks().0) {
                    let (place, index) = (i64::from_le_bytes(*out), i64::from_le_bytes(*index));
                    let is_inside = (index as u64) < dim.size as u64 && place != NOWHERE;
                    let moved = place.wrapping_add(index.wrapping_mul(dim.stride));
                    *out = (if is_inside { moved } else { NOWHERE }).to_le_bytes();
                }
            }
        }))
    }

    /// A scatter inside a group: each row has arrays of its own.
    pub fn scatter_in_turn(
        &mut self,
        made: &mut [Made<'a>],
        rounds: &Rounds,
        combine: Option<&CombineCode>,
        space: &[i64],
    ) -> Run<()> {
        let Some(rank) = made.first().map(|made| made.view.rank()) else { return Ok(()) };
        each_index(space, |index| {
            self.set_index(rounds, index);
            let mut values = self.block(&rounds.body)?;
            let mut items: Values<'a> = values.drain(rank..).collect();
            // The arrays have one shape, but each lies in its own way.
            let (mut places, mut counts) = (SmallVec::<[Column<'a>; 2]>::new(), None);
            for made in made.iter() {
                let (place, inside) = self.places(&values, &made.view, &made.across)?;
                places.push(place);
                counts = Some(inside);
            }
            let Some(inside) = counts.filter(Column::holds_somewhere) else { return Ok(()) };
            self.masked(inside, |rows| {
                if let Some(combine) = combine {
                    let mut old = Values::new();
                    for (made, places) in made.iter().zip(&places) {
                        let (width, bytes) = (made.elem.bytes(), made.store.bytes());
                        let gather = |out: &mut [u8]| loops::gather(out, width, bytes, places.bytes());
                        old.push(Value::Scalars(Scalars::Many(fill(rows.rows() * width, gather))));
                    }
                    items = rows.combine(combine, old, items)?;
                }
                let view = Lmad::scalar(0);
                made.iter_mut().zip(items).zip(places).try_for_each(|((made, item), places)| {
                    rows.put(made, &view, &Across::Each(places), &item, true)
                })
            })
        })
    }

    /// The place that indices say for each row, and which rows that count have one.
    fn places(
        &mut self,
        index: &[Value<'a>],
        view: &Lmad,
        across: &Across<'a>,
    ) -> Run<(Column<'a>, Column<'a>)> {
        let mut columns: SmallVec<[Column<'a>; 4]> = SmallVec::new();
        for value in index {
            let Value::Scalars(scalars) = value else { return Err(failed("an index that is an array")) };
            columns.push(self.column(scalars, 8));
        }
        let (rows, mask) = (self.rows(), self.mask.clone());
        let mut inside = vec![0u8; rows];
        let places = fill(rows * 8, |out| {
            for (row, out) in out.as_chunks_mut().0.iter_mut().enumerate() {
                let mut place = view.offset.wrapping_add(across.distance(row));
                let mut is_inside = mask.as_ref().is_none_or(|mask| mask.holds(row));
                for (column, dim) in columns.iter().zip(&view.dims) {
                    let index = column.int(row);
                    is_inside &= (0..dim.size).contains(&index);
                    place = place.wrapping_add(index.wrapping_mul(dim.stride));
                }
                inside[row] = u8::from(is_inside);
                *out = place.to_le_bytes();
            }
        });
        Ok((places, fill(rows, |out| out.copy_from_slice(&inside))))
    }
}
