//! A loop that makes each row of arrays from the same row of the round before becomes a map with a loop inside: the arrays of the rounds
//! between are never made, and rows are spread over lanes and threads once.
//!
//! ```text
//! for n (as) (i, a) { map m (a) (x) { f i x } }
//!   becomes   map m (as) (x) { for n (x) (i, x) { f i x } }
//! ```
//!
//! Invariants:
//! - Nothing in the loop can end the program: rows take turns in another order.
//! - In the end a loop carries scalars, and what is in it is arithmetic: other work is spread better by operators of its own.
//! - A loop without rounds gives what it was given, so the map has as many rows as that has, and rows of other arrays are looked at
//!   in a round only.

use super::fuse::is_flat;
use super::hoist::{used_by, used_in};
use super::ir::*;
use super::simplify::simplify;
use galopvm_base::{ElemType, IdVec};
use galopvm_bytecode::ValueType;
use std::collections::{HashMap, HashSet};

/// Turns such loops of a function into maps; true if there was one.
pub(super) fn loop_inside(fun: &mut Fun) -> bool {
    let mut turning = Turning { vars: &mut fun.vars, made: HashMap::new() };
    let changed = turning.block(&mut fun.body);
    // Variables of an attempt that came to nothing go as well.
    simplify(fun);
    changed
}

/// What is known of an array.
#[derive(Clone, Copy)]
struct Made {
    count: Atom,
    /// What each row is, where all are the same.
    row: Option<Atom>,
}

struct Turning<'f> {
    vars: &'f mut IdVec<Var, ValueType>,
    made: HashMap<Var, Made>,
}

/// The rounds of a loop.
struct Rounds {
    bound: Atom,
    init: Vec<Atom>,
    counter: Var,
    /// What a round is given by the one before.
    carried: Vec<Var>,
    stms: Vec<Stm>,
    results: Vec<Atom>,
    origin: Origin,
}

