//! Which variables depend on those that a function is differentiated by.
//!
//! Invariant: what is not active has no tangent and takes no adjoint, so it is left as it is.

use super::super::ir::*;
use super::scalar;
use std::collections::HashSet;

/// The active variables found so far.
#[derive(Clone, Default, Debug)]
pub(super) struct Activity {
    active: HashSet<Var>,
}

impl Activity {
    pub fn var(&self, var: Var) -> bool {
        self.active.contains(&var)
    }

    pub fn atom(&self, atom: Atom) -> bool {
        atom.var().is_some_and(|var| self.var(var))
    }

    pub fn any(&self, atoms: &[Atom]) -> bool {
        atoms.iter().any(|a| self.atom(*a))
    }

    pub fn mark(&mut self, var: Var) {
        self.active.insert(var);
    }

    fn mark_if(&mut self, var: Var, active: bool) {
        if active {
            self.mark(var);
        }
    }

    /// Finds the active variables of a block.
    pub fn block(&mut self, block: &Block) {
        block.stms.iter().for_each(|stm| self.stm(stm));
    }

    pub fn stm(&mut self, stm: &Stm) {
        match &stm.op {
            Op::Const { .. }
            | Op::Assert { .. }
            | Op::Fail { .. }
            | Op::Trace { .. }
            | Op::Param { .. }
            | Op::Dim { .. }
            | Op::Equal { .. } => {}
            Op::Op1 { .. } | Op::Op2 { .. } | Op::Op3 { .. } => self.scalar(stm),
            Op::Convert { a, .. } => self.all(stm, self.atom(*a)),
            Op::Index { array, .. }
            | Op::Slice { array, .. }
            | Op::Permute { array, .. }
            | Op::Reverse { array, .. }
            | Op::Reshape { array, .. }
            | Op::Copy { array }
            | Op::Manifest { array }
            | Op::Rotate { array, .. }
            | Op::FlatIndex { array, .. } => self.all(stm, self.var(*array)),
            Op::Update { array, value, .. } => self.all(stm, self.var(*array) || self.atom(*value)),
            Op::FlatUpdate { array, value, .. } => self.all(stm, self.var(*array) || self.var(*value)),
            Op::Concat { arrays, .. } => self.all(stm, arrays.iter().any(|a| self.var(*a))),
            Op::Replicate { value, .. } => self.all(stm, self.atom(*value)),
            Op::Iota { count, start, step, .. } => self.all(stm, self.any(&[*count, *start, *step])),
            Op::Array { rows, .. } => self.all(stm, self.any(rows)),
            Op::Call { args, .. } => self.all(stm, self.any(args)),
            Op::If { then, otherwise, .. } if !otherwise.params.is_empty() => {
                self.block(then);
                // A function with a derivative of its own depends on whatever that says.
                self.all(stm, self.any(&otherwise.results[otherwise.results.len() / 2..]));
            }
            Op::If { then, otherwise, .. } => {
                self.block(then);
                self.block(otherwise);
                for (k, def) in stm.defs.iter().enumerate() {
                    self.mark_if(*def, self.any(&[then.results[k], otherwise.results[k]]));
                }
            }
            Op::For { init, body, .. } => self.carried(stm, init, (body, 1)),
            Op::While { init, cond, body } => {
                self.carried(stm, init, (body, 0));
                for (param, def) in cond.params.iter().zip(&stm.defs) {
                    self.mark_if(*param, self.var(*def));
                }
            }
            Op::Map { arrays, body, .. } => {
                self.rows(body, arrays);
                self.results(stm, body);
            }
            Op::Reduce { neutral, arrays, body, .. } | Op::Scan { neutral, arrays, body, .. } => {
                self.combined(stm, neutral, &vars(arrays), body);
            }
            Op::Redomap { neutral, arrays, map, op, .. } => {
                self.rows(map, arrays);
                self.combined(stm, neutral, &map.results, op);
            }
            Op::Scatter { dests, values, .. } => {
                for (k, def) in stm.defs.iter().enumerate() {
                    self.mark_if(*def, self.var(dests[k]) || self.var(values[k]));
                }
            }
            Op::Hist { dests, values, op, .. } => self.combined(stm, &vars(dests), &vars(values), op),
            Op::AccWrite { accs, values, op, .. } => self.combined(stm, &vars(accs), values, op),
            Op::Filter { arrays, body, .. } | Op::Partition { arrays, body, .. } => {
                self.rows(body, arrays);
                let numbers = stm.defs.len().saturating_sub(arrays.len());
                for (def, array) in stm.defs[numbers..].iter().zip(arrays) {
                    self.mark_if(*def, self.var(*array));
                }
            }
            Op::Stream { accs, arrays, body, .. } => {
                let (own, rows) = body.params.split_at(accs.len());
                for (param, array) in rows.iter().zip(arrays) {
                    self.mark_if(*param, self.var(*array));
                }
                self.fixed(stm, &vars(accs), own, body);
            }
        }
    }

