//! Reductions inside a group that sum what one operation makes of elements of two rows: one loop for all rounds.

use crate::array::{Across, Store};
use crate::body::{Rows, Run, Value, Values};
use crate::code::{Dot, Factor};
use crate::column::{Scalars, fill};
use crate::loops::dot::Source;
use galopvm_kir::RunError;
use smallvec::smallvec;
use std::rc::Rc;

/// Rounds between two looks at whether to go on.
const LOOK_AFTER: i64 = 1 << 14;

/// A row of an array for each row of the group.
struct Along<'a> {
    store: Rc<Store<'a>>,
    first: i64,
    /// How far the next element is.
    step: i64,
    /// Whether the rows differ, and then lie side by side.
    is_many: bool,
}

impl<'a> Along<'a> {
    fn source(&self, from: i64) -> Source<'_> {
        let at = self.first.wrapping_add(from.wrapping_mul(self.step));
        Source { bytes: self.store.bytes(), at, step: self.step }
    }
}

impl<'a> Rows<'_, 'a> {
    /// The total of so many rounds, if the rows lie so that there is a loop for them.
    pub fn dot(&mut self, dot: &Dot, rounds: i64, start: &Values<'a>) -> Run<Option<Values<'a>>> {
        let (Some(rows), [Value::Scalars(start)]) = (self.group, &start[..]) else { return Ok(None) };
        if rounds <= 0 {
            return Ok(None);
        }
        let indices = self.block(&dot.places)?;
        let [a, b] = &dot.factors;
        let (of_a, of_b) = indices.split_at(a.is_counter.iter().filter(|is_counter| !**is_counter).count());
        let (Some(a), Some(b)) = (self.along(a, of_a, rounds)?, self.along(b, of_b, rounds)?) else {
            return Ok(None);
        };
        let run = match (a.is_many, b.is_many) {
            (true, false) => dot.runs[0],
            (false, true) => dot.runs[1],
            (true, true) => dot.runs[2],
            (false, false) => return Ok(None),
        };
        let (start, stop) = (self.column(start, dot.elem.bytes()), self.stop);
        let mut is_stopped = false;
        let sums = fill(rows * dot.elem.bytes(), |sums| {
            sums.copy_from_slice(start.bytes());
            let mut from = 0;
            while from < rounds && !is_stopped {
                let count = LOOK_AFTER.min(rounds - from);
                run(sums, count, a.source(from), b.source(from));
                from += count;
                is_stopped = stop();
            }
        });
        if is_stopped {
            return Err(RunError::Stopped);
        }
        Ok(Some(smallvec![Value::Scalars(Scalars::Many(sums))]))
    }

    /// The elements that are read in all rounds, if all are there and lie apart evenly.
    fn along(&self, factor: &Factor, indices: &[Value<'a>], rounds: i64) -> Run<Option<Along<'a>>> {
        let array = self.array_in(factor.array)?;
        let mut apart = match array.across {
            Across::Same => 0,
            Across::Stride(apart) => apart,
            Across::Each(_) => return Ok(None),
        };
        let (mut first, mut step, mut indices) = (array.view.offset, 0i64, indices.iter());
        for (is_counter, dim) in factor.is_counter.iter().zip(&array.view.dims) {
            if *is_counter {
                if rounds > dim.size {
                    return Ok(None);
                }
                step = step.saturating_add(dim.stride);
                continue;
            }
            let (start, grows) = match indices.next() {
                Some(Value::Scalars(Scalars::One(bits))) => (*bits as i64, 0),
                Some(Value::Scalars(Scalars::Line { start, step })) => (*start, *step),
                _ => return Ok(None),
            };
            let last = i128::from(start) + i128::from(grows) * (self.rows() as i128 - 1);
            if !(0..dim.size).contains(&start) || !(0..i128::from(dim.size)).contains(&last) {
                return Ok(None);
            }
            first = first.saturating_add(start.saturating_mul(dim.stride));
            apart = apart.saturating_add(grows.saturating_mul(dim.stride));
        }
        let is_many = match apart {
            0 => false,
            1 => true,
            _ => return Ok(None),
        };
        Ok(Some(Along { store: array.store.clone(), first, step, is_many }))
    }
}
