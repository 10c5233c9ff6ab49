//! Statements without bodies, and operations on whole arrays.

use crate::store::{Step, Stop, Store};
use crate::view::Change;
use crate::walk::{Bound, UNSIZED, Walk, refuse};
use galopvm_base::TypedId;
use galopvm_kir::{ArrayOp, Exp, Index, Rhs, Stm, VarId, ViewChange};

const NO_ARRAY: Stop = Stop::TooLarge("an array that is not there");

impl<'a, S: Store> Walk<'a, S> {
    /// Executes a statement.
    pub fn statement(&mut self, stm: &'a Stm) -> Step<()> {
        if let Some(var) = stm.pat.first() {
            self.begins(*var);
        }
        match &stm.rhs {
            Rhs::Exps(exps) => {
                for (var, exp) in stm.pat.iter().zip(exps) {
                    let value = match self.value(exp)? {
                        Bound::Array(array) => Bound::Array(array),
                        _ if self.is_array(*var) => self.unknown_array(*var, exp)?,
                        scalar => scalar,
                    };
                    self.bind_value(*var, value)?;
                }
                Ok(())
            }
            Rhs::Update { array, index, value } => self.update(stm.pat[0], *array, index, value),
            Rhs::Manifest { perm, array } => {
                let from = self.named(*array)?;
                let (to, is_sized) = self.make(stm.pat[0], Some(perm))?;
                self.store.copy((&from, *array), &to, !is_sized)?;
                self.set(stm.pat[0], to);
                Ok(())
            }
            Rhs::Array(op) => self.array_op(stm.pat[0], op),
            _ => self.control(stm),
        }
    }

    /// Binds a name to an array that was made for it.
    pub fn set(&mut self, var: VarId, array: S::Array) {
        self.names[var.index()] = Bound::Array(array);
    }

    /// The array of a name.
    pub fn named(&self, var: VarId) -> Step<S::Array> {
        match &self.names[var.index()] {
            Bound::Array(array) => Ok(array.clone()),
            _ => Err(NO_ARRAY),
        }
    }

    /// An array that nothing is known of: it may be new, or a part of what is named.
    fn unknown_array(&mut self, var: VarId, exp: &'a Exp) -> Step<Bound<S>> {
        let mut all = Vec::new();
        exp.each_use(&mut |used| {
            if let Bound::Array(array) = &self.names[used.index()] {
                all.push(array.clone());
            }
        });
        let (new, _) = self.make(var, None)?;
        self.store.assign(&new, None, true)?;
        all.push(new);
        Ok(Bound::Array(self.store.one_of(&all)))
    }

    /// An array that another one becomes when a part of it is replaced: in its place if that is decided, else a copy.
    pub fn start_update(&mut self, var: VarId, array: VarId) -> Step<S::Array> {
        let old = self.named(array)?;
        let planned = if self.is_moved(var) { self.planned(var)? } else { None };
        // What others hold is copied by the first update, and that copy is updated from then on.
        let held = planned.as_ref().is_some_and(|(block, _)| self.store.is_held(*block));
        let place = self.store.place(&old);
        let stays = match (&planned, &place) {
            (Some(_), Some((at, _))) if held => !self.store.is_held(*at),
            (Some((block, view)), Some((at, lies))) => at == block && lies.is(view),
            _ => false,
        };
        if stays {
            return self.store.updated(&old);
        }
        let (new, is_sized) = if held { self.fresh(var)? } else { self.make(var, None)? };
        self.store.copy((&old, array), &new, !is_sized)?;
        Ok(new)
    }

    fn update(&mut self, var: VarId, array: VarId, index: &'a Index, value: &'a Exp) -> Step<()> {
        let change = self.index(index)?;
        let value = match self.array(value)? {
            Some(array) => Ok(array),
            None => Err(self.scalar(value)?),
        };
        let new = self.start_update(var, array)?;
        let part = self.part_of(&new, &change)?;
        match value {
            Ok((from, name)) => self.store.copy((&from, name), &part, false)?,
            Err(value) => self.store.assign(&part, mark_of(&value), false)?,
        }
        self.set(var, new);
        Ok(())
    }

    fn array_op(&mut self, var: VarId, op: &'a ArrayOp) -> Step<()> {
        match op {
            ArrayOp::View { change, array } => {
                let Some((of, name)) = self.array(array)? else { return Err(NO_ARRAY) };
                let rank = self.region.vars[var].ty.as_ref().map_or(0, |ty| ty.rank());
                let seen = match change {
                    ViewChange::Transpose | ViewChange::Rearrange(_) => {
                        Change::Permute(change.permutation(rank).unwrap_or_else(|| (0..rank).collect()))
                    }
                    ViewChange::Reverse => Change::Reverse,
                    ViewChange::Reshape(_) | ViewChange::Flatten => {
                        self.shape(var).map_or(Change::Somewhere, Change::Reshape)
                    }
                };
                return self.view_of(var, (of, name), &seen, change.is_reshape());
            }
            ArrayOp::Reduce { array, .. } => {
                self.array(array)?;
                self.scalar(array)?;
                self.names[var.index()] = Bound::Unknown(None);
            }
            ArrayOp::Copy(array) => {
                let Some((from, name)) = self.array(array)? else { return Err(NO_ARRAY) };
                let (to, is_sized) = self.make(var, None)?;
                self.store.copy((&from, name), &to, !is_sized)?;
                self.set(var, to);
            }
            ArrayOp::Scratch { .. } => {
                let (to, _) = self.make(var, None)?;
                self.set(var, to);
            }
            ArrayOp::Concat { first, rest } => {
                let all: Vec<&'a Exp> = std::iter::once(first).chain(rest).collect();
                self.concat(var, &all)?;
            }
            ArrayOp::Iota(_) => self.filled(var, &[])?,
            ArrayOp::Replicate { shape: _, value } => self.filled(var, std::slice::from_ref(value))?,
            ArrayOp::Call { args, .. } => self.filled(var, args)?,
        }
        Ok(())
    }

