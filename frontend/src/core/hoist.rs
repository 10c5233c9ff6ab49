//! Hoisting: what an operator or loop would make for every row or round, and is the same for all, is made once, before it.
//!
//! ```text
//! map n (xs) (x) { a = map m (ys) (y) { f y }; b = map m (a) (y) { x * y }; => (b) }
//!   becomes   a = map m (ys) (y) { f y }
//!             map n (xs) (x) { b = map m (a) (y) { x * y }; => (b) }
//! ```
//!
//! So the value of a function is computed once for all directions of its derivative.
//!
//! Invariants:
//! - What can end the program is executed only if there is a row or round, and in its order (`invariant.rs`).
//! - What tells the extents of rows, which no rows have as well, is not made where it is executed only if there is one.
//! - Only what takes some work is kept. Copies, numbers in order and views are made again inside, and so is what is changed in
//!   place there: each row needs its own.

use super::invariant::{Fate, Varying, mark_same};
use super::ir::*;
use super::simplify::{prune, simplify};
use super::substitute::{Items, rename, substitute};
use galopvm_base::{ElemType, IdVec, Scalar, ScalarOp};
use galopvm_bytecode::ValueType;
use std::collections::{HashMap, HashSet};

/// The work for an element, in additions, from which on it is kept: reading it back takes as long as some of them.
const WORTH_KEEPING: u64 = 8;

/// The work of an operator or loop for each of its results, at least.
const WORK_OF_ROUNDS: u64 = 64;

/// Hoists wherever it can be done in a function.
pub(super) fn hoist(fun: &mut Fun) {
    let mut hoisting = Hoisting { vars: &mut fun.vars };
    if hoisting.block(&mut fun.body) {
        simplify(fun);
    }
}

struct Hoisting<'f> {
    vars: &'f mut IdVec<Var, ValueType>,
}

/// What is made before an operator, and what stands for it inside.
struct Hoisted {
    stms: Vec<Stm>,
    names: Items,
}

