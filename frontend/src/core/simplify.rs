//! Dead code: statements whose values nobody uses and that cannot end the program, what loops carry and operators combine for
//! nobody, and rows that operators hand to nobody.
//! Afterwards variables are numbered densely, in order of definition.

use super::ir::*;
use galopvm_base::{IdVec, TypedId};
use galopvm_bytecode::ValueType;

/// Removes dead statements and renumbers the variables.
pub fn simplify(fun: &mut Fun) {
    prune(&mut fun.body, fun.vars.len());
    renumber(fun);
}

/// Removes dead statements of a block that uses variables below this number.
pub(super) fn prune(block: &mut Block, vars: usize) {
    Sweep { used: vec![false; vars] }.block(block);
}

/// As `prune`, where what the statements do was done before: they do not end the program.
pub(super) fn prune_sure(block: &mut Block, vars: usize) {
    mark_sure(block, &|stm| !speaks(&stm.op));
    prune(block, vars);
}

/// Whether a statement shows something, or has a message of its own for what it finds wrong, or one inside of it does.
fn speaks(op: &Op) -> bool {
    matches!(op, Op::Trace { .. } | Op::Assert { .. })
        || op.blocks().into_iter().any(|block| block.stms.iter().any(|stm| speaks(&stm.op)))
}

/// Remembers of statements in a block that they cannot end the program, though such statements can.
pub(super) fn mark_sure(block: &mut Block, is_sure: &dyn Fn(&Stm) -> bool) {
    for stm in &mut block.stms {
        stm.op.blocks_mut().into_iter().for_each(|inner| mark_sure(inner, is_sure));
        stm.sure = stm.sure || (!stm.op.is_pure() && is_sure(stm));
    }
}

struct Sweep {
    /// The variables that what was seen so far uses.
    used: Vec<bool>,
}

impl Sweep {
    fn is_live(&self, stm: &Stm) -> bool {
        stm.defs.iter().any(|v| self.used[v.index()]) || !stm.is_pure()
    }

    /// Drops dead statements of a block, last first, and marks what the others use.
    fn block(&mut self, block: &mut Block) {
        block.results.iter().for_each(|result| self.mark(*result));
        let mut kept = Vec::with_capacity(block.stms.len());
        while let Some(mut stm) = block.stms.pop() {
            if !self.is_live(&stm) {
                continue;
            }
            self.drop_results(&mut stm);
            for inner in stm.op.blocks_mut() {
                self.block(inner);
            }
            self.drop_rows(&mut stm.op);
            stm.op.atoms(&mut |a| self.mark(a));
            kept.push(stm);
        }
        kept.reverse();
        block.stms = kept;
    }

    /// Drops those results of a branch, map, reduction or loop that nobody uses, and what is only combined or carried for them.
    fn drop_results(&self, stm: &mut Stm) {
        if has_separate_results(&stm.op) {
            let live = self.live_results(stm);
            keep_results(stm, &live);
        }
    }

    /// Drops the rows of arrays that nobody looks at.
    fn drop_rows(&self, op: &mut Op) {
        let (Op::Map { arrays, body, .. } | Op::Redomap { arrays, map: body, .. }) = op else { return };
        let live = self.live_rows(body);
        keep_rows(arrays, body, &live);
    }

    /// Which rows somebody looks at; the first stay where none are left.
    fn live_rows(&self, body: &Block) -> Vec<bool> {
        let mut live: Vec<bool> = body.params.iter().map(|param| self.used[param.index()]).collect();
        if !live.contains(&true) {
            live.iter_mut().take(1).for_each(|first| *first = true);
        }
        live
    }

    /// Which results a branch, map, reduction or loop that stays has to make.
    fn live_results(&self, stm: &Stm) -> Vec<bool> {
        let mut live: Vec<bool> = stm.defs.iter().map(|v| self.used[v.index()]).collect();
        self.carry(&stm.op, &mut live);
        if !live.contains(&true) && !matches!(stm.op, Op::If { .. }) {
            // It stays because its body can end the program, or does not end.
            live.iter_mut().take(1).for_each(|first| *first = true);
            self.carry(&stm.op, &mut live);
        }
        live
    }

    /// Adds what the rounds of a loop, or the steps of a reduction, need to make what is live.
    fn carry(&self, op: &Op, live: &mut [bool]) {
        let (cond, body, counters) = match op {
            Op::For { body, .. } => (None, body, 1),
            Op::While { cond, body, .. } => (Some(cond), body, 0),
            Op::Reduce { body: op, .. } | Op::Redomap { op, .. } => (None, op, 0),
            _ => return,
        };
        while live.contains(&false) {
            let mut used = Sweep { used: vec![false; self.used.len()] };
            used.see(body, live);
            let mut next = vec![false; live.len()];
            // A step has two parameters for each result, what was combined before and the next item.
            for (k, param) in body.params[counters..].iter().enumerate() {
                next[k % live.len()] |= used.used[param.index()];
            }
            if let Some(cond) = cond {
                let mut used = Sweep { used: vec![false; self.used.len()] };
                used.see(cond, &[true]);
                next.iter_mut().zip(&cond.params).for_each(|(next, p)| *next |= used.used[p.index()]);
            }
            let grows = next.iter().zip(live.iter()).any(|(next, live)| *next && !live);
            live.iter_mut().zip(&next).for_each(|(live, next)| *live |= next);
            if !grows {
                return;
            }
        }
    }