    /// An array of which everything is written while everything given is read.
    fn filled(&mut self, var: VarId, given: &'a [Exp]) -> Step<()> {
        let (to, _) = self.make(var, None)?;
        self.store.begin();
        self.store.strand(0);
        self.read_whole(given)?;
        self.store.strand(1);
        self.store.assign(&to, None, true)?;
        self.store.end()?;
        self.set(var, to);
        Ok(())
    }

    /// Reads what a function is given: names and parts of arrays whole.
    fn read_whole(&mut self, given: &'a [Exp]) -> Step<()> {
        for arg in given {
            match (self.array(arg)?, arg) {
                (Some((array, name)), _) => drop(self.store.read(&array, name)?),
                (None, Exp::Opaque(_, args)) => self.read_whole(args)?,
                (None, exp) => drop(self.scalar(exp)?),
            }
        }
        Ok(())
    }

    /// An array seen otherwise. A change of shape is a copy where it is decided so, or if no view expresses it.
    fn view_of(
        &mut self,
        var: VarId,
        (of, name): (S::Array, VarId),
        change: &Change,
        may_copy: bool,
    ) -> Step<()> {
        let seen = match self.store.changed(&of, change) {
            Ok(seen) => seen,
            Err(stop) => return Err(stop.unwrap_or(Stop::TooLarge("an index is outside"))),
        };
        if let Some(seen) = seen {
            let copies = may_copy
                && match self.decisions.homes.get(&var) {
                    Some(home) if home.block == var => true,
                    Some(_) => match (self.planned(var)?, self.store.place(&seen)) {
                        (Some((block, _)), _) if self.store.is_held(block) => false,
                        (Some((block, view)), Some((at, lies))) => at != block || !lies.is(&view),
                        _ => true,
                    },
                    None => false,
                };
            if !copies {
                return self.bind(var, seen);
            }
        }
        if !may_copy {
            return refuse(format!("no view shows `{}`", self.name(var)));
        }
        // A view of what others hold shows the copy that an update has made of it; where that lies otherwise and has to be
        // copied, it gets a block of its own.
        let planned = if self.is_moved(var) { self.planned(var)? } else { None };
        let is_of_held = planned.is_some_and(|(block, _)| self.store.is_held(block));
        let (to, is_sized) = if is_of_held { self.fresh(var)? } else { self.make(var, None)? };
        self.store.copy((&of, name), &to, !is_sized)?;
        self.set(var, to);
        Ok(())
    }

    fn concat(&mut self, var: VarId, exps: &[&'a Exp]) -> Step<()> {
        let mut operands = Vec::new();
        for exp in exps {
            operands.push(self.array(exp)?.ok_or(NO_ARRAY)?);
        }
        let (to, is_sized) = self.make(var, None)?;
        let counts: Option<Vec<i64>> =
            exps.iter().zip(&operands).map(|(exp, (array, _))| self.rows(exp, array)).collect();
        // Parts of unknown sizes are somewhere in it; what is in its place there cannot be told from what is not.
        let others_lie_there = self.has_others(var) || self.is_moved(var) && self.may_share(&operands, &to);
        if others_lie_there && (counts.is_none() || !is_sized) {
            return Err(Stop::TooLarge(UNSIZED));
        }
        self.store.begin();
        let mut start = 0;
        for (k, (from, name)) in operands.iter().enumerate() {
            self.store.strand(k as u32);
            match (&counts, is_sized) {
                (Some(counts), true) => {
                    let way = crate::view::Way::Slice {
                        start: crate::form::Form::number(start),
                        count: counts[k],
                        step: 1,
                    };
                    let part = self.part_of(&to, &Change::Index(vec![way]))?;
                    self.store.copy((from, *name), &part, false)?;
                    start += counts[k];
                }
                _ => drop(self.store.read(from, *name)?),
            }
        }
        if counts.is_none() || !is_sized {
            self.store.strand(operands.len() as u32);
            self.store.assign(&to, None, true)?;
        }
        self.store.end()?;
        self.set(var, to);
        Ok(())
    }

    /// The rows of an array that an expression is, if their number is known.
    fn rows(&self, exp: &Exp, array: &S::Array) -> Option<i64> {
        let of_type = || match exp {
            Exp::Var(var) => self.shape(*var),
            _ => None,
        };
        self.store.shape(array).or_else(of_type)?.first().copied()
    }

    /// Whether one of some arrays may lie in the block of another one.
    fn may_share(&self, arrays: &[(S::Array, VarId)], other: &S::Array) -> bool {
        let block = |array: &S::Array| self.store.place(array).map(|(block, _)| block);
        let other = block(other);
        arrays.iter().any(|(array, _)| block(array).is_none_or(|block| other == Some(block)))
    }
}

/// Which element a scalar is.
pub(crate) fn mark_of<S: Store>(value: &Bound<S>) -> Option<S::Mark> {
    match value {
        Bound::Unknown(mark) => *mark,
        _ => None,
    }
}
