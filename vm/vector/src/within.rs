//! Kernels, reductions, scans and scatters inside a group of rows, and outside of groups those whose rounds are not scalar
//! code: loops, each of whose rounds is done for all rows.

use crate::array::{Across, Made, Store};
use crate::backend::Target;
use crate::body::{Rows, Run, Value, Values, failed};
use crate::column::{Column, Scalars};
use crate::loops;
use galopvm_base::{ElemType, ScalarOp};
use galopvm_kir::evaluate::each_index;
use galopvm_kir::{Axis, Body, Combine, VarId};
use galopvm_lmad::Lmad;
use smallvec::{SmallVec, smallvec};

/// The place of an index in the first dimensions of an array that is being made.
pub(crate) fn row_of(made: &Made<'_>, index: &[i64]) -> Lmad {
    let dims = &made.view.dims;
    let moved = index.iter().zip(dims).map(|(index, dim)| index.wrapping_mul(dim.stride));
    let offset = moved.fold(made.view.offset, i64::wrapping_add);
    Lmad::new(offset, dims[index.len()..].iter().copied())
}

impl<'a> Rows<'_, 'a> {
    /// The numbers of rounds; negative bounds count as 0.
    pub fn space(&mut self, axes: &[Axis]) -> Run<Vec<i64>> {
        axes.iter().map(|axis| Ok(self.int(&axis.bound)?.max(0))).collect()
    }

    /// Room for the arrays that a name of each result stands for, over a space.
    pub fn rooms(&mut self, pat: &[VarId], space: &[i64]) -> Run<Vec<Made<'a>>> {
        let mut rooms = Vec::with_capacity(pat.len());
        for var in pat {
            let ty = self.region.type_of(*var);
            let mut shape = space.to_vec();
            for extent in ty.shape.get(space.len()..).unwrap_or(&[]) {
                shape.push(self.int(extent)?.max(0));
            }
            rooms.push(self.room_of(*var, ty.elem, &shape)?);
        }
        Ok(rooms)
    }

    /// Room for an array, where it goes as a result of the region if it is one.
    fn room_of(&mut self, var: VarId, elem: ElemType, shape: &[i64]) -> Run<Made<'a>> {
        match self.targets.remove(&var) {
            Some(Target { bytes, view, .. }) if view.shape().as_slice() == shape => {
                Ok(Made { store: Store::Result(bytes), elem, view, across: Across::Same })
            }
            Some(_) => Err(failed("a result has another shape than it should have")),
            None => self.room(elem, shape, self.group.is_none()),
        }
    }

    /// A kernel whose rounds come one after the other.
    pub fn kernel_in_turn(&mut self, pat: &[VarId], axes: &[Axis], body: &Body) -> Run<Values<'a>> {
        let space = self.space(axes)?;
        let mut made = self.rooms(pat, &space)?;
        each_index(&space, |index| {
            self.bind_index(axes, index);
            let results = self.body(body)?;
            self.put_all(&mut made, index, results)
        })?;
        Ok(made.into_iter().map(|made| made.value()).collect())
    }

    fn put_all(&mut self, made: &mut [Made<'a>], index: &[i64], results: Values<'a>) -> Run<()> {
        for (made, value) in made.iter_mut().zip(results) {
            let (view, across) = (row_of(made, index), made.across.clone());
            self.put(made, &view, &across, &value, false)?;
        }
        Ok(())
    }

    /// A reduction whose rounds come one after the other.
    pub fn reduction_in_turn(&mut self, axes: &[Axis], body: &Body, combine: &Combine) -> Run<Values<'a>> {
        let neutral = self.exps(&combine.neutral)?;
        if let [axis] = axes {
            let bound = self.scalars(&axis.bound)?;
            if !matches!(bound, Scalars::One(_)) {
                return self.rounds_of_each(&bound, axis.var, neutral, &combine.acc, |rows, acc| {
                    let items = rows.body(body)?;
                    rows.combine(combine, acc, items)
                });
            }
        }
        let space = self.space(axes)?;
        let mut acc = neutral;
        let operations = self.operations(combine);
        if let Some(operations) = &operations
            && let Some(total) = self.dot(axes, body, operations, &acc)?
        {
            return Ok(total);
        }
        each_index(&space, |index| {
            self.bind_index(axes, index);
            let items = self.body(body)?;
            acc = match &operations {
                Some(operations) => {
                    let before = std::mem::take(&mut acc).into_iter();
                    let pairs = before.zip(items).zip(operations);
                    pairs
                        .map(|((acc, item), (op, ty))| self.applied_to(*op, *ty, acc, item))
                        .collect::<Run<_>>()?
                }
                None => self.combine(combine, std::mem::take(&mut acc), items)?,
            };
            Ok(())
        })?;
        Ok(acc)
    }

    fn applied_to(&mut self, op: ScalarOp, ty: ElemType, a: Value<'a>, b: Value<'a>) -> Run<Value<'a>> {
        match (a, b) {
            (Value::Scalars(a), Value::Scalars(b)) => self.apply(op, ty, smallvec![a, b]).map(Value::Scalars),
            _ => Err(failed("an array stands where a scalar should be")),
        }
    }

    /// A scan whose rounds come one after the other.
    pub fn scan_in_turn(
        &mut self,
        pat: &[VarId],
        axis: &Axis,
        body: &Body,
        combine: &Combine,
    ) -> Run<Values<'a>> {
        let axes = std::slice::from_ref(axis);
        let space = self.space(axes)?;
        let mut made = self.rooms(pat, &space)?;
        let mut acc = self.exps(&combine.neutral)?;
        each_index(&space, |index| {
            self.bind_index(axes, index);
            let items = self.body(body)?;
            acc = self.combine(combine, std::mem::take(&mut acc), items)?;
            self.put_all(&mut made, index, acc.clone())
        })?;
        Ok(made.into_iter().map(|made| made.value()).collect())
    }

    /// A scatter inside a group: each row has arrays of its own.
    pub fn scatter_in_turn(
        &mut self,
        made: &mut [Made<'a>],
        axes: &[Axis],
        body: &Body,
        combine: Option<&Combine>,
    ) -> Run<()> {
        let space = self.space(axes)?;
        let (view, across) = match made.first() {
            Some(first) => (first.view.clone(), first.across.clone()),
            None => return Ok(()),
        };
        each_index(&space, |index| {
            self.bind_index(axes, index);
            let mut values = self.body(body)?;
            let mut items: Values<'a> = values.drain(view.rank()..).collect();
            let (places, inside) = self.places(&values, &view, &across)?;
            if !inside.holds_somewhere() {
                return Ok(());
            }
            self.masked(inside, |rows| {
                if let Some(combine) = combine {
                    let mut old = Values::new();
                    for made in made.iter() {
                        let (width, bytes) = (made.elem.bytes(), made.store.bytes());
                        let count = rows.rows();
                        let fill = |out: &mut [u8]| loops::gather(out, width, bytes, places.bytes());
                        old.push(Value::Scalars(Scalars::Many(rows.buffers.fill(count * width, fill))));
                    }
                    items = rows.combine(combine, old, items)?;
                }
                let (view, across) = (Lmad::scalar(0), Across::Each(places));
                made.iter_mut()
                    .zip(items)
                    .try_for_each(|(made, item)| rows.put(made, &view, &across, &item, true))
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
        let places = self.buffers.fill(rows * 8, |out| {
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
        Ok((places, self.buffers.fill(rows, |out| out.copy_from_slice(&inside))))
    }
}
