//! Writes at computed places, and rows that are chosen, on the way back.

use super::super::super::ir::*;
use super::super::code::{arrays_of, zero};
use super::super::{Derive, Derived, activity};
use super::adjoint::{Adjoint, Part};
use super::combine::{Kind, kind};
use super::loops::Kept;
use super::map::Rows;
use galopvm_base::{ElemType, ScalarOp};
use galopvm_bytecode::ValueType;

const NUMBER: ValueType = ValueType::scalar(ElemType::I64);

/// A histogram.
#[derive(Clone, Copy)]
pub(super) struct Hist<'s> {
    pub width: Atom,
    pub dests: &'s [Var],
    pub neutral: &'s [Atom],
    pub index: &'s [Var],
    pub values: &'s [Var],
    pub op: &'s Block,
}

fn hist(op: &Op) -> Option<Hist<'_>> {
    match op {
        Op::Hist { width, dests, neutral, index, values, op } => {
            Some(Hist { width: *width, dests, neutral, index, values, op })
        }
        _ => None,
    }
}

impl Derive<'_> {
    /// Executes a filter or partition that also tells where each row came from.
    pub(super) fn keep_places(&mut self, stm: &Stm) -> Derived<()> {
        let mut op = self.copy_op(&stm.op);
        let (Op::Filter { width, arrays, body } | Op::Partition { width, arrays, body, .. }) = &mut op else {
            return Ok(());
        };
        let numbers = self.fun.numbers(*width);
        arrays.extend(numbers.var());
        body.params.push(self.fun.var(NUMBER));
        let mut types = self.types(&stm.defs);
        types.push(NUMBER.array_of());
        let mut atoms = self.fun.emit_all(op, &types);
        let places = atoms.pop().unwrap_or(numbers);
        self.bind(&stm.defs, &atoms);
        self.back.kept.extend(stm.defs.first().map(|def| (*def, Kept::Places(places))));
        Ok(())
    }

    pub(super) fn back_places(
        &mut self,
        stm: &Stm,
        arrays: &[Var],
        adjoints: &[Option<Atom>],
    ) -> Derived<()> {
        let kept = stm.defs.first().and_then(|def| self.back.kept.get(def)).cloned();
        let Some(Kept::Places(places)) = kept else { return self.refuse(stm, "this operator") };
        let numbers = stm.defs.len().saturating_sub(arrays.len());
        let width = self.fun.dim(places, 0);
        for (array, adjoint) in arrays.iter().zip(&adjoints[numbers..]) {
            if let Some(value) = *adjoint {
                let part = Part { index: vec![places], value, extents: vec![width], may_miss: false };
                self.contribute_part(*array, part);
            }
        }
        Ok(())
    }

    /// Where a value was written, the one that stayed has the adjoint, and what was there before has none.
    pub(super) fn back_scatter(
        &mut self,
        [dests, index, values]: [&[Var]; 3],
        adjoints: &[Option<Atom>],
    ) -> Derived<()> {
        let index = self.all_values(&activity::vars(index));
        let Some(dest) = dests.first().map(|dest| self.value(Atom::Var(*dest))) else { return Ok(()) };
        let Some(width) = index.first().map(|at| self.fun.dim(*at, 0)) else { return Ok(()) };
        let mut last = None;
        for (k, adjoint) in adjoints.iter().enumerate() {
            let Some(adjoint) = *adjoint else { continue };
            if self.activity.var(values[k]) {
                let last = *last.get_or_insert_with(|| self.last_writes(dest, width, &index));
                let moved = self.gathered(width, &index, adjoint, Some(last));
                self.contribute(Atom::Var(values[k]), moved);
            }
            if self.activity.var(dests[k]) {
                let value = self.value(Atom::Var(values[k]));
                let none = self.fun.zeros_like(value);
                let rest = self.written(width, adjoint, &index, none);
                self.contribute(Atom::Var(dests[k]), rest);
            }
        }
        Ok(())
    }

    /// An array with values written at indices.
    fn written(&mut self, width: Atom, dest: Atom, index: &[Atom], values: Atom) -> Atom {
        let (ty, shape) = (self.fun.type_of(dest), self.fun.shape(dest));
        let (dests, index, values) = (arrays_of(&[dest]), arrays_of(index), arrays_of(&[values]));
        let op = Op::Scatter { width, dests, index, values };
        let written = self.fun.emit_all(op, &[ty]).pop().unwrap_or(dest);
        self.fun.know_shape(written, &shape);
        written
    }

    /// For each place that indices may mean, the number of the last one that does.
    fn last_writes(&mut self, dest: Atom, width: Atom, index: &[Atom]) -> Atom {
        let shape = self.fun.shape(dest);
        let none = self.fun.zeros_of(ElemType::I64, &shape[..index.len().min(shape.len())]);
        let numbers = self.fun.numbers(width);
        self.written(width, none, index, numbers)
    }

    /// The rows of an array at indices, zeros outside; where numbers are given, also for all but the index with that number.
    fn gathered(&mut self, width: Atom, index: &[Atom], array: Atom, last: Option<Atom>) -> Atom {
        let (ty, shape) = (self.fun.type_of(array), self.fun.shape(array));
        let row = ValueType { rank: ty.rank.saturating_sub(index.len() as u8), ..ty };
        let extents = shape.get(index.len()..).unwrap_or(&[]).to_vec();
        let numbers = self.fun.numbers(width);
        let rows = [&[numbers], index].concat();
        self.fun.map_rows(width, &rows, &mut |fun, params| {
            let (number, index) = (params[0], &params[1..]);
            let inside = fun.inside(array, index);
            let chosen = fun.choose(
                inside,
                row,
                &mut |fun| {
                    let value = fun.row_at(array, index);
                    let Some(last) = last else { return value };
                    let winner = fun.row_at(last, index);
                    let wins = fun.size_op(ScalarOp::Eq, winner, number);
                    if row.is_scalar() {
                        return fun.scalar(ScalarOp::Select, row.elem, &[wins, value, zero(row.elem)]);
                    }
                    let extents = extents.clone();
                    fun.choose(wins, row, &mut |_| value, &mut |fun| fun.zeros_of(row.elem, &extents))
                },
                &mut |fun| fun.zeros_of(row.elem, &extents),
            );
            fun.know_shape(chosen, &extents);
            chosen
        })
    }

    /// A histogram: sums need nothing but their places; other operators are applied row by row, and the elements before are kept.
    pub(super) fn onward_hist(&mut self, stm: &Stm) -> Derived<()> {
        let Some(hist) = hist(&stm.op) else { return Ok(()) };
        if kind(hist.op) == Kind::Sum {
            self.copy_stm(stm);
            return Ok(());
        }
        let dests = self.all_values(&activity::vars(hist.dests));
        let values = self.all_values(&activity::vars(hist.values));
        let index = self.all_values(&activity::vars(hist.index));
        let width = self.value(hist.width);
        let types = self.types(&stm.defs);
        let mut init = dests.clone();
        for value in &values {
            init.push(self.fun.zeros_like(*value));
        }
        let all: Vec<ValueType> = init.iter().map(|a| self.fun.type_of(*a)).collect();
        let params = self.fun.begin_loop(&init);
        let round = params[0];
        let at: Vec<Atom> = index.iter().map(|index| self.fun.row_at(*index, &[round])).collect();
        let inside = self.fun.inside(dests[0], &at);
        self.fun.begin(&[]);
        let (own, before) = params[1..].split_at(dests.len());
        let mut given: Vec<Atom> = own.iter().map(|dest| self.fun.row_at(*dest, &at)).collect();
        let mut kept = Vec::new();
        for (array, element) in before.iter().zip(&given) {
            kept.push(self.fun.with(*array, &[SliceDim::At(round)], *element));
        }
        for value in &values {
            given.push(self.fun.row_at(*value, &[round]));
        }
        self.bind(&hist.op.params, &given);
        self.copy_stms(&hist.op.stms);
        let dims: Vec<SliceDim> = at.iter().map(|at| SliceDim::At(*at)).collect();
        let mut results = Vec::new();
        for (dest, result) in own.iter().zip(&hist.op.results) {
            let element = self.value(*result);
            results.push(self.fun.with(*dest, &dims, element));
        }
        results.extend(kept);
        let sure: Vec<Var> = arrays_of(&results);
        self.fun.sure.extend(sure);
        let then = self.fun.end(results);
        let otherwise = Block { results: params[1..].to_vec(), ..Block::default() };
        let results = self.fun.emit_all(Op::If { cond: inside, then, otherwise }, &all);
        let body = self.fun.end(results);
        let atoms = self.fun.end_loop(width, init, body);
        let (made, before) = atoms.split_at(types.len());
        self.bind(&stm.defs, made);
        self.back.kept.extend(stm.defs.first().map(|def| (*def, Kept::Before(before.to_vec()))));
        Ok(())
    }

    pub(super) fn back_hist(&mut self, stm: &Stm, adjoints: &[Option<Atom>]) -> Derived<()> {
        let Some(hist) = hist(&stm.op) else { return Ok(()) };
        if kind(hist.op) != Kind::Sum {
            return self.back_rounds_of_hist(stm, &hist, adjoints);
        }
        let (width, index) = (self.value(hist.width), self.all_values(&activity::vars(hist.index)));
        for (k, adjoint) in adjoints.iter().enumerate() {
            let Some(adjoint) = *adjoint else { continue };
            self.contribute(Atom::Var(hist.dests[k]), adjoint);
            if self.activity.var(hist.values[k]) {
                let moved = self.gathered(width, &index, adjoint, None);
                self.contribute(Atom::Var(hist.values[k]), moved);
            }
        }
        Ok(())
    }

    /// A histogram by any operator: row by row from the last one, with the elements that were there before.
    fn back_rounds_of_hist(&mut self, stm: &Stm, hist: &Hist<'_>, adjoints: &[Option<Atom>]) -> Derived<()> {
        let kept = stm.defs.first().and_then(|def| self.back.kept.get(def)).cloned();
        let Some(Kept::Before(before)) = kept else { return self.refuse(stm, "this operator") };
        let own: Vec<usize> = (0..stm.defs.len()).filter(|k| self.activity.var(stm.defs[*k])).collect();
        if own.is_empty() {
            return Ok(());
        }
        let free = self.free(&[hist.op]);
        let (index, values) =
            (self.all_values(&activity::vars(hist.index)), self.all_values(&activity::vars(hist.values)));
        let width = self.value(hist.width);
        let mut start: Vec<Atom> = Vec::new();
        for k in &own {
            start.push(adjoints[*k].unwrap_or_else(|| self.zeros_for(stm.defs[*k])));
        }
        for k in &own {
            start.push(self.fun.zeros_like(values[*k]));
        }
        for var in &free {
            let adjoint = self.take_or_zeros(*var);
            start.push(adjoint);
        }
        let types: Vec<ValueType> = start.iter().map(|a| self.fun.type_of(*a)).collect();
        let outer = (std::mem::take(&mut self.back.adjoints), std::mem::replace(&mut self.again, true));
        let params = self.fun.begin_loop(&start);
        let last = self.fun.size_op(ScalarOp::Sub, width, Atom::i64(1));
        let round = self.fun.size_op(ScalarOp::Sub, last, params[0]);
        let at: Vec<Atom> = index.iter().map(|index| self.fun.row_at(*index, &[round])).collect();
        let inside = self.fun.inside(params[1], &at);
        self.fun.begin(&[]);
        let mut given = Vec::new();
        for array in before.iter().chain(&values) {
            given.push(self.fun.row_at(*array, &[round]));
        }
        self.bind(&hist.op.params, &given);
        let results = self.back_one(hist, (&own, &free), (&at, round), &params[1..])?;
        let then = self.fun.end_sure(results);
        let otherwise = Block { results: params[1..].to_vec(), ..Block::default() };
        let results = self.fun.emit_all(Op::If { cond: inside, then, otherwise }, &types);
        let body = self.fun.end_sure(results);
        (self.back.adjoints, self.again) = outer;
        let atoms = self.fun.end_loop(width, start, body);
        let mut left = vec![None; stm.defs.len()];
        for (n, k) in own.iter().enumerate() {
            left[*k] = Some(atoms[n]);
            self.contribute(Atom::Var(hist.values[*k]), atoms[own.len() + n]);
        }
        for (dest, adjoint) in hist.dests.iter().zip(self.back_to_dests(hist, left)?) {
            adjoint.iter().for_each(|adjoint| self.contribute(Atom::Var(*dest), *adjoint));
        }
        for (var, sum) in free.iter().zip(&atoms[2 * own.len()..]) {
            self.back.adjoints.insert(*var, Adjoint { whole: Some(*sum), parts: Vec::new() });
        }
        Ok(())
    }

    /// The way back through one row: adjoints of the destinations, of all rows, and of free variables.
    fn back_one(
        &mut self,
        hist: &Hist<'_>,
        (own, free): (&[usize], &[Var]),
        (at, round): (&[Atom], Atom),
        carried: &[Atom],
    ) -> Derived<Vec<Atom>> {
        let n = own.len();
        for (var, sum) in free.iter().zip(&carried[2 * n..]) {
            self.back.adjoints.insert(*var, Adjoint { whole: Some(*sum), parts: Vec::new() });
        }
        self.onward_stms(&hist.op.stms)?;
        for (k, dest) in own.iter().zip(carried) {
            let element = self.fun.row_at(*dest, at);
            self.contribute(hist.op.results[*k], element);
        }
        self.back_stms(&hist.op.stms)?;
        let (before, items) = hist.op.params.split_at(hist.dests.len());
        let dims: Vec<SliceDim> = at.iter().map(|at| SliceDim::At(*at)).collect();
        let mut results = Vec::new();
        for (n, k) in own.iter().enumerate() {
            let element = self.take_or_zeros(before[*k]);
            results.push(self.fun.with(carried[n], &dims, element));
        }
        for (m, k) in own.iter().enumerate() {
            let row = self.take_or_zeros(items[*k]);
            results.push(self.fun.with(carried[n + m], &[SliceDim::At(round)], row));
        }
        for var in free {
            let adjoint = self.take_or_zeros(*var);
            results.push(adjoint);
        }
        Ok(results)
    }

    /// Accumulators whose writes are sums: their adjoints are the same before and behind, and each write's values have that of
    /// the place.
    pub(super) fn back_stream(
        &mut self,
        stm: &Stm,
        (width, body): (Atom, &Block),
        [accs, arrays]: [&[Var]; 2],
        adjoints: &[Option<Atom>],
    ) -> Derived<()> {
        let mut whole = Vec::new();
        for (def, adjoint) in stm.defs.iter().zip(adjoints) {
            whole.push(adjoint.unwrap_or_else(|| self.zeros_for(*def)));
        }
        let (own, rows) = body.params.split_at(accs.len());
        let values = self.all_values(&activity::vars(accs));
        self.bind(own, &values);
        // A row takes the accumulators' adjoints from outside, and gives none back.
        let inner = Block { params: rows.to_vec(), stms: body.stms.clone(), results: Vec::new() };
        let back = self.back_rows(Rows {
            width: self.value(width),
            body: &inner,
            arrays: self.all_values(&activity::vars(arrays)),
            adjoints: Vec::new(),
            given: body.results.iter().copied().zip(whole.iter().copied()).collect(),
            wanted: arrays.iter().map(|array| self.activity.var(*array)).collect(),
            free: self.free(&[&inner]).into_iter().filter(|var| !own.contains(var)).collect(),
        })?;
        for (array, adjoint) in arrays.iter().zip(back) {
            adjoint.iter().for_each(|adjoint| self.contribute(Atom::Var(*array), *adjoint));
        }
        for (acc, adjoint) in accs.iter().zip(whole) {
            self.contribute(Atom::Var(*acc), adjoint);
        }
        Ok(())
    }

    pub(super) fn back_acc_write(
        &mut self,
        stm: &Stm,
        (accs, op): (&[Var], &Block),
        [index, values]: [&[Atom]; 2],
        adjoints: &[Option<Atom>],
    ) -> Derived<()> {
        if kind(op) != Kind::Sum {
            return self.refuse(stm, "an accumulator whose writes are not sums");
        }
        let index = self.all_values(index);
        for (k, adjoint) in adjoints.iter().enumerate() {
            let Some(adjoint) = *adjoint else { continue };
            self.contribute(Atom::Var(accs[k]), adjoint);
            if self.activity.atom(values[k]) {
                let value = self.value(values[k]);
                let (ty, shape) = (self.fun.type_of(value), self.fun.shape(value));
                let inside = self.fun.inside(adjoint, &index);
                let moved = self.fun.choose(inside, ty, &mut |fun| fun.row_at(adjoint, &index), &mut |fun| {
                    fun.zeros_of(ty.elem, &shape)
                });
                self.fun.know_shape(moved, &shape);
                self.contribute(values[k], moved);
            }
        }
        Ok(())
    }
}
