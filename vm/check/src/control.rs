//! Kernels, loops and branches.
//!
//! The iterations of a kernel are strands in no order; so are the applications of an operator. A loop goes round by
//! round. What a loop of unknown length does is followed until a round begins with everything as it was at the beginning
//! of an earlier one. Of a branch that nobody knows, both sides are followed.

use crate::form::Form;
use crate::statement::mark_of;
use crate::store::{Step, Stop, Store};
use crate::view::{Change, Way};
use crate::walk::{Bound, Walk};
use galopvm_base::{Scalar, TypedId};
use galopvm_kir::{Axis, Body, Combine, Exp, Rhs, Stm, VarId};
use smallvec::SmallVec;

/// Rounds of a loop of unknown length that are followed at most.
const MOST_ROUNDS: usize = 8;

/// Rounds that are followed one by one although nothing is made in them.
const FEW_ROUNDS: i64 = 4;

/// A loop that goes on for nobody knows how long.
struct Rounds<'a> {
    carried: &'a [VarId],
    counter: Option<VarId>,
    cond: Option<&'a Exp>,
    body: &'a Body,
    since: (usize, usize),
    seen: Vec<Vec<u64>>,
}

impl<'a, S: Store> Walk<'a, S> {
    /// Executes a statement with bodies.
    pub fn control(&mut self, stm: &'a Stm) -> Step<()> {
        match &stm.rhs {
            Rhs::Kernel { axes, body } => self.kernel(stm, axes, body),
            Rhs::Reduce { axes, body, combine } => {
                if stm.pat.iter().any(|var| self.is_array(*var)) {
                    return Err(Stop::TooLarge("a reduction of arrays"));
                }
                self.neutral(combine)?;
                self.strands(axes, Some(combine), &mut |walk| {
                    walk.body(body)?;
                    walk.values(&body.results).map(drop)
                })?;
                for var in &stm.pat {
                    self.names[var.index()] = Bound::Unknown(None);
                }
                Ok(())
            }
            Rhs::Scan { axis, body, combine } => {
                let mut made = Vec::new();
                for var in &stm.pat {
                    made.push(self.make(*var, None)?);
                }
                if combine.neutral.iter().any(|exp| matches!(exp, Exp::Var(var) if self.is_array(*var))) {
                    return Err(Stop::TooLarge("a scan of arrays"));
                }
                self.neutral(combine)?;
                let axes = std::slice::from_ref(axis);
                self.strands(axes, Some(combine), &mut |walk| {
                    walk.body(body)?;
                    walk.values(&body.results)?;
                    made.iter().try_for_each(|(array, is_sized)| {
                        if !is_sized {
                            return Ok(());
                        }
                        let row = walk.row(array, axes)?;
                        walk.store.assign(&row, None, false)
                    })
                })?;
                self.made(&stm.pat, made)
            }
            Rhs::Scatter { arrays, axes, body, combine } => {
                let mut made = Vec::new();
                for (var, array) in stm.pat.iter().zip(arrays) {
                    made.push(self.start_update(*var, *array)?);
                }
                if let Some(combine) = combine {
                    self.neutral(combine)?;
                }
                self.store.begin();
                self.store.strand(0);
                self.strands(axes, combine.as_ref(), &mut |walk| {
                    walk.body(body)?;
                    walk.values(&body.results).map(drop)
                })?;
                self.store.strand(1);
                for array in &made {
                    let somewhere = self.part_of(array, &Change::Somewhere)?;
                    self.store.assign(&somewhere, None, false)?;
                }
                self.store.end()?;
                for (var, array) in stm.pat.iter().zip(made) {
                    self.set(*var, array);
                }
                Ok(())
            }
            Rhs::For { carried, init, axis, body } => self.count(stm, (carried, init), axis, body),
            Rhs::While { carried, init, cond, body } => {
                self.first(carried, init)?;
                let values = match self.is_quiet(body) && !carried.iter().any(|var| self.is_array(*var)) {
                    true => {
                        // Whatever the scalars are, all rounds read the same.
                        self.forget(carried);
                        self.scalar(cond)?;
                        self.body(body)?;
                        self.values(&body.results)?;
                        carried.iter().map(|_| Bound::Unknown(None)).collect()
                    }
                    false if self.stays(carried) => self.induction(carried, None, Some(cond), body)?,
                    false => self.unknown_rounds(carried, None, Some(cond), body)?,
                };
                self.bind_all(&stm.pat, values)
            }
            Rhs::If { cond, then, otherwise } => self.branch(stm, cond, then, otherwise),
            Rhs::Exps(_) | Rhs::Update { .. } | Rhs::Manifest { .. } | Rhs::Array(_) => Ok(()),
        }
    }