    fn all(&mut self, stm: &Stm, active: bool) {
        if active {
            stm.defs.iter().for_each(|def| self.mark(*def));
        }
    }

    fn scalar(&mut self, stm: &Stm) {
        let Some((op, ty, args)) = stm.op.as_scalar() else { return };
        let active = (0..args.len()).any(|k| self.atom(args[k]) && scalar::depends(op, ty, k));
        self.all(stm, active);
    }

    fn rows(&mut self, body: &Block, arrays: &[Var]) {
        for (param, array) in body.params.iter().zip(arrays) {
            self.mark_if(*param, self.var(*array));
        }
        self.block(body);
    }

    fn results(&mut self, stm: &Stm, body: &Block) {
        for (def, result) in stm.defs.iter().zip(&body.results) {
            self.mark_if(*def, self.atom(*result));
        }
    }

    /// A loop: what it carries is active if it is in any round.
    fn carried(&mut self, stm: &Stm, init: &[Atom], (body, counters): (&Block, usize)) {
        self.fixed(stm, init, &body.params[counters..], body);
    }

    /// A block whose results are its parameters the next time.
    fn fixed(&mut self, stm: &Stm, init: &[Atom], params: &[Var], body: &Block) {
        for (param, init) in params.iter().zip(init) {
            self.mark_if(*param, self.atom(*init));
        }
        loop {
            self.block(body);
            let mut grows = false;
            for (param, result) in params.iter().zip(&body.results) {
                grows |= self.atom(*result) && self.active.insert(*param);
            }
            if !grows {
                break;
            }
        }
        for (def, param) in stm.defs.iter().zip(params) {
            self.mark_if(*def, self.var(*param));
        }
    }

    /// An operator that combines items with what came before: both are active, or none is.
    fn combined(&mut self, stm: &Stm, before: &[Atom], items: &[Atom], op: &Block) {
        let (own, others) = op.params.split_at(before.len());
        for (k, (own, other)) in own.iter().zip(others).enumerate() {
            let active = self.any(&[before[k], items[k]]);
            self.mark_if(*own, active);
            self.mark_if(*other, active);
        }
        loop {
            self.fixed(stm, &[], own, op);
            let mut grows = false;
            for (own, other) in own.iter().zip(others) {
                grows |= self.var(*own) && self.active.insert(*other);
            }
            if !grows {
                break;
            }
        }
    }

    /// The active variables that blocks use and do not define, in the order in which they are met.
    pub fn free(&self, blocks: &[&Block]) -> Vec<Var> {
        let mut free = Free { activity: self, inside: HashSet::new(), found: Vec::new() };
        blocks.iter().for_each(|block| free.block(block));
        let inside = free.inside;
        free.found.into_iter().filter(|var| !inside.contains(var)).collect()
    }
}

/// Variables as atoms.
pub(super) fn vars(vars: &[Var]) -> Vec<Atom> {
    vars.iter().map(|var| Atom::Var(*var)).collect()
}

struct Free<'a> {
    activity: &'a Activity,
    inside: HashSet<Var>,
    found: Vec<Var>,
}

impl Free<'_> {
    fn block(&mut self, block: &Block) {
        self.inside.extend(&block.params);
        for stm in &block.stms {
            stm.op.atoms(&mut |atom| self.see(atom));
            stm.op.blocks().into_iter().for_each(|inner| self.block(inner));
            self.inside.extend(&stm.defs);
        }
        block.results.iter().for_each(|atom| self.see(*atom));
    }

    fn see(&mut self, atom: Atom) {
        if let Atom::Var(var) = atom
            && self.activity.var(var)
            && !self.found.contains(&var)
        {
            self.found.push(var);
        }
    }
}
