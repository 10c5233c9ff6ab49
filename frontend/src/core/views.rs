//! A map whose rows are views of rows is a view of the whole: nothing is gone through.
//!
//! ```text
//! map n (a) (row) { reshape row (x, y) }
//!   becomes   reshape a (n, x, y)
//! ```
//!
//! Invariants:
//! - What the view of a row can fail at, the view of the whole fails at, too; of no rows neither does.
//! - Every statement of the map is such a view, so extents come from outside of it.

use super::ir::*;
use super::simplify::simplify;
use galopvm_base::IdVec;
use galopvm_bytecode::ValueType;

/// Makes views of such maps in a function.
pub(super) fn view_wholes(fun: &mut Fun) {
    if view_in(&mut fun.body, &mut fun.vars) {
        simplify(fun);
    }
}

/// True if something changed.
fn view_in(block: &mut Block, vars: &mut IdVec<Var, ValueType>) -> bool {
    let mut changed = false;
    for inner in block.stms.iter_mut().flat_map(|stm| stm.op.blocks_mut()) {
        changed |= view_in(inner, vars);
    }
    let mut at = 0;
    while at < block.stms.len() {
        let views = view_of(&block.stms[at], vars);
        let next = at + views.as_ref().map_or(1, Vec::len);
        if let Some(views) = views {
            block.stms.splice(at..=at, views);
            changed = true;
        }
        at = next;
    }
    changed
}

/// The views that a statement comes to, one of the other.
fn view_of(stm: &Stm, vars: &mut IdVec<Var, ValueType>) -> Option<Vec<Stm>> {
    let Op::Map { width, arrays, body } = &stm.op else { return None };
    let ([array], [row], [def]) = (arrays.as_slice(), body.params.as_slice(), stm.defs.as_slice()) else {
        return None;
    };
    let last = body.stms.last()?.defs.first()?;
    if body.results != [Atom::Var(*last)] {
        return None;
    }
    // Variables are made only when all of it is known to be views.
    let mut seen = *row;
    for inner in &body.stms {
        wider(&inner.op, (seen, *array), *width)?;
        [seen] = inner.defs.as_slice().try_into().ok()?;
    }
    let (mut row, mut whole) = (*row, *array);
    let mut views = Vec::with_capacity(body.stms.len());
    for inner in &body.stms {
        let op = wider(&inner.op, (row, whole), *width)?;
        row = *inner.defs.first()?;
        whole = match row == *last {
            true => *def,
            false => vars.push(ValueType { rank: vars[row].rank + 1, ..vars[row] }),
        };
        views.push(Stm::new(vec![whole], op, inner.origin));
    }
    Some(views)
}

/// The view of a whole that is this one of each of its rows.
fn wider(op: &Op, (row, array): (Var, Var), width: Atom) -> Option<Op> {
    match op {
        Op::Reshape { array: of, shape } if *of == row => {
            let shape = std::iter::once(width).chain(shape.iter().copied()).collect();
            Some(Op::Reshape { array, shape })
        }
        Op::Permute { array: of, perm } if *of == row => {
            let perm = std::iter::once(0).chain(perm.iter().map(|dim| dim + 1)).collect();
            Some(Op::Permute { array, perm })
        }
        Op::Reverse { array: of, dim } if *of == row => Some(Op::Reverse { array, dim: dim + 1 }),
        _ => None,
    }
}
