//! Reductions inside a group that sum what one operation makes of elements of two rows: one loop for all rounds.

use crate::array::{Across, Store};
use crate::body::{Rows, Run, Value, Values};
use crate::column::Scalars;
use crate::groups::Operations;
use crate::loops::dot::{Source, runs};
use galopvm_kir::{Axis, Body, DimIndex, Exp, Index, Read, RunError, VarId};
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
    /// The total of a reduction, if it is of that kind and the rows lie so that the loop is for them.
    pub fn dot(
        &mut self,
        axes: &[Axis],
        body: &Body,
        operations: &Operations,
        start: &Values<'a>,
    ) -> Run<Option<Values<'a>>> {
        let (Some(rows), [axis], [(op, ty)], []) = (self.group, axes, &operations[..], &body.stms[..]) else {
            return Ok(None);
        };
        let ([Exp::Op(map, _, args)], [Value::Scalars(start)]) = (&body.results[..], &start[..]) else {
            return Ok(None);
        };
        let ([Exp::Read(a), Exp::Read(b)], Some(runs)) = (&args[..], runs(*map, *op, *ty)) else {
            return Ok(None);
        };
        let rounds = self.int(&axis.bound)?;
        if rounds <= 0 {
            return Ok(None);
        }
        let (Some(a), Some(b)) = (self.along(a, axis.var, rounds)?, self.along(b, axis.var, rounds)?) else {
            return Ok(None);
        };
        let run = match (a.is_many, b.is_many) {
            (true, false) => runs[0],
            (false, true) => runs[1],
            (true, true) => runs[2],
            (false, false) => return Ok(None),
        };
        let (start, stop) = (self.column(start, ty.bytes()), self.stop);
        let mut is_stopped = false;
        let sums = self.buffers.fill(rows * ty.bytes(), |sums| {
            sums.copy_from_slice(start.bytes());
            let mut from = 0;
            while from < rounds && !is_stopped {
                let count = LOOK_AFTER.min(rounds - from);
                run(sums, count, a.source(from), b.source(from));
                from += count;
                is_stopped = stop();
            }
        });
        self.buffers.give_back(start);
        if is_stopped {
            return Err(RunError::Stopped);
        }
        Ok(Some(smallvec![Value::Scalars(Scalars::Many(sums))]))
    }

    /// The elements that a read finds in all rounds, if they lie apart evenly.
    fn along(&mut self, read: &Read, counter: VarId, rounds: i64) -> Run<Option<Along<'a>>> {
        let array = self.array_of(read.array)?.clone();
        let Index::Dims(dims) = &read.index else { return Ok(None) };
        if dims.len() != array.view.rank() {
            return Ok(None);
        }
        let mut step = 0i64;
        for (index, dim) in dims.iter().zip(&array.view.dims) {
            let DimIndex::At(exp) = index else { return Ok(None) };
            let mut uses = false;
            exp.visit(&mut |part| uses |= matches!(part, Exp::Var(var) if *var == counter));
            match exp {
                Exp::Var(var) if *var == counter => step = step.saturating_add(dim.stride),
                _ if uses => return Ok(None),
                _ => {}
            }
        }
        // Where the first and the last element are inside, all are.
        self.bind(counter, Value::int(rounds - 1));
        self.place_in(&array.view, &array.across, &read.index)?;
        self.bind(counter, Value::int(0));
        let (first, across) = self.place_in(&array.view, &array.across, &read.index)?;
        let is_many = match across {
            Across::Same | Across::Stride(0) => false,
            Across::Stride(1) => true,
            Across::Stride(_) | Across::Each(_) => return Ok(None),
        };
        Ok(Some(Along { store: array.store.clone(), first: first.offset, step, is_many }))
    }
}
