//! Which prefixes of a scan are kept: those of components that nobody looks at, as the flags of a segmented scan, are not.
//!
//! The components that are used come first, since a scan keeps the prefixes of its first ones. Which component stands where
//! is seen by nobody but the operator, whose parameters and results move along.

use super::ir::*;
use super::simplify::simplify;
use galopvm_base::TypedId;

/// Drops the results of scans that nobody uses; the first one stays where a scan is there for its errors only.
pub(super) fn keep_used_prefixes(fun: &mut Fun) {
    let mut used = vec![false; fun.vars.len()];
    see(&fun.body, &mut used);
    if drop_unused(&mut fun.body, &used) {
        simplify(fun);
    }
}

/// Marks what a block uses.
fn see(block: &Block, used: &mut [bool]) {
    let mut mark = |atom: Atom| {
        if let Atom::Var(var) = atom {
            used[var.index()] = true;
        }
    };
    block.results.iter().for_each(|result| mark(*result));
    block.stms.iter().for_each(|stm| stm.op.atoms(&mut mark));
    block.stms.iter().flat_map(|stm| stm.op.blocks()).for_each(|inner| see(inner, used));
}

/// True if something changed.
fn drop_unused(block: &mut Block, used: &[bool]) -> bool {
    let mut changed = false;
    for stm in &mut block.stms {
        changed |= drop_of(stm, used);
        for inner in stm.op.blocks_mut() {
            changed |= drop_unused(inner, used);
        }
    }
    changed
}

fn drop_of(stm: &mut Stm, used: &[bool]) -> bool {
    let Op::Scan { neutral, arrays, body, .. } = &mut stm.op else { return false };
    let components = neutral.len();
    if stm.defs.len() != components || stm.defs.iter().all(|def| used[def.index()]) {
        return false;
    }
    let (mut order, unused): (Vec<usize>, Vec<usize>) =
        (0..components).partition(|k| used[stm.defs[*k].index()]);
    let kept = order.len().max(1);
    order.extend(unused);
    reorder(&mut stm.defs, &order);
    stm.defs.truncate(kept);
    reorder(neutral, &order);
    reorder(arrays, &order);
    reorder(&mut body.results, &order);
    let mut items = body.params.split_off(components);
    reorder(&mut body.params, &order);
    reorder(&mut items, &order);
    body.params.append(&mut items);
    true
}

fn reorder<T: Copy>(items: &mut Vec<T>, order: &[usize]) {
    *items = order.iter().map(|k| items[*k]).collect();
}
