//! What of a block that is executed many times comes to the same each time, because it does not depend on the block's parameters.
//!
//! An operator, branch or loop may have results of both kinds: then it comes in two parts, one that makes those that are the same and
//! one that makes the others.
//!
//! Invariants:
//! - A statement that can end the program is the same only if none before it varies that can: neither passes the other.
//! - What is seen (`trace`), calls, and what writes to accumulators always vary.

use super::ir::*;
use super::simplify::{keep_results, keep_rows, mark_sure};
use std::collections::HashSet;

/// How a statement changes from one execution of the block to the next.
pub(super) enum Fate {
    /// Wholly, or it has to stay.
    Varies,
    /// Not at all.
    Same,
    /// Some of its results do: the fates of the statements in its blocks.
    Parts(Vec<Vec<Fate>>),
}

/// What varies in a block.
pub(super) struct Varying<'h> {
    vars: HashSet<Var>,
    /// Statements that stay as they are, by what they define.
    held: &'h HashSet<Var>,
    /// Something that varies and was executed before can end the program.
    can_end: bool,
}

impl<'h> Varying<'h> {
    /// What varies with a block's parameters, and the fates of its statements.
    pub fn of(block: &Block, held: &'h HashSet<Var>) -> (Varying<'h>, Vec<Fate>) {
        let vars = block.params.iter().copied().collect();
        let mut varying = Varying { vars, held, can_end: false };
        let fates = varying.block(block);
        (varying, fates)
    }

    /// Whether a variable of the block varies.
    pub fn has(&self, var: Var) -> bool {
        self.vars.contains(&var)
    }

    fn atom(&self, atom: Atom) -> bool {
        atom.var().is_some_and(|var| self.has(var))
    }

    fn block(&mut self, block: &Block) -> Vec<Fate> {
        block.stms.iter().map(|stm| self.stm(stm)).collect()
    }

    fn stm(&mut self, stm: &Stm) -> Fate {
        let fate = self.fate(stm);
        if let Fate::Varies = fate {
            self.vars.extend(&stm.defs);
            self.can_end |= !stm.is_pure();
        }
        fate
    }

    fn fate(&mut self, stm: &Stm) -> Fate {
        if stm.defs.iter().any(|def| self.held.contains(def)) {
            return Fate::Varies;
        }
        let stays = self.can_end && !stm.op.is_pure();
        if !stays && can_move(&stm.op) && !self.is_used_in(&stm.op) {
            return Fate::Same;
        }
        self.parts(stm).map_or(Fate::Varies, Fate::Parts)
    }

    /// Whether a statement uses something that varies.
    fn is_used_in(&self, op: &Op) -> bool {
        let mut found = false;
        op.atoms(&mut |atom| found |= self.atom(atom));
        let is_used = |block: &Block| {
            block.results.iter().any(|result| self.atom(*result))
                || block.stms.iter().any(|stm| self.is_used_in(&stm.op))
        };
        found || op.blocks().into_iter().any(is_used)
    }

    /// The fates in the blocks of a statement some of whose results are the same.
    fn parts(&mut self, stm: &Stm) -> Option<Vec<Vec<Fate>>> {
        // Of what is carried or combined, the parameter varies with what it begins as and with what each round makes of it.
        let (fates, varies) = match &stm.op {
            Op::If { cond, then, otherwise } => {
                if self.atom(*cond) {
                    return None;
                }
                let fates = vec![self.block(then), self.block(otherwise)];
                let results = then.results.iter().zip(&otherwise.results);
                (fates, results.map(|(yes, no)| self.atom(*yes) || self.atom(*no)).collect())
            }
            Op::Map { width, arrays, body } => {
                self.rows(*width, arrays, body)?;
                let fates = self.rounds(&[body], &mut |_| false);
                (fates, body.results.iter().map(|result| self.atom(*result)).collect())
            }
            Op::For { bound, init, body } => {
                if self.atom(*bound) {
                    return None;
                }
                let carried = body.params.get(1..).unwrap_or(&[]);
                self.follow(init, carried);
                let fates = self.rounds(&[body], &mut |v| v.follow(&body.results, carried));
                (fates, self.all(carried))
            }
            Op::Reduce { width, neutral, arrays, body } | Op::Scan { width, neutral, arrays, body } => {
                if self.atom(*width) {
                    return None;
                }
                let (before, next) = body.params.split_at(neutral.len().min(body.params.len()));
                self.follow(neutral, before);
                let rows: Vec<Atom> = arrays.iter().map(|array| Atom::Var(*array)).collect();
                self.follow(&rows, next);
                let fates = self.rounds(&[body], &mut |v| v.follow(&body.results, before));
                // An operator may leave out its items, and a scan still has rows of them.
                (fates, before.iter().zip(next).map(|(b, n)| self.has(*b) || self.has(*n)).collect())
            }
            Op::Redomap { width, neutral, arrays, map, op } => {
                self.rows(*width, arrays, map)?;
                let (before, next) = op.params.split_at(neutral.len().min(op.params.len()));
                self.follow(neutral, before);
                let fates = self.rounds(&[map, op], &mut |v| {
                    v.follow(&map.results, next) | v.follow(&op.results, before)
                });
                (fates, before.iter().zip(next).map(|(b, n)| self.has(*b) || self.has(*n)).collect())
            }
            _ => return None,
        };
        let varies: Vec<bool> = varies;
        if !varies.contains(&false) {
            return None;
        }
        self.vars.extend(stm.defs.iter().zip(varies).filter(|(_, varies)| *varies).map(|(def, _)| *def));
        Some(fates)
    }

