//! Kernels, reductions and scans inside a group of rows, and outside of groups those whose rounds are not scalar
//! code: loops, each of whose rounds is done for all rows.

use crate::array::{Across, Made, Store};
use crate::backend::Target;
use crate::body::{Rows, Run, Value, Values, failed};
use crate::code::{CombineCode, NewArray, Reduce, Reg, Rounds, Scan};
use crate::column::Scalars;
use galopvm_base::ElemType;
use galopvm_kir::evaluate::each_index;
use galopvm_lmad::{Dims, Lmad};
use smallvec::SmallVec;

/// Numbers of rounds, or the extents of an array.
pub(crate) type Extents = SmallVec<[i64; 4]>;

/// Arrays that are being made together.
pub(crate) type Rooms<'a> = SmallVec<[Made<'a>; 1]>;

/// What was made, as values.
pub(crate) fn finished<'a>(made: Rooms<'a>) -> Values<'a> {
    let mut values = Values::new();
    for made in made {
        values.push(made.value());
    }
    values
}

/// The place of an index in the first dimensions of an array that is being made.
pub(crate) fn row_of(made: &Made<'_>, index: &[i64]) -> Lmad {
    let dims = &made.view.dims;
    let moved = index.iter().zip(dims).map(|(index, dim)| index.wrapping_mul(dim.stride));
    let offset = moved.fold(made.view.offset, i64::wrapping_add);
    Lmad { offset, dims: Dims::from_slice(&dims[index.len()..]) }
}

impl<'a> Rows<'_, 'a> {
    /// The numbers of rounds; negative bounds count as 0.
    pub fn space(&self, rounds: &Rounds) -> Run<Extents> {
        rounds.axes.iter().map(|axis| Ok(self.int(axis.bound)?.max(0))).collect()
    }

    pub fn set_index(&mut self, rounds: &Rounds, index: &[i64]) {
        for (axis, at) in rounds.axes.iter().zip(index) {
            self.set(axis.counter, Value::int(*at));
        }
    }

    /// Room for new arrays over a space.
    pub fn rooms(&mut self, new: &[NewArray], space: &[i64]) -> Run<Rooms<'a>> {
        let mut rooms = Rooms::new();
        for NewArray { dst, elem, extents } in new {
            let mut shape = Extents::from_slice(space);
            for extent in extents {
                shape.push(self.int(*extent)?.max(0));
            }
            rooms.push(self.room_of(*dst, *elem, &shape)?);
        }
        Ok(rooms)
    }

    /// Where the array of a register goes as a result of the region, if it is one.
    pub fn target(&mut self, reg: Reg) -> Option<Target<'a>> {
        let at = self.targets.iter().position(|(target, _)| *target == reg)?;
        Some(self.targets.swap_remove(at).1)
    }

    fn room_of(&mut self, reg: Reg, elem: ElemType, shape: &[i64]) -> Run<Made<'a>> {
        match self.target(reg) {
            Some(Target { bytes, view, is_read, .. }) if view.shape().as_slice() == shape => {
                let (store, across) = (Store::Result(bytes), Across::Same);
                Ok(Made { store, elem, view, across, is_delivered: !is_read })
            }
            Some(_) => Err(failed("a result has another shape than it should have")),
            None => self.room(elem, shape, self.group.is_none()),
        }
    }

    /// A kernel whose rounds come one after the other.
    pub fn kernel_in_turn(&mut self, new: &[NewArray], rounds: &Rounds, space: &[i64]) -> Run<Values<'a>> {
        let mut made = self.rooms(new, space)?;
        each_index(space, |index| {
            self.set_index(rounds, index);
            let results = self.block(&rounds.body)?;
            self.put_all(&mut made, index, results)
        })?;
        Ok(finished(made))
    }

    fn put_all(&mut self, made: &mut [Made<'a>], index: &[i64], results: Values<'a>) -> Run<()> {
        for (made, value) in made.iter_mut().zip(results) {
            let (view, across) = (row_of(made, index), made.across.clone());
            self.put(made, &view, &across, &value, false)?;
        }
        Ok(())
    }

    /// Combines two values of each operand.
    pub fn combine(&mut self, combine: &CombineCode, acc: Values<'a>, items: Values<'a>) -> Run<Values<'a>> {
        self.set_all(&combine.body.params, acc.into_iter().chain(items));
        self.block(&combine.body)
    }

    /// Combines them by the scalar operations that the block is, if it is that.
    fn combined(&mut self, combine: &CombineCode, acc: Values<'a>, items: Values<'a>) -> Run<Values<'a>> {
        let Some(operations) = &combine.operations else { return self.combine(combine, acc, items) };
        let mut combined = Values::new();
        for ((acc, item), by) in acc.iter().zip(&items).zip(operations) {
            let (Value::Scalars(a), Value::Scalars(b)) = (acc, item) else {
                return Err(failed("an array stands where a scalar should be"));
            };
            combined.push(Value::Scalars(self.apply2(a, b, by.op, by.ty, by.run)?));
        }
        Ok(combined)
    }

    /// A reduction whose rounds come one after the other.
    pub fn reduction_in_turn(&mut self, reduce: &Reduce) -> Run<Values<'a>> {
        let Reduce { rounds, combine, dot, .. } = reduce;
        let mut acc = self.values_of(&combine.neutral)?;
        if let [axis] = rounds.axes[..] {
            let bound = self.scalars(axis.bound)?.clone();
            if !matches!(bound, Scalars::One(_)) {
                return self.rounds_of_each(&bound, axis.counter, acc, &combine.elems, |rows, acc| {
                    let items = rows.block(&rounds.body)?;
                    rows.combine(combine, acc, items)
                });
            }
        }
        let space = self.space(rounds)?;
        if let (Some(dot), [rounds]) = (dot, &space[..])
            && let Some(total) = self.dot(dot, *rounds, &acc)?
        {
            return Ok(total);
        }
        each_index(&space, |index| {
            self.set_index(rounds, index);
            let items = self.block(&rounds.body)?;
            acc = self.combined(combine, std::mem::take(&mut acc), items)?;
            Ok(())
        })?;
        Ok(acc)
    }

    /// A scan whose rounds come one after the other.
    pub fn scan_in_turn(&mut self, scan: &Scan, space: &[i64]) -> Run<Values<'a>> {
        let Scan { made: new, rounds, combine } = scan;
        let mut made = self.rooms(new, space)?;
        let mut acc = self.values_of(&combine.neutral)?;
        each_index(space, |index| {
            self.set_index(rounds, index);
            let items = self.block(&rounds.body)?;
            acc = self.combined(combine, std::mem::take(&mut acc), items)?;
            self.put_all(&mut made, index, acc.clone())
        })?;
        Ok(finished(made))
    }
}
