//! Branches on the way back: the same one is taken, and leaves what it adds to the adjoints of variables outside.

use super::super::super::ir::*;
use super::super::super::simplify::prune_sure;
use super::super::code::zero;
use super::super::{Derive, Derived};
use super::adjoint::{Adjoint, Part};

/// A branch and what it leaves for each free variable.
type Gone = (Block, Vec<Adjoint>);

impl Derive<'_> {
    pub(super) fn back_branches(
        &mut self,
        stm: &Stm,
        cond: Atom,
        branches: [&Block; 2],
        adjoints: &[Option<Atom>],
    ) -> Derived<()> {
        let free = self.free(&branches);
        let cond = self.value(cond);
        let mut gone = [
            self.back_branch(branches[0], &free, adjoints)?,
            self.back_branch(branches[1], &free, adjoints)?,
        ];
        self.stand_at(stm);
        let arriving: Vec<Adjoint> = (0..free.len()).map(|k| self.join(free[k], k, &mut gone)).collect();
        let [(mut then, _), (mut otherwise, _)] = gone;
        let types: Vec<_> = then.results.iter().map(|a| self.fun.type_of(*a)).collect();
        for block in [&mut then, &mut otherwise] {
            prune_sure(block, self.fun.vars.len());
        }
        let mut atoms = match types.is_empty() {
            true => Vec::new(),
            false => self.fun.emit_all(Op::If { cond, then, otherwise }, &types),
        }
        .into_iter();
        for (var, adjoint) in free.into_iter().zip(arriving) {
            let whole = adjoint.whole.and_then(|_| atoms.next());
            whole.iter().for_each(|whole| self.know_as(*whole, var));
            let mut parts = Vec::new();
            for part in adjoint.parts {
                let fixed = self.is_fixed(&part);
                let count = if fixed { 1 } else { part.index.len() + 1 };
                let given: Vec<Atom> = atoms.by_ref().take(count).collect();
                let index = if fixed { part.index.as_slice() } else { &[] };
                parts.push(part.with_atoms(&[index, &given].concat()));
            }
            self.arrive(var, Adjoint { whole, parts });
        }
        Ok(())
    }

    /// Goes through a branch, which is closed without results.
    fn back_branch(&mut self, block: &Block, free: &[Var], adjoints: &[Option<Atom>]) -> Derived<Gone> {
        let outer = (std::mem::take(&mut self.back.adjoints), std::mem::replace(&mut self.again, true));
        self.fun.begin(&[]);
        self.onward_stms(&block.stms)?;
        for (result, adjoint) in block.results.iter().zip(adjoints) {
            adjoint.iter().for_each(|adjoint| self.contribute(*result, *adjoint));
        }
        self.back_stms(&block.stms)?;
        let mut left = Vec::new();
        for var in free {
            let Some(adjoint) = self.back.adjoints.remove(var) else {
                left.push(Adjoint::default());
                continue;
            };
            // Of several at once the other branch could not say how many there are.
            let (parts, many): (Vec<Part>, Vec<Part>) =
                adjoint.parts.into_iter().partition(|part| part.extents.is_empty());
            let whole = self.sum_up(*var, Adjoint { whole: adjoint.whole, parts: many });
            left.push(Adjoint { whole, parts });
        }
        let block = self.fun.end(Vec::new());
        (self.back.adjoints, self.again) = outer;
        Ok((block, left))
    }

    /// What both branches leave for a variable, as results of them; where one leaves nothing, it gives zeros.
    fn join(&mut self, var: Var, k: usize, gone: &mut [Gone; 2]) -> Adjoint {
        let mut joined = Adjoint::default();
        if gone.iter().any(|(_, left)| left[k].whole.is_some()) {
            let none = match gone.iter().all(|(_, left)| left[k].whole.is_some()) {
                true => Atom::bool(false),
                false => self.zeros_for(var),
            };
            for (block, left) in gone.iter_mut() {
                block.results.push(left[k].whole.unwrap_or(none));
            }
            joined.whole = Some(none);
        }
        for own in 0..2 {
            for part in std::mem::take(&mut gone[own].1[k].parts) {
                let nothing = self.nothing_at(var, &part);
                if !self.is_fixed(&part) {
                    gone[own].0.results.extend(&part.index);
                    gone[1 - own].0.results.extend(part.nowhere());
                }
                gone[own].0.results.push(part.value);
                gone[1 - own].0.results.push(nothing);
                joined.parts.push(Part { may_miss: true, ..part });
            }
        }
        joined
    }

    /// Whether a contribution goes to an index from outside of the branch: where the other one is taken, nothing is added there.
    fn is_fixed(&self, part: &Part) -> bool {
        part.index.iter().all(|at| self.fun.visible(*at))
    }

    /// A zero as an array has it at an index.
    fn nothing_at(&mut self, var: Var, part: &Part) -> Atom {
        let array = self.value(Atom::Var(var));
        let (ty, shape) = (self.fun.type_of(array), self.fun.shape(array));
        match shape.get(part.index.len()..) {
            Some(row) => self.fun.zeros_of(ty.elem, row),
            None => zero(ty.elem),
        }
    }

    /// An adjoint has the extents of its variable.
    pub(super) fn know_as(&mut self, adjoint: Atom, var: Var) {
        let value = self.value(Atom::Var(var));
        if !self.fun.type_of(value).is_scalar() {
            let shape = self.fun.shape(value);
            self.fun.know_shape(adjoint, &shape);
        }
    }
}
