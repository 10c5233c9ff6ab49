//! Fusion: maps whose results only one `reduce` or `map` reads become part of it (a `reduce` becomes a `redomap`), and
//! the arrays between them are never made.
//!
//! Invariants:
//! - Each row goes through the same statements in the same order; only the moment changes, to when the reduction
//!   runs. So a map does not pass an update, which may be of what it reads, and of two things that can end the program
//!   none passes the other.
//! - Only maps to scalars without operators and calls inside are moved, into a reduction also only those without loops:
//!   next to a row that is much work the array costs nothing, and a kernel of its own spreads such rows better than a
//!   reduction does.

use super::common::share;
use super::hoist::hoist;
use super::interchange::interchange;
use super::ir::*;
use super::loop_inside::loop_inside;
use super::prefixes::keep_used_prefixes;
use super::simplify::simplify;
use super::substitute::{Items, substitute};
use super::views::view_wholes;
use galopvm_base::{IdVec, TypedId};
use galopvm_bytecode::ValueType;

/// The most rows of a reduction that is part of a map as if it was written out.
const MOST_WRITTEN_OUT: i64 = 16;

/// Interchanges what combines rows, takes maps that only look at rows for views, fuses maps and reductions wherever that keeps
/// what the program does, and leaves scans the prefixes that somebody uses.
pub fn fuse(program: &mut Program) {
    interchange(program);
    for fun in program.funs.iter_mut() {
        hoist(fun);
        view_wholes(fun);
        fuse_in(fun);
        if loop_inside(fun) {
            fuse_in(fun);
        }
        keep_used_prefixes(fun);
    }
}

fn fuse_in(fun: &mut Fun) {
    let mut uses = vec![0; fun.vars.len()];
    count(&fun.body, &mut uses);
    let mut fuser = Fuser { vars: &mut fun.vars, uses };
    let before = fuser.vars.len();
    let changed = fuser.block(&mut fun.body);
    if changed {
        share(fun);
    }
    // Variables of an attempt that came to nothing go as well.
    if changed || fun.vars.len() > before {
        simplify(fun);
    }
}

/// Counts how often each variable is an operand or result.
pub(super) fn count(block: &Block, uses: &mut [u32]) {
    let mut see = |atom: Atom| {
        if let Atom::Var(var) = atom {
            uses[var.index()] += 1;
        }
    };
    block.results.iter().for_each(|a| see(*a));
    block.stms.iter().for_each(|stm| stm.op.atoms(&mut see));
    for inner in block.stms.iter().flat_map(|stm| stm.op.blocks()) {
        count(inner, uses);
    }
}

pub(super) struct Fuser<'f> {
    pub vars: &'f mut IdVec<Var, ValueType>,
    /// Uses of the function's variables. Those made here are only used where they are made.
    pub uses: Vec<u32>,
}

