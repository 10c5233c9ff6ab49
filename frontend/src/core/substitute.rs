//! Other atoms in the place of variables, and other names for what is defined.

use super::ir::*;
use std::collections::HashMap;

/// What stands for variables.
pub(super) type Items = HashMap<Var, Atom>;

/// Puts atoms in the place of the variables that a block uses.
pub(super) fn substitute(block: &mut Block, items: &Items) {
    block.stms.iter_mut().for_each(|stm| substitute_in(&mut stm.op, items));
    block.results.iter_mut().for_each(|atom| put(atom, items));
}

/// Puts atoms in the place of the variables that a statement uses.
pub(super) fn substitute_in(op: &mut Op, items: &Items) {
    op.atoms_mut(&mut |atom| put(atom, items));
    op.blocks_mut().into_iter().for_each(|block| substitute(block, items));
}

/// Puts what stands for a variable in its place.
pub(super) fn put(atom: &mut Atom, items: &Items) {
    if let Some(item) = atom.var().and_then(|var| items.get(&var)) {
        *atom = *item;
    }
}

/// Gives what a block defines other names, which stay to be substituted.
pub(super) fn rename(block: &mut Block, names: &mut Items, fresh: &mut dyn FnMut(Var) -> Var) {
    let name = |var: &mut Var, names: &mut Items, fresh: &mut dyn FnMut(Var) -> Var| {
        let new = fresh(*var);
        names.insert(std::mem::replace(var, new), Atom::Var(new));
    };
    block.params.iter_mut().for_each(|var| name(var, names, fresh));
    for stm in &mut block.stms {
        stm.defs.iter_mut().for_each(|var| name(var, names, fresh));
        stm.op.blocks_mut().into_iter().for_each(|inner| rename(inner, names, fresh));
    }
}
