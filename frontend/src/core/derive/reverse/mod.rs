//! Reverse mode: the statements of a block are executed, then gone through backwards with adjoints.
//!
//! - `adjoint.rs`: adjoints and what adds to them.
//! - `views.rs`: arrays that show, change or join others.
//! - `sums.rs`: sums over rows of a map.
//! - `lean.rs`: arrays of which loops keep what was read.
//! - `blocks.rs`: loops that keep what blocks of their rounds begin with.
//! - `branch.rs`, `loops.rs`, `map.rs`, `combine.rs`, `index_space.rs`: what has blocks.
//!
//! Invariants:
//! - On the way back a block is executed again before it is gone through, so that nothing in it is kept; only loops keep
//!   what they carried into each round.
//! - A block leaves the adjoints of variables outside of it as values of its own; nothing is written to outside.

mod adjoint;
mod blocks;
mod branch;
mod combine;
mod index_space;
mod lean;
mod loops;
mod map;
mod neutral;
mod sums;
mod views;

use super::super::ir::*;
use super::scalar::{Point, depends};
use super::{Derive, Derived};
use adjoint::Adjoint;
use std::collections::HashMap;

/// What the way back knows.
#[derive(Default)]
pub(super) struct Return {
    /// The adjoints of variables that something depends on, as far as it was gone through.
    adjoints: HashMap<Var, Adjoint>,
    /// What was kept of statements, by their first variables.
    kept: HashMap<Var, loops::Kept>,
    /// Variables of a round that need not be made again.
    known: HashMap<Var, Atom>,
    /// Statements that were written as others, by their first variables.
    instead: HashMap<Var, Block>,
}

