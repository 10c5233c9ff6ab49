//! Loops on the way back: rounds are gone through from the last one. What a loop carries into each round is kept, and the round
//! executed again from it.
//!
//! A `while` counts its rounds first. What carries an array through its rounds only to replace elements of it is not kept:
//! the elements that were read before they were replaced are.

use super::super::super::ir::*;
use super::super::{Derive, Derived};
use super::adjoint::{Adjoint, Part};
use super::lean::lean_arrays;
use super::map::takes_whole;
use galopvm_base::{ElemType, ScalarOp};
use galopvm_bytecode::ValueType;

/// The type of numbers of rounds.
pub(super) const NUMBER: ValueType = ValueType::scalar(ElemType::I64);

/// What was kept of a statement.
#[derive(Clone, Debug)]
pub(in super::super) enum Kept {
    /// The rounds of a loop.
    Rounds(Rounds),
    /// Where rows came from.
    Places(Atom),
    /// The elements that rows were combined with.
    Before(Vec<Atom>),
}

/// The rounds of a loop.
#[derive(Clone, Debug)]
pub(in super::super) struct Rounds {
    /// How many there were.
    count: Atom,
    /// What was carried into each, where it was kept.
    carried: Vec<Option<Atom>>,
    /// What stands for variables of every round of which the extents alone matter.
    names: Vec<(Var, Atom)>,
    /// Variables of rounds that were kept by themselves.
    reads: Vec<(Var, Atom)>,
}

/// An array with an element for each round of what they add to an array.
struct OfRound {
    /// What is added to.
    var: Var,
    /// The array in the loop.
    param: Var,
    /// The extents of its elements.
    shape: Vec<Atom>,
    /// With the last one, what all of them are.
    part: Option<Part>,
}

