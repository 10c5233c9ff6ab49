//! Common statements: of equal ones in sight of each other the first serves all, and what a branch made is not made again in a
//! later branch that is taken with it.
//!
//! While a function is built, statements are shared as they come; this finds what is equal only afterwards. Derivatives are made
//! of such statements: each way back begins with a way onward, and goes through the branch that was taken a second time.
//!
//! Invariants:
//! - What is shared is numbers, views and checks, never an array of its own, which somebody could change in its place. So no
//!   array lives longer than before.
//! - A statement goes only where an equal one is executed before it, so nothing ends the program that did not.

use super::emit::in_order;
use super::ir::*;
use super::substitute::{Items, put, rename, substitute_in};
use galopvm_base::{IdVec, Scalar, TypedId};
use galopvm_bytecode::ValueType;
use std::collections::{HashMap, HashSet};

/// Shares what is equal in a function.
pub(super) fn share(fun: &mut Fun) {
    let body = std::mem::take(&mut fun.body);
    let first_behind = Var::from_index(fun.vars.len());
    let mut sharing = Sharing {
        vars: &mut fun.vars,
        first_behind,
        instead: HashMap::new(),
        alike: HashMap::new(),
        seen: vec![HashMap::new()],
        within: Vec::new(),
        open: Vec::new(),
        handed_out: HashSet::new(),
    };
    fun.body = sharing.block(body);
}

/// What makes statements equal: they say the same and give the same types.
type Key = (Op, Vec<ValueType>);

/// The results of statements.
type Seen = HashMap<Key, Vec<Atom>>;

struct Sharing<'f> {
    vars: &'f mut IdVec<Var, ValueType>,
    /// Variables from here on are names for what a branch made, behind it.
    first_behind: Var,
    /// What stands for the variables of statements that are gone.
    instead: Items,
    /// Variables that equal what a branch made, whose statements stay all the same.
    alike: Items,
    /// The results of the statements in sight, from the outermost block to the current one.
    seen: Vec<Seen>,
    /// The branches that are gone through: their conditions, and which one of each.
    within: Vec<(Atom, usize)>,
    /// The choices in sight: those of each open block.
    open: Vec<Choices>,
    /// What branches made that is used behind them.
    handed_out: HashSet<Var>,
}

/// What a branch made: variables, and what they are called behind it.
type Made = Vec<(Var, Var)>;

/// The choices that were made in a block.
#[derive(Default)]
struct Choices {
    /// For each, the number of its statement, and what each branch made.
    taken: Vec<(usize, [Made; 2])>,
    /// For each condition, and for whether it held: the results of statements, in these names.
    seen: HashMap<Atom, [Seen; 2]>,
}