    /// Binds names to values that are there.
    fn bind_all(&mut self, vars: &[VarId], values: Vec<Bound<S>>) -> Step<()> {
        vars.iter().zip(values).try_for_each(|(var, value)| self.bind_value(*var, value))
    }

    fn neutral(&mut self, combine: &'a Combine) -> Step<()> {
        self.values(&combine.neutral).map(drop)
    }

    /// Nothing is known of scalars among some names.
    fn forget(&mut self, vars: &[VarId]) {
        for var in vars {
            if !self.is_array(*var) {
                self.names[var.index()] = Bound::Unknown(None);
            }
        }
    }

    /// Goes through iterations in no order, and through applications of an operator among them.
    fn strands(
        &mut self,
        axes: &'a [Axis],
        combine: Option<&'a Combine>,
        once: &mut dyn FnMut(&mut Self) -> Step<()>,
    ) -> Step<()> {
        let mut bounds = Vec::new();
        for axis in axes {
            let value = self.scalar(&axis.bound)?;
            bounds.push(match value {
                Bound::Number(value) => Some(value.as_i64().max(0)),
                _ => None,
            });
        }
        let known: Option<Vec<i64>> = bounds.into_iter().collect();
        if known.as_ref().is_some_and(|bounds| bounds.contains(&0)) {
            return Ok(());
        }
        self.store.begin();
        self.kernels += 1;
        let depth = self.around.len();
        let next = match known {
            // Two of them, of which nothing is known.
            None => {
                self.around.extend(axes.iter().map(|axis| (axis.var, None)));
                for strand in 0..2 {
                    self.store.strand(strand);
                    for axis in axes {
                        self.names[axis.var.index()] = Bound::Unknown(None);
                    }
                    once(self)?;
                }
                2
            }
            Some(bounds) if S::SWEEPS => {
                self.store.strand(0);
                let mut opened = 0;
                for (axis, bound) in axes.iter().zip(&bounds) {
                    self.names[axis.var.index()] = match bound {
                        1 => Bound::Number(Scalar::i64(0)),
                        _ => {
                            opened += 1;
                            Bound::Moving(Form::axis(self.store.open(*bound, true)))
                        }
                    };
                    self.around.push((axis.var, None));
                }
                once(self)?;
                for _ in 0..opened {
                    self.store.close()?;
                }
                1
            }
            Some(bounds) => self.one_by_one(axes, &bounds, once)?,
        };
        self.around.truncate(depth);
        if let Some(combine) = combine {
            for more in 0..2 {
                self.store.strand(next + more);
                for var in combine.acc.iter().chain(&combine.item) {
                    if self.is_array(*var) {
                        return Err(Stop::TooLarge("an operator on arrays"));
                    }
                    self.names[var.index()] = Bound::Unknown(None);
                }
                self.body(&combine.body)?;
                self.values(&combine.body.results)?;
            }
        }
        self.kernels -= 1;
        self.store.end()
    }

    /// Every iteration; gives their number.
    fn one_by_one(
        &mut self,
        axes: &[Axis],
        bounds: &[i64],
        once: &mut dyn FnMut(&mut Self) -> Step<()>,
    ) -> Step<u32> {
        let mut at = vec![0i64; bounds.len()];
        let depth = self.around.len();
        self.around.extend(axes.iter().map(|axis| (axis.var, Some(0))));
        for strand in 0.. {
            self.store.strand(strand);
            for (k, axis) in axes.iter().enumerate() {
                self.names[axis.var.index()] = Bound::Number(Scalar::i64(at[k]));
                self.around[depth + k].1 = Some(at[k]);
            }
            once(self)?;
            let Some(k) = (0..at.len()).rev().find(|k| at[*k] + 1 < bounds[*k]) else {
                return Ok(strand + 1);
            };
            at[k] += 1;
            at[k + 1..].fill(0);
        }
        Ok(0)
    }

