//! Which prefixes of a scan are kept: those of components that nobody looks at, as the flags of a segmented scan, are not.
//!
//! The components that are used come first, since a scan keeps the prefixes of its first ones. Which component stands where
//! is seen by nobody but the operator, whose parameters and results move along.

use super::fuse::count;
use super::ir::*;
use super::simplify::simplify;
use galopvm_base::TypedId;

/// Drops the results of scans that nobody uses; the first one stays where a scan is there for its errors only.
pub(super) fn keep_used_prefixes(fun: &mut Fun) {
    let mut uses = vec![0; fun.vars.len()];
    count(&fun.body, &mut uses);
    if drop_unused(&mut fun.body, &uses) {
        simplify(fun);
    }
}

/// True if something changed.
fn drop_unused(block: &mut Block, uses: &[u32]) -> bool {
    let mut changed = false;
    for stm in &mut block.stms {
        changed |= drop_of(stm, uses);
        for inner in stm.op.blocks_mut() {
            changed |= drop_unused(inner, uses);
        }
    }
    changed
}

fn drop_of(stm: &mut Stm, uses: &[u32]) -> bool {
    let Op::Scan { neutral, arrays, body, .. } = &mut stm.op else { return false };
    let components = neutral.len();
    let is_used = |def: &Var| uses[def.index()] > 0;
    if stm.defs.len() != components || stm.defs.iter().all(is_used) {
        return false;
    }
    let (mut order, unused): (Vec<usize>, Vec<usize>) = (0..components).partition(|k| is_used(&stm.defs[*k]));
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