    /// Marks what a block uses to make those of its results that are live.
    fn see(&mut self, block: &Block, live: &[bool]) {
        block.results.iter().zip(live).filter(|(_, live)| **live).for_each(|(result, _)| self.mark(*result));
        for stm in block.stms.iter().rev() {
            if !self.is_live(stm) {
                continue;
            }
            let live = if has_separate_results(&stm.op) { self.live_results(stm) } else { Vec::new() };
            self.see_parts(&stm.op, &live);
        }
    }

    /// Marks what a statement uses of which only some results are live; of all others everything is.
    fn see_parts(&mut self, op: &Op, live: &[bool]) {
        let condition = if let Op::While { cond, .. } = op { Some(cond) } else { None };
        for inner in op.blocks() {
            let all = vec![true; inner.results.len()];
            let is_whole = live.len() != all.len() || condition.is_some_and(|cond| std::ptr::eq(cond, inner));
            self.see(inner, if is_whole { &all } else { live });
        }
        let carried = match op {
            Op::For { init, .. } | Op::While { init, .. } => init.as_slice(),
            _ => &[],
        };
        let dead = carried.iter().zip(live).filter(|(_, live)| !**live);
        let mut dead: Vec<Atom> = dead.map(|(init, _)| *init).collect();
        if let Op::Map { arrays, body, .. } | Op::Redomap { arrays, map: body, .. } = op {
            let live = self.live_rows(body);
            let unused = arrays.iter().zip(live).filter(|(_, live)| !live);
            dead.extend(unused.map(|(array, _)| Atom::Var(*array)));
        }
        // What a loop begins with, or an operator goes over, may be used by it for something else as well.
        op.atoms(&mut |atom| match dead.iter().position(|unused| *unused == atom) {
            Some(at) => drop(dead.swap_remove(at)),
            None => self.mark(atom),
        });
    }

    fn mark(&mut self, atom: Atom) {
        if let Atom::Var(var) = atom {
            self.used[var.index()] = true;
        }
    }
}

/// Whether some results of a statement may be dropped without the others.
fn has_separate_results(op: &Op) -> bool {
    matches!(
        op,
        Op::If { .. }
            | Op::Map { .. }
            | Op::Reduce { .. }
            | Op::Redomap { .. }
            | Op::For { .. }
            | Op::While { .. }
    )
}

/// Keeps the results of a branch, operator or loop that are live, with what is combined or carried for them: what they need of the
/// others, they have to be told as live themselves.
pub(super) fn keep_results(stm: &mut Stm, live: &[bool]) {
    retain(&mut stm.defs, live);
    match &mut stm.op {
        Op::If { then, otherwise, .. } => {
            retain(&mut then.results, live);
            retain(&mut otherwise.results, live);
        }
        Op::Map { body, .. } => retain(&mut body.results, live),
        Op::For { init, body, .. } => {
            retain(init, live);
            retain(&mut body.results, live);
            let counter = body.params.first().copied();
            let mut carried = body.params.split_off(counter.iter().len());
            retain(&mut carried, live);
            body.params.extend(carried);
        }
        Op::While { init, cond, body } => {
            retain(init, live);
            retain(&mut body.results, live);
            retain(&mut body.params, live);
            retain(&mut cond.params, live);
        }
        Op::Reduce { neutral, arrays, body, .. } | Op::Scan { neutral, arrays, body, .. } => {
            retain(arrays, live);
            keep_combined(neutral, body, live);
        }
        Op::Redomap { neutral, map, op, .. } => {
            retain(&mut map.results, live);
            keep_combined(neutral, op, live);
        }
        _ => {}
    }
}

/// Keeps what is live of what an operator combines.
fn keep_combined(neutral: &mut Vec<Atom>, op: &mut Block, live: &[bool]) {
    retain(neutral, live);
    retain(&mut op.results, live);
    let mut items = op.params.split_off(live.len());
    retain(&mut op.params, live);
    retain(&mut items, live);
    op.params.append(&mut items);
}

/// Keeps the rows that are live of what an operator goes over.
pub(super) fn keep_rows(arrays: &mut Vec<Var>, body: &mut Block, live: &[bool]) {
    retain(arrays, live);
    retain(&mut body.params, live);
}

/// Keeps the items that are live.
fn retain<T>(items: &mut Vec<T>, live: &[bool]) {
    let mut live = live.iter();
    items.retain(|_| live.next().copied().unwrap_or(true));
}

struct Renumber<'f> {
    old: &'f IdVec<Var, ValueType>,
    new: IdVec<Var, ValueType>,
    map: Vec<Var>,
}

/// Numbers the variables densely, in order of definition.
pub(super) fn renumber(fun: &mut Fun) {
    let old = std::mem::take(&mut fun.vars);
    let map = (0..old.len()).map(Var::from_index).collect();
    let mut renumber = Renumber { old: &old, new: IdVec::new(), map };
    renumber.block(&mut fun.body);
    fun.vars = renumber.new;
}

impl Renumber<'_> {
    fn define(&mut self, var: &mut Var) {
        let new = self.new.push(self.old[*var]);
        self.map[var.index()] = new;
        *var = new;
    }

    fn block(&mut self, block: &mut Block) {
        block.params.iter_mut().for_each(|v| self.define(v));
        for stm in &mut block.stms {
            stm.op.atoms_mut(&mut |atom| self.atom(atom));
            stm.defs.iter_mut().for_each(|v| self.define(v));
            for inner in stm.op.blocks_mut() {
                self.block(inner);
            }
        }
        block.results.iter_mut().for_each(|a| self.atom(a));
    }

    fn atom(&self, atom: &mut Atom) {
        if let Atom::Var(var) = atom {
            *var = self.map[var.index()];
        }
    }
}