impl Derive<'_> {
    /// Executes a loop that keeps what it carries.
    pub(super) fn keep_rounds(&mut self, stm: &Stm) -> Derived<()> {
        let (count, init, body, counters) = match &stm.op {
            Op::For { bound, init, body } => {
                let bound = self.value(*bound);
                let count = self.fun.size_op(ScalarOp::Max, bound, Atom::i64(0));
                (count, init, body, 1)
            }
            Op::While { init, cond, body } => (self.count_rounds(init, cond, body), init, body, 0),
            _ => return Ok(()),
        };
        let outer = self.again;
        self.again |= counters == 0;
        let init = self.all_values(init);
        let types = self.types(&stm.defs);
        let lean = lean_arrays(body, counters, &|var| !self.fun.vars[var].is_scalar());
        let whole: Vec<usize> = (0..init.len()).filter(|k| lean.iter().all(|l| l.position != *k)).collect();
        let reads: Vec<(Var, usize, usize)> =
            lean.iter().flat_map(|l| l.reads.iter().map(|(var, depth)| (*var, *depth, l.position))).collect();
        let mut kept: Vec<Atom> = whole.iter().map(|k| self.room_for_rounds(count, init[*k], 0)).collect();
        kept.extend(reads.iter().map(|(_, depth, k)| self.room_for_rounds(count, init[*k], *depth)));
        let deep: Vec<ValueType> = kept.iter().map(|a| self.fun.type_of(*a)).collect();
        let all: Vec<ValueType> = [&[NUMBER], types.as_slice(), &deep].concat();
        let params = self.fun.begin_repeated(&all);
        let (own, arrays) = params[1..].split_at(types.len());
        self.fun.natural(params[0]);
        for (k, own) in own.iter().enumerate() {
            self.check_extents(init[k], *own);
        }
        self.bind(&body.params, if counters == 1 { &params } else { own });
        let mut next: Vec<Atom> = Vec::new();
        let firsts: Vec<Atom> = whole.iter().map(|k| own[*k]).collect();
        self.keep_in_round(params[0], arrays, &kept, &firsts, &mut next);
        self.copy_stms(&body.stms);
        let read: Vec<Atom> = reads.iter().map(|(var, ..)| self.value(Atom::Var(*var))).collect();
        self.keep_in_round(params[0], &arrays[whole.len()..], &kept[whole.len()..], &read, &mut next);
        let mut results = self.all_values(&body.results);
        results.extend(next);
        let body = self.fun.end(results);
        self.again = outer;
        let op = Op::For { bound: count, init: [init.as_slice(), &kept].concat(), body };
        let atoms = self.fun.emit_all(op, &all[1..]);
        let (values, made) = atoms.split_at(types.len());
        self.bind(&stm.defs, values);
        let mut carried = vec![None; types.len()];
        whole.iter().zip(made).for_each(|(k, array)| carried[*k] = Some(*array));
        let names = lean.iter().flat_map(|l| l.names.iter().map(|name| (*name, init[l.position]))).collect();
        let reads = reads.iter().map(|(var, ..)| *var).zip(made[whole.len()..].iter().copied()).collect();
        let rounds = Rounds { count, carried, names, reads };
        self.back.kept.extend(stm.defs.first().map(|def| (*def, Kept::Rounds(rounds))));
        Ok(())
    }

    /// An array for a value of each round: one like this, or elements of it.
    fn room_for_rounds(&mut self, count: Atom, like: Atom, depth: usize) -> Atom {
        let (ty, shape) = (self.fun.type_of(like), self.fun.shape(like));
        let row = self.fun.zeros_of(ty.elem, shape.get(depth..).unwrap_or(&[]));
        self.fun.copies(count, row)
    }

    /// Keeps values of a round in arrays with the extents of others.
    fn keep_in_round(
        &mut self,
        round: Atom,
        arrays: &[Atom],
        like: &[Atom],
        values: &[Atom],
        next: &mut Vec<Atom>,
    ) {
        for ((array, like), value) in arrays.iter().zip(like).zip(values) {
            let shape = self.fun.shape(*like);
            self.fun.know_shape(*array, &shape);
            let with = self.fun.with(*array, &[SliceDim::At(round)], *value);
            self.fun.sure.extend(with.var());
            next.push(with);
        }
    }

    /// What is kept of all rounds has one shape. A loop that carries arrays of other extents into later rounds ends here.
    fn check_extents(&mut self, before: Atom, now: Atom) {
        for d in 0..self.fun.type_of(now).rank as u32 {
            let (was, is) = (self.fun.dim(before, d), self.fun.dim(now, d));
            let same = self.fun.size_op(ScalarOp::Eq, was, is);
            if self.fun.fact(same) != Some(true) {
                let message = "The derivative of a loop in which arrays change their sizes: from {} to {}.";
                self.fun.emit_all(
                    Op::Assert { cond: same, message: message.to_string(), args: vec![was, is] },
                    &[],
                );
                self.fun.know(now, d, was);
            }
        }
    }

    /// Executes a `while` for the number of its rounds.
    fn count_rounds(&mut self, init: &[Atom], cond: &Block, body: &Block) -> Atom {
        let mut all = self.all_values(init);
        all.push(Atom::i64(0));
        let types: Vec<ValueType> = all.iter().map(|a| self.fun.type_of(*a)).collect();
        let params = self.fun.begin_repeated(&types);
        self.bind(&cond.params, &params);
        self.copy_stms(&cond.stms);
        let results = self.all_values(&cond.results);
        let cond = self.fun.end(results);
        let params = self.fun.begin_repeated(&types);
        self.bind(&body.params, &params);
        self.copy_stms(&body.stms);
        let mut results = self.all_values(&body.results);
        let count = params.last().copied().unwrap_or(Atom::i64(0));
        results.push(self.fun.size_op(ScalarOp::Add, count, Atom::i64(1)));
        let body = self.fun.end(results);
        let atoms = self.fun.emit_all(Op::While { init: all, cond, body }, &types);
        let count = atoms.last().copied().unwrap_or(Atom::i64(0));
        self.fun.natural(count);
        count
    }

    pub(super) fn back_rounds(
        &mut self,
        stm: &Stm,
        init: &[Atom],
        (body, counters): (&Block, usize),
        adjoints: &[Option<Atom>],
    ) -> Derived<()> {
        let kept = stm.defs.first().and_then(|def| self.back.kept.get(def)).cloned();
        let Some(Kept::Rounds(Rounds { count, carried, names, reads })) = kept else {
            return self.refuse(stm, "this loop");
        };
        let own: Vec<usize> = (0..init.len()).filter(|k| self.activity.var(stm.defs[*k])).collect();
        // In a map, an array for each row would be more than what is added to it.
        let (apart, free): (Vec<Var>, Vec<Var>) =
            self.free(&[body]).into_iter().partition(|var| self.depth > 0 && !takes_whole(body, *var));
        let (apart, scalars): (Vec<Var>, Vec<Var>) =
            apart.into_iter().partition(|var| !self.fun.vars[*var].is_scalar());
        let free = [free, scalars].concat();
        let mut start: Vec<Atom> = Vec::new();
        for k in &own {
            start.push(match adjoints[*k] {
                Some(adjoint) => adjoint,
                None => self.zeros_for(stm.defs[*k]),
            });
        }
        for var in &free {
            let adjoint = self.take_or_zeros(*var);
            start.push(adjoint);
        }
        let outer = (std::mem::take(&mut self.back.adjoints), std::mem::replace(&mut self.again, true));
        let params = self.fun.begin_loop(&start);
        let last = self.fun.size_op(ScalarOp::Sub, count, Atom::i64(1));
        let round = self.fun.size_op(ScalarOp::Sub, last, params[0]);
        let mut given = vec![round; counters];
        for (k, array) in carried.iter().enumerate() {
            given.push(match array {
                Some(array) => self.fun.row_at(*array, &[round]),
                None => self.value(init[k]),
            });
        }
        self.back.known.extend(names.iter().copied());
        for (var, array) in &reads {
            let value = self.fun.row_at(*array, &[round]);
            self.back.known.insert(*var, value);
        }
        self.bind(&body.params, &given);
        let (moved, sums) = params[1..].split_at(own.len());
        for (var, sum) in free.iter().zip(sums) {
            self.back.adjoints.insert(*var, Adjoint { whole: Some(*sum), parts: Vec::new() });
        }
        self.onward_stms(&body.stms)?;
        for (k, adjoint) in own.iter().zip(moved) {
            self.contribute(body.results[*k], *adjoint);
        }
        self.back_stms(&body.stms)?;
        let mut results = Vec::new();
        for k in &own {
            let adjoint = self.take_or_zeros(body.params[counters + k]);
            results.push(adjoint);
        }
        for var in &free {
            let adjoint = self.take_or_zeros(*var);
            results.push(adjoint);
        }
        names.iter().chain(&reads).for_each(|(var, _)| {
            self.back.known.remove(var);
        });
        let mut added = Vec::new();
        for var in &apart {
            let left = self.leave(*var);
            added.extend(self.keep_parts(*var, left, round, &mut results));
        }
        let mut block = self.fun.end_sure(results);
        block.params.extend(added.iter().map(|kept| kept.param));
        (self.back.adjoints, self.again) = outer;
        for kept in &added {
            let ty = self.fun.vars[kept.param];
            let shape = [&[count], kept.shape.as_slice()].concat();
            start.push(self.fun.zeros_of(ty.elem, &shape));
        }
        self.stand_at(stm);
        let atoms = self.fun.end_loop(count, start, block);
        let (moved, sums) = atoms.split_at(own.len());
        for (var, sum) in free.iter().zip(sums) {
            self.back.adjoints.insert(*var, Adjoint { whole: Some(*sum), parts: Vec::new() });
        }
        self.take_parts(added, count, &sums[free.len()..]);
        for (k, adjoint) in own.iter().zip(moved) {
            self.contribute(init[*k], *adjoint);
        }
        Ok(())
    }

    /// Keeps what a round adds to elements of an array, in arrays with an element for each round.
    fn keep_parts(&mut self, var: Var, left: Adjoint, round: Atom, results: &mut Vec<Atom>) -> Vec<OfRound> {
        let array = self.value(Atom::Var(var));
        let all = self.fun.shape(array);
        let mut kept = Vec::new();
        let whole = left.whole.map(|value| Part::at(Vec::new(), value));
        for part in whole.into_iter().chain(left.parts) {
            for (k, atom) in part.atoms().into_iter().enumerate() {
                let param = self.fun.var(self.fun.type_of(atom).array_of());
                let next = self.fun.with(Atom::Var(param), &[SliceDim::At(round)], atom);
                results.push(next);
                let mut shape = part.extents.clone();
                if k == part.index.len() {
                    shape.extend_from_slice(&all[part.index.len().min(all.len())..]);
                }
                let part = (k == part.index.len()).then(|| part.clone());
                kept.push(OfRound { var, param, shape, part });
            }
        }
        kept
    }

    /// Adds what rounds added to elements of arrays.
    fn take_parts(&mut self, kept: Vec<OfRound>, count: Atom, arrays: &[Atom]) {
        let mut atoms = Vec::new();
        for (kept, array) in kept.into_iter().zip(arrays) {
            let shape = [&[count], kept.shape.as_slice()].concat();
            self.fun.know_shape(*array, &shape);
            atoms.push(*array);
            let Some(part) = kept.part else { continue };
            let mut part = part.with_atoms(&std::mem::take(&mut atoms));
            if part.index.is_empty() {
                let sum = self.fun.sum_rows(part.value);
                self.contribute(Atom::Var(kept.var), sum);
                continue;
            }
            part.extents.insert(0, count);
            self.contribute_part(kept.var, part);
        }
    }

    /// The variables of a loop over rows in the place of a reduction: its counter's type.
    pub(super) fn counter(&mut self) -> Var {
        self.fun.var(NUMBER)
    }
}