impl Derive<'_> {
    /// Executes a block and keeps what the way back needs; gives its results.
    pub fn onward(&mut self, block: &Block) -> Derived<Vec<Atom>> {
        self.onward_stms(&block.stms)?;
        Ok(self.all_values(&block.results))
    }

    /// The adjoints of a block's parameters, where its results have these.
    pub fn backward(&mut self, block: &Block, adjoints: &[Atom]) -> Derived<Vec<Atom>> {
        for (result, adjoint) in block.results.iter().zip(adjoints) {
            self.contribute(*result, *adjoint);
        }
        self.back_stms(&block.stms)?;
        Ok(block.params.iter().map(|param| self.take_or_zeros(*param)).collect())
    }

    /// Opens a map over rows of adjoints, in which the way back may be gone once for each.
    pub fn begin_rows(&mut self, adjoints: &[Atom]) -> Vec<Atom> {
        (self.again, self.depth) = (true, self.depth + 1);
        self.fun.begin_rows(adjoints)
    }

    fn onward_stms(&mut self, stms: &[Stm]) -> Derived<()> {
        stms.iter().try_for_each(|stm| self.onward_stm(stm))
    }

    fn onward_stm(&mut self, stm: &Stm) -> Derived<()> {
        let known: Vec<Atom> = stm.defs.iter().map_while(|def| self.back.known.get(def).copied()).collect();
        if !known.is_empty() && known.len() == stm.defs.len() {
            self.bind(&stm.defs, &known);
            return Ok(());
        }
        if let Some(branch) = self.branch(&stm.op) {
            self.onward_stms(&branch.stms)?;
            let results = self.all_values(&branch.results);
            self.bind(&stm.defs, &results);
            return Ok(());
        }
        if !stm.defs.iter().any(|def| self.activity.var(*def)) {
            self.copy_stm(stm);
            return Ok(());
        }
        self.stand_at(stm);
        match &stm.op {
            Op::For { .. } | Op::While { .. } => match self.in_blocks(stm) {
                Some(block) => self.onward_instead(stm, block),
                None => self.keep_rounds(stm),
            },
            Op::Filter { .. } | Op::Partition { .. } => self.keep_places(stm),
            Op::Reduce { .. } | Op::Scan { .. } | Op::Hist { .. } => self.onward_combined(stm),
            Op::Redomap { .. } => self.refuse(stm, "a fused reduction"),
            Op::Call { .. } => self.refuse(stm, "a function that calls itself"),
            _ => {
                self.copy_stm(stm);
                Ok(())
            }
        }
    }

    /// Executes other statements in the place of one, whose variables are their results.
    fn onward_instead(&mut self, stm: &Stm, block: Block) -> Derived<()> {
        self.activity.block(&block);
        self.onward_stms(&block.stms)?;
        let results = self.all_values(&block.results);
        self.bind(&stm.defs, &results);
        self.back.instead.extend(stm.defs.first().map(|def| (*def, block)));
        Ok(())
    }

    fn back_stms(&mut self, stms: &[Stm]) -> Derived<()> {
        stms.iter().rev().try_for_each(|stm| self.back_stm(stm))
    }

    fn back_stm(&mut self, stm: &Stm) -> Derived<()> {
        if let Op::If { otherwise, .. } = &stm.op
            && !otherwise.params.is_empty()
        {
            return self.back_own(stm, otherwise);
        }
        if let Some(branch) = self.branch(&stm.op) {
            return self.back_into(stm, branch);
        }
        let first = stm.defs.first().copied();
        if let Some(block) = first.and_then(|def| self.back.instead.get(&def)).cloned() {
            return self.back_into(stm, &block);
        }
        self.stand_at(stm);
        if let (Op::Index { array, index }, [row]) = (&stm.op, &stm.defs[..]) {
            self.pass_parts(*row, *array, index);
        }
        let mut adjoints = Vec::new();
        for def in &stm.defs {
            adjoints.push(self.take(*def));
        }
        if adjoints.iter().all(Option::is_none) {
            return Ok(());
        }
        self.back_op(stm, &adjoints)
    }

    /// Goes through statements whose results another one's variables are.
    fn back_into(&mut self, stm: &Stm, block: &Block) -> Derived<()> {
        for (def, result) in stm.defs.iter().zip(&block.results) {
            // It may be the variable itself, which is defined again there.
            if let Some(adjoint) = self.back.adjoints.remove(def) {
                match result {
                    Atom::Var(var) => self.arrive(*var, adjoint),
                    Atom::Const(_) => {}
                }
            }
        }
        self.back_stms(&block.stms)
    }

    /// A function that brings its own derivative.
    fn back_own(&mut self, stm: &Stm, derivative: &Block) -> Derived<()> {
        let mut given = Vec::new();
        for def in &stm.defs {
            given.push(self.value(Atom::Var(*def)));
        }
        for def in &stm.defs {
            let adjoint = self.take_or_zeros(*def);
            given.push(adjoint);
        }
        self.bind(&derivative.params, &given);
        self.copy_stms(&derivative.stms);
        let (adjoints, args) = derivative.results.split_at(derivative.results.len() / 2);
        for (adjoint, arg) in adjoints.iter().zip(args) {
            let adjoint = self.value(*adjoint);
            self.contribute(*arg, adjoint);
        }
        Ok(())
    }

    /// What the adjoints of a statement's variables, of which there is one, add to those of its operands.
    fn back_op(&mut self, stm: &Stm, adjoints: &[Option<Atom>]) -> Derived<()> {
        match &stm.op {
            Op::If { cond, then, otherwise } => self.back_branches(stm, *cond, [then, otherwise], adjoints),
            Op::For { init, body, .. } => self.back_rounds(stm, init, (body, 1), adjoints),
            Op::While { init, body, .. } => self.back_rounds(stm, init, (body, 0), adjoints),
            Op::Map { width, arrays, body } => self.back_map(*width, arrays, body, adjoints),
            Op::Reduce { .. } | Op::Scan { .. } | Op::Hist { .. } => self.back_combined(stm, adjoints),
            Op::Scatter { dests, index, values, .. } => self.back_scatter([dests, index, values], adjoints),
            Op::Filter { arrays, .. } | Op::Partition { arrays, .. } => {
                self.back_places(stm, arrays, adjoints)
            }
            Op::Stream { accs, arrays, width, body } => {
                self.back_stream(stm, (*width, body), [accs, arrays], adjoints)
            }
            Op::AccWrite { accs, index, values, op } => {
                self.back_acc_write(stm, (accs, op), [index, values], adjoints)
            }
            _ => match adjoints {
                [Some(adjoint)] => self.back_value(stm, *adjoint),
                _ => Ok(()),
            },
        }
    }

    /// A statement with one variable.
    fn back_value(&mut self, stm: &Stm, adjoint: Atom) -> Derived<()> {
        if let Some((op, ty, args)) = stm.op.as_scalar() {
            let values = self.all_values(&args);
            let value = stm.defs.first().map_or(adjoint, |def| self.value(Atom::Var(*def)));
            let at = Point { op, ty, args: &values, value };
            for (k, arg) in args.iter().enumerate() {
                if !self.activity.atom(*arg) || !depends(op, ty, k) {
                    continue;
                }
                let partial = self.fun.partial(&at, k);
                let part = self.fun.through(partial, (op.result_type(ty), ty), adjoint);
                self.contribute(*arg, part);
            }
            return Ok(());
        }
        match stm.op {
            Op::Convert { from, to, a } => {
                let part = self.fun.convert(to, from, adjoint);
                self.contribute(a, part);
                Ok(())
            }
            _ => self.back_array(stm, adjoint),
        }
    }
}