impl Turning<'_> {
    /// Turns the loops of a block and the blocks below it; true if there was one.
    fn block(&mut self, block: &mut Block) -> bool {
        let mut changed = false;
        let mut at = 0;
        while at < block.stms.len() {
            for inner in block.stms[at].op.blocks_mut() {
                changed |= self.block(inner);
            }
            let stms = self.turned(&block.stms[at]);
            let next = at + stms.as_ref().map_or(1, Vec::len);
            if let Some(stms) = stms {
                block.stms.splice(at..=at, stms);
                changed = true;
            }
            block.stms[at..next].iter().for_each(|stm| self.know(stm));
            at = next;
        }
        changed
    }

    /// Remembers how many rows an array has.
    fn know(&mut self, stm: &Stm) {
        let made = match stm.op {
            Op::Replicate { count, value } => Made { count, row: Some(value) },
            Op::Map { width, .. } => Made { count: width, row: None },
            _ => return,
        };
        self.made.extend(stm.defs.iter().map(|def| (*def, made)));
    }

    /// The statements that a loop over arrays comes to.
    fn turned(&mut self, stm: &Stm) -> Option<Vec<Stm>> {
        let Op::For { bound, init, body } = &stm.op else { return None };
        let (counter, carried) = body.params.split_first()?;
        if carried.iter().all(|var| self.vars[*var].is_scalar()) {
            return None;
        }
        let rounds = Rounds {
            bound: *bound,
            init: init.clone(),
            counter: *counter,
            carried: carried.to_vec(),
            stms: body.stms.clone(),
            results: body.results.clone(),
            origin: stm.origin,
        };
        let mut stms = Vec::new();
        self.rows(rounds, stm.defs.clone(), &mut stms)?;
        Some(stms)
    }

    /// Appends what makes the same as the rounds of a loop.
    fn rows(&mut self, rounds: Rounds, defs: Vec<Var>, out: &mut Vec<Stm>) -> Option<()> {
        let Rounds { bound, init, counter, carried, mut stms, results, origin } = rounds;
        if carried.iter().all(|var| self.vars[*var].is_scalar()) {
            let params = [counter].into_iter().chain(carried).collect();
            let body = Block { params, stms, results };
            if !is_flat(&body, true) || body.stms.iter().any(|stm| !stm.is_pure()) {
                return None;
            }
            out.push(Stm::new(defs, Op::For { bound, init, body }, origin));
            return Some(());
        }
        let Stm { defs: made, op: Op::Map { width, arrays, body: row }, .. } = stms.pop()? else {
            return None;
        };
        let is_whole =
            results.len() == made.len() && results.iter().zip(&made).all(|(r, m)| *r == Atom::Var(*m));
        if !is_whole || !stms.iter().all(|stm| is_view(&stm.op) && stm.is_pure()) {
            return None;
        }
        let is_inside =
            |var: Var| var == counter || carried.contains(&var) || stms.iter().any(|stm| stm.defs == [var]);
        if width.var().is_some_and(is_inside) || !self.are_only_rows(&carried, &stms, &arrays, &row) {
            return None;
        }
        // What is the same in all rounds is before them.
        let mut varying: HashSet<Var> = carried.iter().copied().chain([counter]).collect();
        let (inside, outside) = stms.into_iter().partition(|stm| {
            let mut varies = false;
            stm.op.atoms(&mut |atom| varies |= atom.var().is_some_and(|var| varying.contains(&var)));
            varying.extend(stm.defs.iter().filter(|_| varies));
            varies
        });
        stms = inside;
        out.extend::<Vec<Stm>>(outside);
        let number = self.vars.push(ValueType::scalar(ElemType::I64));
        let (mut over, mut params) = (Vec::new(), Vec::new());
        let mut next = Rounds {
            bound,
            init: Vec::new(),
            counter,
            carried: Vec::new(),
            stms,
            results: row.results,
            origin,
        };
        let mut count = None;
        for (var, init) in carried.iter().zip(&init) {
            let position = arrays.iter().position(|array| array == var)?;
            next.carried.push(row.params[position]);
            let init = init.var()?;
            let known = match self.made.get(&init) {
                Some(known) => *known,
                None => {
                    let extent = self.vars.push(ValueType::scalar(ElemType::I64));
                    out.push(Stm::new(vec![extent], Op::Dim { array: init, dim: 0 }, origin));
                    Made { count: Atom::Var(extent), row: None }
                }
            };
            if *count.get_or_insert(known.count) != known.count {
                return None;
            }
            next.init.push(known.row.unwrap_or_else(|| {
                let ty = self.vars[row.params[position]];
                let first = self.vars.push(ty);
                over.push(init);
                params.push(first);
                Atom::Var(first)
            }));
        }
        let count = count?;
        let mut is_numbered = false;
        for (array, param) in arrays.iter().zip(&row.params) {
            if carried.contains(array) {
                continue;
            }
            // Where there is no round, nobody has said that another array has as many rows.
            let is_whole = init.contains(&Atom::Var(*array))
                || self.made.get(array).is_some_and(|made| made.count == count);
            if !is_whole || next.stms.iter().any(|stm| stm.defs == [*array]) {
                is_numbered = true;
                let op = Op::Index { array: *array, index: vec![Atom::Var(number)] };
                next.stms.push(Stm { defs: vec![*param], op, origin, sure: true });
            } else {
                over.push(*array);
                params.push(*param);
            }
        }
        if is_numbered || over.is_empty() {
            let numbers = self.vars.push(ValueType::array(ElemType::I64, 1));
            let (start, step) = (Atom::i64(0), Atom::i64(1));
            let op = Op::Iota { ty: ElemType::I64, count, start, step };
            out.push(Stm { defs: vec![numbers], op, origin, sure: true });
            over.push(numbers);
            params.push(number);
        }
        next.stms.extend(row.stms);
        let rows: Vec<Var> = defs.iter().map(|def| self.row(*def)).collect();
        let results = rows.iter().map(|var| Atom::Var(*var)).collect();
        let mut body = Block { params, stms: Vec::new(), results };
        self.rows(next, rows, &mut body.stms)?;
        out.push(Stm::new(defs, Op::Map { width: count, arrays: over, body }, origin));
        Some(())
    }

    /// A variable for rows of an array.
    fn row(&mut self, array: Var) -> Var {
        let ty = self.vars[array];
        self.vars.push(ValueType { rank: ty.rank.saturating_sub(1), ..ty })
    }

    /// Whether nobody looks at what a loop carries but a map, which goes over each of it once.
    fn are_only_rows(&self, carried: &[Var], stms: &[Stm], arrays: &[Var], row: &Block) -> bool {
        let mut uses = HashSet::new();
        used_in(row, &mut uses);
        stms.iter().for_each(|stm| used_by(&stm.op, &mut uses));
        carried.iter().all(|var| {
            !self.vars[*var].is_scalar()
                && !uses.contains(var)
                && arrays.iter().filter(|array| *array == var).count() == 1
        })
    }
}

/// Whether a statement only tells where elements are.
fn is_view(op: &Op) -> bool {
    match op {
        Op::Index { .. } | Op::Slice { .. } | Op::Permute { .. } | Op::Reverse { .. } | Op::Dim { .. } => {
            true
        }
        Op::Convert { .. } => true,
        _ => op.as_scalar().is_some(),
    }
}