    /// The row of an array that belongs to the iteration that is under way.
    fn row(&mut self, array: &S::Array, axes: &[Axis]) -> Step<S::Array> {
        let number = |axis: &Axis| match &self.names[axis.var.index()] {
            Bound::Number(value) => Some(value.as_i64()),
            _ => None,
        };
        let index = axes.iter().map(number).collect::<Option<SmallVec<[i64; 4]>>>();
        if let Some(row) = index.and_then(|index| self.store.row(array, &index)) {
            return Ok(row);
        }
        let way = |axis: &Axis| match &self.names[axis.var.index()] {
            Bound::Number(value) => Way::At(Form::number(value.as_i64())),
            Bound::Moving(form) => Way::At(form.clone()),
            _ => Way::Some,
        };
        let change = Change::Index(axes.iter().map(way).collect());
        self.part_of(array, &change)
    }

    /// Binds arrays that strands gave their elements; those without a size get them now.
    fn made(&mut self, vars: &[VarId], made: Vec<(S::Array, bool)>) -> Step<()> {
        for (var, (array, is_sized)) in vars.iter().zip(made) {
            if !is_sized {
                self.store.assign(&array, None, true)?;
            }
            self.set(*var, array);
        }
        Ok(())
    }

    fn kernel(&mut self, stm: &'a Stm, axes: &'a [Axis], body: &'a Body) -> Step<()> {
        let mut made = Vec::new();
        for var in &stm.pat {
            made.push(match self.decisions.over.get(var) {
                Some(array) => {
                    let array = self.named(*array)?;
                    self.take_over(*var, &array)?
                }
                None => self.make(*var, None)?,
            });
        }
        self.strands(axes, None, &mut |walk| {
            walk.body(body)?;
            if let Some(var) = stm.pat.first() {
                walk.begins(*var);
            }
            for ((array, is_sized), exp) in made.iter().zip(&body.results) {
                let row = if *is_sized { Some(walk.row(array, axes)?) } else { None };
                match (walk.array(exp)?, row) {
                    (Some((from, name)), Some(row)) => walk.store.copy((&from, name), &row, false)?,
                    (Some((from, name)), None) => drop(walk.store.read(&from, name)?),
                    (None, row) => {
                        let value = walk.scalar(exp)?;
                        if let Some(row) = row {
                            walk.store.assign(&row, mark_of(&value), false)?;
                        }
                    }
                }
            }
            Ok(())
        })?;
        self.made(&stm.pat, made)
    }

    /// The first values of what a loop carries.
    fn first(&mut self, carried: &[VarId], init: &'a [Exp]) -> Step<()> {
        let values = self.values(init)?;
        self.bind_all(carried, values)
    }

    fn count(
        &mut self,
        stm: &'a Stm,
        (carried, init): (&'a [VarId], &'a [Exp]),
        axis: &'a Axis,
        body: &'a Body,
    ) -> Step<()> {
        let trips = match self.scalar(&axis.bound)? {
            Bound::Number(value) => Some(value.as_i64().max(0)),
            _ => None,
        };
        self.first(carried, init)?;
        let depth = self.around.len();
        let is_quiet = self.is_quiet(body) && !carried.iter().any(|var| self.is_array(*var));
        let values = match trips {
            Some(trips) if S::SWEEPS && is_quiet && trips > FEW_ROUNDS => {
                let at = self.store.open(trips, false);
                self.around.push((axis.var, None));
                self.names[axis.var.index()] = Bound::Moving(Form::axis(at));
                self.forget(carried);
                self.body(body)?;
                self.values(&body.results)?;
                self.store.close()?;
                stm.pat.iter().map(|_| Bound::Unknown(None)).collect()
            }
            Some(trips) if trips > FEW_ROUNDS && !carried.is_empty() && self.stays(carried) => {
                self.induction(carried, Some((axis.var, Some(trips))), None, body)?
            }
            Some(trips) => {
                let mut last = Vec::new();
                self.around.push((axis.var, None));
                for round in 0..trips {
                    self.around[depth].1 = Some(round);
                    self.names[axis.var.index()] = Bound::Number(Scalar::i64(round));
                    self.body(body)?;
                    last = self.values(&body.results)?;
                    self.bind_all(carried, last.clone())?;
                }
                match carried {
                    [] => last,
                    _ => carried.iter().map(|var| self.names[var.index()].clone()).collect(),
                }
            }
            None if is_quiet => {
                self.around.push((axis.var, None));
                self.names[axis.var.index()] = Bound::Unknown(None);
                self.forget(carried);
                self.body(body)?;
                self.values(&body.results)?;
                stm.pat.iter().map(|_| Bound::Unknown(None)).collect()
            }
            None if carried.is_empty() => return Err(Stop::TooLarge("a loop that carries nothing")),
            None if self.stays(carried) => self.induction(carried, Some((axis.var, None)), None, body)?,
            None => self.unknown_rounds(carried, Some(axis.var), None, body)?,
        };
        self.around.truncate(depth);
        if let Some(var) = stm.pat.first() {
            self.begins(*var);
        }
        self.bind_all(&stm.pat, values)
    }