impl Hoisting<'_> {
    /// Hoists in a block and the blocks below it, innermost first; true if something changed.
    fn block(&mut self, block: &mut Block) -> bool {
        let mut changed = false;
        let mut at = 0;
        while at < block.stms.len() {
            for inner in block.stms[at].op.blocks_mut() {
                changed |= self.block(inner);
            }
            let before = self.before(&mut block.stms[at]).unwrap_or_default();
            changed |= !before.is_empty();
            at += before.len() + 1;
            let place = at - before.len() - 1;
            block.stms.splice(place..place, before);
        }
        changed
    }

    /// Takes out of an operator or loop what is the same for all its rows or rounds.
    fn before(&mut self, stm: &mut Stm) -> Option<Vec<Stm>> {
        let origin = stm.origin;
        let (count, body) = match &mut stm.op {
            Op::Map { width: count, body, .. }
            | Op::Redomap { width: count, map: body, .. }
            | Op::For { bound: count, body, .. } => (*count, body),
            _ => return None,
        };
        let takes_work = |stm: &Stm| !stm.op.blocks().is_empty() && work(&stm.op) >= WORTH_KEEPING;
        if !body.stms.iter().any(takes_work) {
            return None;
        }
        let tells = tells_extents(body, self.vars);
        let is_counted = count.constant().is_some_and(|count| count.as_i64() > 0);
        let mut held = HashSet::new();
        loop {
            let (varying, fates) = Varying::of(body, &held);
            let kept = self.kept(body, &fates, &varying)?;
            let results = kept.iter().map(|var| Atom::Var(*var)).collect();
            let mut same = Block { params: Vec::new(), stms: varying.same(body, &fates), results };
            prune(&mut same, self.vars.len());
            let is_guarded = !is_counted && same.stms.iter().any(|stm| !stm.op.is_pure());
            let mut stay = idle(body, &fates, &same.stms, &kept);
            if is_guarded {
                stay.extend(kept.iter().filter(|var| tells.contains(var)));
            }
            if stay.is_empty() {
                let guard = is_guarded.then_some(count);
                let hoisted = self.hoisted(same, &kept, guard, origin);
                self.read_rows(body, &fates, &varying, &hoisted.names);
                mark_same(body, &fates);
                substitute(body, &hoisted.names);
                prune(body, self.vars.len());
                return Some(hoisted.stms);
            }
            held.extend(stay);
        }
    }

    /// What is worth to be made before the operator, if anything is: of all that is the same, what the rest of the body uses.
    fn kept(&self, body: &Block, fates: &[Fate], varying: &Varying<'_>) -> Option<Vec<Var>> {
        let changed = changed_in_place(body, self.vars);
        // The work that a value takes with all that it is made of.
        let mut takes: HashMap<Var, u64> = HashMap::new();
        let mut needed = HashSet::new();
        needed.extend(body.results.iter().filter_map(|result| result.var()));
        for (stm, fate) in body.stms.iter().zip(fates) {
            let mut uses = HashSet::new();
            used_by(&stm.op, &mut uses);
            let before = uses.iter().filter_map(|var| takes.get(var));
            let all = before.fold(work(&stm.op), |all, work| all.saturating_add(*work));
            takes.extend(stm.defs.iter().filter(|def| !varying.has(**def)).map(|def| (*def, all)));
            if !matches!(fate, Fate::Same) {
                needed.extend(uses);
            }
        }
        let (mut kept, mut is_worth_it) = (Vec::new(), false);
        for (stm, fate) in body.stms.iter().zip(fates).rev() {
            let mut is_made_again = false;
            for def in stm.defs.iter().filter(|def| !varying.has(**def) && needed.contains(def)) {
                let is_written = matches!(stm.op, Op::Replicate { .. } | Op::Iota { .. } | Op::Copy { .. });
                if takes.get(def).is_some_and(|work| *work >= WORTH_KEEPING)
                    && !is_written
                    && !changed.contains(def)
                {
                    kept.push(*def);
                    is_worth_it |= !stm.op.blocks().is_empty() || !self.vars[*def].is_scalar();
                } else {
                    is_made_again = true;
                }
            }
            if is_made_again && matches!(fate, Fate::Same) {
                used_by(&stm.op, &mut needed);
            }
        }
        kept.reverse();
        is_worth_it.then_some(kept)
    }

    /// Statements with names of their own, executed only if there is a row or round where that is asked for.
    fn hoisted(&mut self, mut block: Block, kept: &[Var], guard: Option<Atom>, origin: Origin) -> Hoisted {
        let mut names = Items::new();
        rename(&mut block, &mut names, &mut |var| self.vars.push(self.vars[var]));
        substitute(&mut block, &names);
        names.retain(|var, _| kept.contains(var));
        let Some(count) = guard else { return Hoisted { stms: block.stms, names } };
        let is_executed = self.vars.push(ValueType::scalar(ElemType::Bool));
        let compare = Op::scalar(ScalarOp::Gt, ElemType::I64, &[count, Atom::i64(0)]);
        let mut otherwise = Block::default();
        let mut defs = Vec::new();
        for var in kept {
            let ty = self.vars[*var];
            let nothing = self.nothing(ty, &mut otherwise, origin);
            otherwise.results.push(nothing);
            let def = self.vars.push(ty);
            defs.push(def);
            names.insert(*var, Atom::Var(def));
        }
        let branch = Op::If { cond: Atom::Var(is_executed), then: block, otherwise };
        let stms = vec![Stm::new(vec![is_executed], compare, origin), Stm::new(defs, branch, origin)];
        Hoisted { stms, names }
    }

    /// A value that nobody looks at.
    fn nothing(&mut self, ty: ValueType, block: &mut Block, origin: Origin) -> Atom {
        let mut value = Atom::Const(Scalar::new(ty.elem, 0));
        for rank in 1..=ty.rank {
            let array = self.vars.push(ValueType { rank, ..ty });
            block.stms.push(Stm::new(vec![array], Op::Replicate { count: Atom::i64(0), value }, origin));
            value = Atom::Var(array);
        }
        value
    }

    /// Lets operators that stay read rows of what was made before, instead of making them again.
    fn read_rows(&mut self, body: &mut Block, fates: &[Fate], varying: &Varying<'_>, names: &Items) {
        for (stm, fate) in body.stms.iter_mut().zip(fates) {
            let (Op::Map { arrays, body, .. }, Fate::Parts(_)) = (&mut stm.op, fate) else { continue };
            let mut rows = Items::new();
            for (def, result) in stm.defs.iter().zip(&body.results) {
                let (Some(Atom::Var(array)), Atom::Var(made)) = (names.get(def), result) else { continue };
                let is_made_here = body.stms.iter().any(|stm| stm.defs.contains(made));
                if varying.has(*def) || !is_made_here {
                    continue;
                }
                let row = self.vars.push(self.vars[*made]);
                arrays.push(*array);
                body.params.push(row);
                rows.insert(*made, Atom::Var(row));
            }
            substitute(body, &rows);
        }
    }
}

/// What the extents of a body's results may depend on, of all that is defined in it.
fn tells_extents(body: &Block, vars: &IdVec<Var, ValueType>) -> HashSet<Var> {
    let mut tells = HashSet::new();
    for result in body.results.iter().filter_map(|result| result.var()) {
        if !vars[result].is_scalar() {
            tells.insert(result);
        }
    }
    find_tellers(body, vars, &mut tells);
    tells
}

