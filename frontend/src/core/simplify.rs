//! Dead code: statements whose values nobody uses and that cannot end the program. Afterwards variables are
//! numbered densely, in order of definition.

use super::ir::*;
use galopvm_base::{IdVec, TypedId};
use galopvm_bytecode::ValueType;

/// Removes dead statements and renumbers the variables.
pub fn simplify(fun: &mut Fun) {
    let mut used = vec![false; fun.vars.len()];
    sweep(&mut fun.body, &mut used);
    renumber(fun);
}

/// Drops dead statements of a block, last first, and marks what the others use.
fn sweep(block: &mut Block, used: &mut [bool]) {
    for result in &block.results {
        mark(*result, used);
    }
    let mut kept = Vec::with_capacity(block.stms.len());
    while let Some(mut stm) = block.stms.pop() {
        let live = stm.defs.iter().any(|v| used[v.index()]);
        if !live && stm.op.is_pure() {
            continue;
        }
        drop_results(&mut stm, used);
        for inner in stm.op.blocks_mut() {
            sweep(inner, used);
        }
        stm.op.atoms(&mut |a| mark(a, used));
        kept.push(stm);
    }
    kept.reverse();
    block.stms = kept;
}

/// Drops those results of a branch or map that nobody uses.
fn drop_results(stm: &mut Stm, used: &[bool]) {
    if !matches!(stm.op, Op::If { .. } | Op::Map { .. }) {
        return;
    }
    let mut live: Vec<bool> = stm.defs.iter().map(|v| used[v.index()]).collect();
    if matches!(stm.op, Op::Map { .. }) && !live.contains(&true) {
        // It stays because its body can end the program.
        live.iter_mut().take(1).for_each(|first| *first = true);
    }
    let mut keep = live.iter();
    stm.defs.retain(|_| keep.next().copied().unwrap_or(true));
    for block in stm.op.blocks_mut() {
        let mut keep = live.iter();
        block.results.retain(|_| keep.next().copied().unwrap_or(true));
    }
}

fn mark(atom: Atom, used: &mut [bool]) {
    if let Atom::Var(var) = atom {
        used[var.index()] = true;
    }
}

struct Renumber<'f> {
    old: &'f IdVec<Var, ValueType>,
    new: IdVec<Var, ValueType>,
    map: Vec<Var>,
}

fn renumber(fun: &mut Fun) {
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