    /// Whether all rounds can be gone through at once: arrays that are carried stay in their places.
    fn stays(&self, carried: &[VarId]) -> bool {
        let stays = |var: &VarId| !self.is_array(*var) || self.decisions.homes.contains_key(var);
        S::SWEEPS && (self.at_once || self.kernels > 0) && carried.iter().all(stays)
    }

    /// All rounds at once: if each array that is carried is at the end of a round as it was at its beginning, whatever
    /// other rounds do, so it is at the end of all. What other rounds do is known after the first pass.
    fn induction(
        &mut self,
        carried: &'a [VarId],
        counter: Option<(VarId, Option<i64>)>,
        cond: Option<&'a Exp>,
        body: &'a Body,
    ) -> Step<Vec<Bound<S>>> {
        let mut kept = Vec::new();
        for var in carried {
            kept.push(match self.names[var.index()].clone() {
                Bound::Array(array) => Some(self.store.kept(&array)?),
                _ => None,
            });
        }
        let accesses = self.store.accesses();
        let depth = self.around.len();
        self.around.extend(counter.map(|(var, _)| (var, None)));
        for pass in 0..2 {
            self.store.forget(accesses);
            for (var, kept) in carried.iter().zip(&kept) {
                self.names[var.index()] = match kept {
                    Some(kept) => Bound::Array(self.store.updated(kept)?),
                    None => Bound::Unknown(None),
                };
            }
            let opened = match counter {
                Some((var, Some(trips))) => {
                    self.names[var.index()] = Bound::Moving(Form::axis(self.store.open(trips, false)));
                    true
                }
                Some((var, None)) => {
                    self.names[var.index()] = Bound::Unknown(None);
                    false
                }
                None => false,
            };
            if let Some(cond) = cond {
                self.scalar(cond)?;
            }
            self.body(body)?;
            let next = self.values(&body.results)?;
            for (next, kept) in next.iter().zip(&kept) {
                let (Bound::Array(next), Some(kept)) = (next, kept) else { continue };
                if pass == 1 && !self.store.is_kept(next, kept) {
                    return Err(Stop::TooLarge("a loop that goes on otherwise than it began"));
                }
            }
            if opened {
                self.store.close()?;
            }
        }
        self.around.truncate(depth);
        let mut values = Vec::new();
        for (var, kept) in carried.iter().zip(&kept) {
            let value = match kept {
                Some(kept) => Bound::Array(self.store.updated(kept)?),
                None => Bound::Unknown(None),
            };
            self.names[var.index()] = value.clone();
            values.push(value);
        }
        Ok(values)
    }

    fn unknown_rounds(
        &mut self,
        carried: &'a [VarId],
        counter: Option<VarId>,
        cond: Option<&'a Exp>,
        body: &'a Body,
    ) -> Step<Vec<Bound<S>>> {
        let since = self.store.now();
        let depth = self.around.len();
        self.around.extend(counter.map(|var| (var, None)));
        let mut rounds = Rounds { carried, counter, cond, body, since, seen: Vec::new() };
        let values = self.round(&mut rounds)?;
        self.around.truncate(depth);
        Ok(values)
    }