impl Sharing<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut stms = Vec::with_capacity(block.stms.len());
        self.seen.push(HashMap::new());
        self.open.push(Choices::default());
        for mut stm in block.stms {
            stm.op.atoms_mut(&mut |atom| put(atom, &self.instead));
            self.take_twins(&mut stm.op);
            self.inside(&mut stm.op);
            self.take_alike(&mut stm);
            if !self.is_seen(&stm) {
                self.see_branches(&stm, stms.len());
                stms.push(stm);
            }
        }
        let mut results = block.results;
        results.iter_mut().for_each(|atom| put(atom, &self.instead));
        self.seen.pop();
        for (at, made) in self.open.pop().unwrap_or_default().taken {
            self.hand_out(at, made, &mut stms);
        }
        Block { params: block.params, stms, results }
    }

    /// Hands the rows of an array to an operator once.
    fn take_twins(&mut self, op: &mut Op) {
        let (Op::Map { arrays, body, .. } | Op::Redomap { arrays, map: body, .. }) = op else { return };
        for k in 1..arrays.len() {
            if let Some(first) = arrays[..k].iter().position(|array| *array == arrays[k]) {
                self.instead.insert(body.params[k], Atom::Var(body.params[first]));
            }
        }
    }

    /// Goes through the blocks of a statement: branches with what earlier ones made that were taken with them.
    fn inside(&mut self, op: &mut Op) {
        if let Op::If { cond, then, otherwise } = op {
            for (side, block) in [then, otherwise].into_iter().enumerate() {
                self.within.push((*cond, side));
                *block = self.block(std::mem::take(block));
                self.within.pop();
            }
            return;
        }
        for block in op.blocks_mut() {
            *block = self.block(std::mem::take(block));
        }
    }

    /// Takes results that are the same in both branches from where they are.
    fn take_alike(&mut self, stm: &mut Stm) {
        let Op::If { then, otherwise, .. } = &mut stm.op else { return };
        let results =
            std::mem::take(&mut then.results).into_iter().zip(std::mem::take(&mut otherwise.results));
        for (def, (one, other)) in std::mem::take(&mut stm.defs).into_iter().zip(results) {
            if one == other {
                self.instead.insert(def, one);
                continue;
            }
            stm.defs.push(def);
            then.results.push(one);
            otherwise.results.push(other);
        }
    }

    /// Whether a statement is equal to one in sight, whose results it leaves; otherwise it is in sight from now on.
    fn is_seen(&mut self, stm: &Stm) -> bool {
        let Some(key) = self.key(stm) else { return false };
        let Some(known) = self.known(&key).cloned() else {
            let atoms = stm.defs.iter().map(|def| Atom::Var(*def)).collect();
            if let Some(seen) = self.seen.last_mut() {
                seen.insert(key, atoms);
            }
            return false;
        };
        let made = known.iter().filter_map(|atom| atom.var());
        let from_branch: Vec<Var> = made.filter(|var| *var >= self.first_behind).collect();
        if !from_branch.is_empty() && is_one_step(&stm.op) {
            self.alike.extend(stm.defs.iter().copied().zip(known));
            return false;
        }
        self.handed_out.extend(from_branch);
        self.instead.extend(stm.defs.iter().copied().zip(known));
        true
    }

    /// The results of a statement in sight: one before, or one of a branch that was taken with those that are gone through.
    fn known(&self, key: &Key) -> Option<&Vec<Atom>> {
        let before = self.seen.iter().rev().find_map(|seen| seen.get(key));
        before.or_else(|| {
            self.within.iter().rev().find_map(|(cond, side)| {
                self.open.iter().rev().find_map(|choices| choices.seen.get(cond)?[*side].get(key))
            })
        })
    }

    /// What a statement is compared by, if it can be shared.
    fn key(&self, stm: &Stm) -> Option<Key> {
        let types: Vec<ValueType> = stm.defs.iter().map(|def| self.vars[*def]).collect();
        let mut op = if stm.op.can_be_shared() {
            in_order(&stm.op)
        } else if !stm.op.blocks().is_empty() && types.iter().all(|ty| ty.is_scalar()) && is_silent(&stm.op) {
            let mut op = stm.op.clone();
            number_inside(&mut op);
            op
        } else {
            return None;
        };
        if !self.alike.is_empty() {
            substitute_in(&mut op, &self.alike);
        }
        Some((op, types))
    }

    /// Remembers what the branches of a statement make, for later ones that are taken with them.
    fn see_branches(&mut self, stm: &Stm, at: usize) {
        let Op::If { cond: cond @ Atom::Var(_), then, otherwise } = &stm.op else { return };
        let known = self.open.last_mut().and_then(|choices| choices.seen.remove(cond));
        let [mut held, mut did_not] = known.unwrap_or_default();
        let made = [self.branch(then, &stm.defs, &mut held), self.branch(otherwise, &stm.defs, &mut did_not)];
        if let Some(choices) = self.open.last_mut() {
            choices.taken.push((at, made));
            choices.seen.insert(*cond, [held, did_not]);
        }
    }

    /// What a branch makes, in names for behind it: the results that it is given as, or new ones.
    fn branch(&mut self, block: &Block, results: &[Var], seen: &mut Seen) -> Made {
        let mut made = Vec::new();
        let mut names = Items::new();
        for stm in &block.stms {
            let Some((mut op, types)) = self.key(stm) else { continue };
            let has_name = stm.defs.iter().any(|def| self.alike.contains_key(def));
            if has_name || !types.iter().all(|ty| ty.is_scalar()) {
                continue;
            }
            substitute_in(&mut op, &names);
            let mut atoms = Vec::with_capacity(stm.defs.len());
            for def in &stm.defs {
                let result = block.results.iter().position(|result| *result == Atom::Var(*def));
                let behind = match result.and_then(|at| results.get(at)) {
                    Some(result) => *result,
                    None => self.vars.push(self.vars[*def]),
                };
                made.push((*def, behind));
                names.insert(*def, Atom::Var(behind));
                atoms.push(Atom::Var(behind));
            }
            seen.insert((op, types), atoms);
        }
        made
    }

    /// Makes results of what is used behind a branch: where the other one is taken, nobody looks at them.
    fn hand_out(&mut self, at: usize, made: [Made; 2], stms: &mut [Stm]) {
        let Some(stm) = stms.get_mut(at) else { return };
        let Op::If { then, otherwise, .. } = &mut stm.op else { return };
        for (side, made) in made.into_iter().enumerate() {
            for (var, behind) in made.into_iter().filter(|(_, behind)| self.handed_out.contains(behind)) {
                let nothing = Atom::Const(Scalar { ty: self.vars[var].elem, bits: 0 });
                stm.defs.push(behind);
                let results = if side == 0 { [Atom::Var(var), nothing] } else { [nothing, Atom::Var(var)] };
                then.results.push(results[0]);
                otherwise.results.push(results[1]);
            }
        }
    }
}

/// Names what is defined inside of a statement by numbers, in the order in which it comes, from the last one down.
fn number_inside(op: &mut Op) {
    let (mut next, mut numbers) = (u32::MAX, HashMap::new());
    for block in op.blocks_mut() {
        rename(block, &mut numbers, &mut |_| {
            next -= 1;
            Var(next)
        });
    }
    substitute_in(op, &numbers);
}

/// Whether nobody sees that a statement is executed but by its results.
fn is_silent(op: &Op) -> bool {
    !matches!(op, Op::Trace { .. } | Op::Call { .. })
        && op.blocks().iter().all(|block| block.stms.iter().all(|stm| is_silent(&stm.op)))
}

/// Whether making a value again takes no longer than handing it out of a branch, which is one step as well.
fn is_one_step(op: &Op) -> bool {
    match op {
        Op::Convert { .. } => true,
        _ => op.as_scalar().is_some_and(|(op, ty, _)| op.weight(ty) == 1),
    }
}