impl Fuser<'_> {
    /// Fuses in a block and the blocks below it; true if something changed.
    pub fn block(&mut self, block: &mut Block) -> bool {
        let mut changed = false;
        for inner in block.stms.iter_mut().flat_map(|stm| stm.op.blocks_mut()) {
            changed |= self.block(inner);
        }
        let mut at = 0;
        while at < block.stms.len() {
            while let Some(producer) = self.producer(&block.stms[..=at]) {
                let map = block.stms.remove(producer);
                at -= 1;
                let reduction = &mut block.stms[at];
                reduction.op = self.absorb(reduction.op.clone(), map);
                changed = true;
            }
            while let Some(place) = self.absorb_nest(block, at) {
                at = place;
                changed = true;
            }
            at += 1;
        }
        changed
    }

    /// The last map that can become part of the last of these statements.
    fn producer(&self, stms: &[Stm]) -> Option<usize> {
        let (Op::Reduce { width, arrays, .. }
        | Op::Redomap { width, arrays, .. }
        | Op::Map { width, arrays, .. }) = &stms.last()?.op
        else {
            return None;
        };
        let is_map = matches!(stms.last()?.op, Op::Map { .. });
        // What a `redomap` combines are scalars.
        if matches!(stms.last()?.op, Op::Reduce { .. }) && arrays.iter().any(|a| self.vars[*a].rank != 1) {
            return None;
        }
        self.last_before(stms, &|stm| {
            matches!(&stm.op, Op::Map { width: own, body, .. }
                if own == width && self.feeds_only(&stm.defs, arrays) && is_flat(body, is_map))
        })
    }

    /// The last of these statements but one that can be executed together with the last one, and is such a statement.
    pub fn last_before(&self, stms: &[Stm], is_wanted: &dyn Fn(&Stm) -> bool) -> Option<usize> {
        let (_, before) = stms.split_last()?;
        let mut traps = false;
        for (k, stm) in before.iter().enumerate().rev() {
            if is_wanted(stm) && (!traps || stm.is_pure()) {
                return Some(k);
            }
            if changes(&stm.op) {
                return None;
            }
            traps |= !stm.is_pure();
        }
        None
    }

    /// True if variables are arrays of scalars whose every use is among these, and there is one.
    fn feeds_only(&self, defs: &[Var], arrays: &[Var]) -> bool {
        defs.iter().any(|def| arrays.contains(def))
            && defs.iter().all(|def| {
                let here = arrays.iter().filter(|a| *a == def).count();
                self.vars[*def].rank == 1 && self.uses_of(*def) == here
            })
    }

    /// How often a variable is used; often, if it was made here.
    pub fn uses_of(&self, var: Var) -> usize {
        self.uses.get(var.index()).map_or(usize::MAX, |uses| *uses as usize)
    }

    /// The reduction with the map that makes what it reads as part of it.
    pub fn absorb(&mut self, reduction: Op, producer: Stm) -> Op {
        let Op::Map { arrays: mut inputs, body: mut map, .. } = producer.op else { return reduction };
        if let Op::Map { width, arrays, body } = reduction {
            self.join(&producer.defs, &mut inputs, &mut map, arrays, body);
            return Op::Map { width, arrays: inputs, body: map };
        }
        let (width, neutral, arrays, mut rest, op) = match reduction {
            Op::Reduce { width, neutral, arrays, body } => {
                // To begin with, items are the rows themselves.
                let rows: Vec<Var> = arrays.iter().map(|a| self.row(*a)).collect();
                let results = rows.iter().map(|v| Atom::Var(*v)).collect();
                (width, neutral, arrays, Block { params: rows, stms: Vec::new(), results }, body)
            }
            Op::Redomap { width, neutral, arrays, map, op } => (width, neutral, arrays, map, op),
            other => return other,
        };
        self.join(&producer.defs, &mut inputs, &mut map, arrays, std::mem::take(&mut rest));
        Op::Redomap { width, neutral, arrays: inputs, map, op }
    }

    /// Appends a block over rows to the one that makes some of them: those of the arrays `made`.
    fn join(&self, made: &[Var], inputs: &mut Vec<Var>, map: &mut Block, arrays: Vec<Var>, mut rest: Block) {
        let mut items = Items::new();
        for (array, param) in arrays.into_iter().zip(std::mem::take(&mut rest.params)) {
            match made.iter().position(|def| *def == array) {
                Some(k) => drop(items.insert(param, map.results[k])),
                None => {
                    inputs.push(array);
                    map.params.push(param);
                }
            }
        }
        substitute(&mut rest, &items);
        map.stms.append(&mut rest.stms);
        map.results = rest.results;
    }

    /// A variable for rows of an array of scalars.
    fn row(&mut self, array: Var) -> Var {
        let elem = self.vars[array].elem;
        self.vars.push(ValueType::scalar(elem))
    }
}

/// True if a block is scalar arithmetic, views and branches, or also loops and short reductions.
pub(super) fn is_flat(block: &Block, loops: bool) -> bool {
    block.stms.iter().all(|stm| match &stm.op {
        Op::Op1 { .. }
        | Op::Op2 { .. }
        | Op::Op3 { .. }
        | Op::Convert { .. }
        | Op::Assert { .. }
        | Op::Dim { .. }
        | Op::Index { .. }
        | Op::Slice { .. }
        | Op::Permute { .. }
        | Op::Reverse { .. } => true,
        Op::If { then: yes, otherwise: no, .. } => is_flat(yes, loops) && is_flat(no, loops),
        Op::For { body, .. } => loops && is_flat(body, loops),
        Op::While { cond, body, .. } => loops && is_flat(cond, loops) && is_flat(body, loops),
        Op::Reduce { width, body, .. } => loops && is_short(*width) && is_flat(body, loops),
        Op::Redomap { width, map, op, .. } => {
            loops && is_short(*width) && is_flat(map, loops) && is_flat(op, loops)
        }
        Op::Const { .. }
        | Op::Call { .. }
        | Op::Fail { .. }
        | Op::Trace { .. }
        | Op::Param { .. }
        | Op::Update { .. }
        | Op::Reshape { .. }
        | Op::Concat { .. }
        | Op::Replicate { .. }
        | Op::Iota { .. }
        | Op::Array { .. }
        | Op::Copy { .. }
        | Op::Manifest { .. }
        | Op::Rotate { .. }
        | Op::Equal { .. }
        | Op::FlatIndex { .. }
        | Op::FlatUpdate { .. }
        | Op::Map { .. }
        | Op::Scan { .. }
        | Op::Scatter { .. }
        | Op::Hist { .. }
        | Op::Filter { .. }
        | Op::Partition { .. }
        | Op::Stream { .. }
        | Op::AccWrite { .. } => false,
    })
}

/// Whether something has so few rows that it is written out for each of them.
pub(super) fn is_short(width: Atom) -> bool {
    width.constant().is_some_and(|width| width.as_i64() <= MOST_WRITTEN_OUT)
}

/// True if a statement updates an array, or calls what may do so.
pub(super) fn changes(op: &Op) -> bool {
    matches!(
        op,
        Op::Update { .. }
            | Op::FlatUpdate { .. }
            | Op::Scatter { .. }
            | Op::Hist { .. }
            | Op::Stream { .. }
            | Op::AccWrite { .. }
            | Op::Call { .. }
    ) || op.blocks().iter().any(|block| block.stms.iter().any(|stm| changes(&stm.op)))
}