    /// A round and those after it; the values of what is carried at the end.
    fn round(&mut self, rounds: &mut Rounds<'a>) -> Step<Vec<Bound<S>>> {
        self.forget(rounds.carried);
        if let Some(counter) = rounds.counter {
            self.names[counter.index()] = Bound::Unknown(None);
        }
        if let Some(cond) = rounds.cond {
            self.scalar(cond)?;
        }
        let now: Vec<Bound<S>> = rounds.carried.iter().map(|var| self.names[var.index()].clone()).collect();
        let arrays: Vec<&S::Array> = now
            .iter()
            .filter_map(|value| match value {
                Bound::Array(array) => Some(array),
                _ => None,
            })
            .collect();
        let state = self.store.state(rounds.since, &arrays)?;
        let state = state.ok_or(Stop::TooLarge("a loop of unknown length"))?;
        if rounds.seen.contains(&state) {
            // From here on it goes on as it did from there.
            return Ok(now);
        }
        if rounds.seen.len() >= MOST_ROUNDS {
            return Err(Stop::TooLarge("a loop of unknown length"));
        }
        rounds.seen.push(state);
        self.store.fork();
        self.store.otherwise();
        self.body(rounds.body)?;
        let next = self.values(&rounds.body.results)?;
        self.bind_all(rounds.carried, next)?;
        let later = self.round(rounds)?;
        let which = self.store.join()?;
        self.of_sides(which, now, later)
    }

    /// The values of one of two sides.
    fn of_sides(&mut self, which: u32, then: Vec<Bound<S>>, otherwise: Vec<Bound<S>>) -> Step<Vec<Bound<S>>> {
        let mut all = Vec::new();
        for pair in then.into_iter().zip(otherwise) {
            all.push(match pair {
                (Bound::Array(a), Bound::Array(b)) => Bound::Array(self.store.either(which, &a, &b)?),
                (Bound::Number(a), Bound::Number(b)) if a == b => Bound::Number(a),
                (Bound::Moving(a), Bound::Moving(b)) if a == b => Bound::Moving(a),
                (Bound::Unknown(a), Bound::Unknown(b)) if a == b => Bound::Unknown(a),
                _ => Bound::Unknown(None),
            });
        }
        Ok(all)
    }

    fn branch(&mut self, stm: &'a Stm, cond: &'a Exp, then: &'a Body, otherwise: &'a Body) -> Step<()> {
        let values = match self.scalar(cond)? {
            Bound::Number(value) => {
                let body = if value.bits & 1 == 1 { then } else { otherwise };
                self.body(body)?;
                self.values(&body.results)?
            }
            _ => {
                self.sides += 1;
                self.store.fork();
                self.body(then)?;
                let first = self.values(&then.results)?;
                self.store.otherwise();
                self.body(otherwise)?;
                let second = self.values(&otherwise.results)?;
                let which = self.store.join()?;
                self.sides -= 1;
                self.of_sides(which, first, second)?
            }
        };
        if let Some(var) = stm.pat.first() {
            self.begins(*var);
        }
        self.bind_all(&stm.pat, values)
    }

    /// Whether a body makes no arrays and carries none.
    fn is_quiet(&self, body: &Body) -> bool {
        body.stms.iter().all(|stm| {
            let has_arrays = stm.pat.iter().any(|var| self.is_array(*var));
            match &stm.rhs {
                Rhs::Exps(exps) => {
                    !has_arrays
                        || exps.iter().all(|exp| matches!(exp, Exp::Var(_) | Exp::Read(_) | Exp::Const(_)))
                }
                Rhs::Reduce { body, combine, .. } => {
                    !has_arrays && self.is_quiet(body) && self.is_quiet(&combine.body)
                }
                Rhs::For { body, .. } | Rhs::While { body, .. } => !has_arrays && self.is_quiet(body),
                Rhs::If { then, otherwise, .. } => {
                    !has_arrays && self.is_quiet(then) && self.is_quiet(otherwise)
                }
                _ => false,
            }
        })
    }
}