    fn all(&self, vars: &[Var]) -> Vec<bool> {
        vars.iter().map(|var| self.has(*var)).collect()
    }

    /// Rows of arrays that vary do; none if it is all of them, or nobody knows how many.
    fn rows(&mut self, width: Atom, arrays: &[Var], body: &Block) -> Option<()> {
        if self.atom(width) || arrays.iter().all(|array| self.has(*array)) {
            return None;
        }
        let rows: Vec<Atom> = arrays.iter().map(|array| Atom::Var(*array)).collect();
        self.follow(&rows, &body.params);
        Some(())
    }

    /// Blocks that are executed again and again, with what one execution carries to the next.
    fn rounds(&mut self, blocks: &[&Block], carry: &mut dyn FnMut(&mut Self) -> bool) -> Vec<Vec<Fate>> {
        loop {
            // What can end the program in one round is before everything of the next.
            let could_end = self.can_end;
            let fates = blocks.iter().map(|block| self.block(block)).collect();
            if !carry(self) && could_end == self.can_end {
                return fates;
            }
        }
    }

    /// Variables vary that stand for atoms that do; true if one did not before.
    fn follow(&mut self, atoms: &[Atom], vars: &[Var]) -> bool {
        let before = self.vars.len();
        for (atom, var) in atoms.iter().zip(vars) {
            if self.atom(*atom) {
                self.vars.insert(*var);
            }
        }
        self.vars.len() > before
    }

    /// The statements of a block, and of those below it, that make what is the same.
    pub fn same(&self, block: &Block, fates: &[Fate]) -> Vec<Stm> {
        let mut stms = Vec::new();
        for (stm, fate) in block.stms.iter().zip(fates) {
            let parts = match fate {
                Fate::Varies => continue,
                Fate::Same => {
                    stms.push(stm.clone());
                    continue;
                }
                Fate::Parts(parts) => parts,
            };
            let mut part = stm.clone();
            let kept: Vec<bool> = stm.defs.iter().map(|def| !self.has(*def)).collect();
            keep_results(&mut part, &kept);
            if let Op::Map { arrays, body, .. } | Op::Redomap { arrays, map: body, .. } = &mut part.op {
                let kept: Vec<bool> = arrays.iter().map(|array| !self.has(*array)).collect();
                keep_rows(arrays, body, &kept);
            }
            let inner = stm.op.blocks().into_iter().zip(parts).map(|(block, fates)| self.same(block, fates));
            let inner: Vec<Vec<Stm>> = inner.collect();
            part.op.blocks_mut().into_iter().zip(inner).for_each(|(block, stms)| block.stms = stms);
            stms.push(part);
        }
        stms
    }
}

/// Statements that are the same were executed before: they do not end the program.
pub(super) fn mark_same(block: &mut Block, fates: &[Fate]) {
    for (stm, fate) in block.stms.iter_mut().zip(fates) {
        match fate {
            Fate::Varies => {}
            Fate::Same => {
                stm.sure |= !stm.op.is_pure();
                stm.op.blocks_mut().into_iter().for_each(|inner| mark_sure(inner, &|_| true));
            }
            Fate::Parts(parts) => {
                stm.op.blocks_mut().into_iter().zip(parts).for_each(|(inner, fates)| mark_same(inner, fates));
            }
        }
    }
}

/// Whether nobody sees how often, and when, a statement is executed.
fn can_move(op: &Op) -> bool {
    let stays = matches!(op, Op::Call { .. } | Op::Fail { .. } | Op::Stream { .. } | Op::AccWrite { .. });
    !stays
        && !op.is_seen()
        && op.blocks().into_iter().all(|block| block.stms.iter().all(|stm| can_move(&stm.op)))
}