/// Goes back from variables whose extents, or values as numbers, count, to what they are made of.
fn find_tellers(block: &Block, vars: &IdVec<Var, ValueType>, tells: &mut HashSet<Var>) {
    for stm in block.stms.iter().rev() {
        let wanted: Vec<bool> = stm.defs.iter().map(|def| tells.contains(def)).collect();
        if !wanted.contains(&true) {
            continue;
        }
        let chosen = |items: &[Atom]| -> Vec<Var> {
            let wanted = items.iter().zip(&wanted).filter(|(_, wanted)| **wanted);
            wanted.filter_map(|(item, _)| item.var()).collect()
        };
        match &stm.op {
            Op::Map { width, arrays, body } => {
                tells.extend(width.var());
                tells.extend(chosen(&body.results).into_iter().filter(|var| !vars[*var].is_scalar()));
                find_tellers(body, vars, tells);
                let rows = arrays.iter().zip(&body.params).filter(|(_, row)| tells.contains(row));
                let arrays: Vec<Var> = rows.map(|(array, _)| *array).collect();
                tells.extend(arrays);
            }
            Op::Update { array, .. }
            | Op::FlatUpdate { array, .. }
            | Op::Copy { array }
            | Op::Manifest { array }
            | Op::Reverse { array, .. }
            | Op::Permute { array, .. }
            | Op::Rotate { array, .. } => drop(tells.insert(*array)),
            op => {
                used_by(op, tells);
                op.blocks().into_iter().for_each(|inner| find_tellers(inner, vars, tells));
            }
        }
    }
}

/// Statements that can end the program, and would be executed before the operator for nothing: they stay, by what they define.
fn idle(body: &Block, fates: &[Fate], stms: &[Stm], kept: &[Var]) -> Vec<Var> {
    let mut needed: HashSet<Var> = kept.iter().copied().collect();
    for stm in stms.iter().rev() {
        if stm.defs.iter().any(|def| needed.contains(def)) {
            used_by(&stm.op, &mut needed);
        }
    }
    let is_idle = |(stm, fate): &(&Stm, &Fate)| {
        let moves = !matches!(fate, Fate::Varies) && !stm.op.blocks().is_empty() && !stm.op.is_pure();
        moves && !stm.defs.iter().any(|def| needed.contains(def))
    };
    body.stms.iter().zip(fates).filter(is_idle).flat_map(|(stm, _)| stm.defs.first().copied()).collect()
}

/// What a statement takes for each element that it makes, in additions.
pub(super) fn work(op: &Op) -> u64 {
    if let Some((op, ty, _)) = op.as_scalar() {
        return op.weight(ty);
    }
    let inside: u64 = op.blocks().iter().flat_map(|block| &block.stms).map(|stm| work(&stm.op)).sum();
    match op {
        Op::For { .. }
        | Op::While { .. }
        | Op::Reduce { .. }
        | Op::Scan { .. }
        | Op::Redomap { .. }
        | Op::Hist { .. }
        | Op::Filter { .. }
        | Op::Partition { .. }
        | Op::Stream { .. }
        | Op::Call { .. } => WORK_OF_ROUNDS + inside,
        _ => inside,
    }
}

/// The variables that a block uses.
pub(super) fn used_in(block: &Block, uses: &mut HashSet<Var>) {
    uses.extend(block.results.iter().filter_map(|result| result.var()));
    block.stms.iter().for_each(|stm| used_by(&stm.op, uses));
}

/// The variables that a statement uses.
pub(super) fn used_by(op: &Op, uses: &mut HashSet<Var>) {
    op.atoms(&mut |atom| uses.extend(atom.var()));
    op.blocks().into_iter().for_each(|block| used_in(block, uses));
}

/// The arrays that may be changed in place in a block, and those that they are views of, or are chosen among.
fn changed_in_place(block: &Block, vars: &IdVec<Var, ValueType>) -> HashSet<Var> {
    let mut changed = HashSet::new();
    find_changed(block, vars, &mut changed);
    changed
}

fn find_changed(block: &Block, vars: &IdVec<Var, ValueType>, changed: &mut HashSet<Var>) {
    for stm in block.stms.iter().rev() {
        let is_changed = stm.defs.iter().any(|def| changed.contains(def));
        match &stm.op {
            Op::If { then, otherwise, .. } => {
                for (k, def) in stm.defs.iter().enumerate() {
                    if changed.contains(def) {
                        let chosen =
                            [then, otherwise].into_iter().filter_map(|side| side.results.get(k)?.var());
                        changed.extend(chosen);
                    }
                }
            }
            Op::For { init, .. } | Op::While { init, .. } => {
                changed
                    .extend(init.iter().filter_map(|atom| atom.var()).filter(|var| !vars[*var].is_scalar()));
            }
            Op::Update { array, .. } | Op::FlatUpdate { array, .. } => drop(changed.insert(*array)),
            Op::Scatter { dests, .. } | Op::Hist { dests, .. } => changed.extend(dests),
            Op::Stream { accs, .. } | Op::AccWrite { accs, .. } => changed.extend(accs),
            Op::Call { args, .. } => changed.extend(args.iter().filter_map(|arg| arg.var())),
            Op::Index { array, .. }
            | Op::Slice { array, .. }
            | Op::Permute { array, .. }
            | Op::Reverse { array, .. }
            | Op::Reshape { array, .. }
            | Op::FlatIndex { array, .. } => changed.extend(is_changed.then_some(*array)),
            _ => {}
        }
        stm.op.blocks().into_iter().for_each(|inner| find_changed(inner, vars, changed));
    }
}
