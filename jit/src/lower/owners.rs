//! Whose memory an array has: which statements may change an array in its place, and which loops may take one over.
//!
//! Names that may share memory are of one *kin*: a view is of the kin of its array, and so is what an update in place gives. Two
//! names are *the same* if they are the same elements of the same memory, one after the other in time. Arrays that a statement
//! makes are a kin of their own, which the code owns; those of parameters are somebody else's.
//!
//! A statement may change an array if the code owns it and no name of its kin is used later: in the rest of the body, by
//! what follows the statement around it, and in the next round of a loop around it. The two sides of an `if` are
//! alternatives, also where the code of both is executed: each changes the elements of its own lanes.

use super::sweep::Sweep;
use galopvm_kir::{ArrayOp, Body, Exp, Read, ReadId, Region, Rhs, Stm, VarId, ViewChange};
use std::collections::{BTreeSet, HashMap, HashSet};

/// What is used later.
type Live = BTreeSet<VarId>;

/// Decisions about the arrays of a region.
#[derive(Default)]
pub struct Owners {
    /// The first name of the kin, for names that have one.
    kin: HashMap<VarId, VarId>,
    /// The first of the names that are the same.
    same: HashMap<VarId, VarId>,
    /// First names of kins that the code owns.
    owned: HashSet<VarId>,
    /// Names that statements give to an array that they change in its place, that a loop takes over, or that both sides of an
    /// `if` give.
    kept: HashSet<VarId>,
    /// What kernels make that goes straight to where the update behind them puts it.
    swept: HashSet<VarId>,
    /// Reads of elements that such a kernel makes anew: where they lie, its update has asked.
    inside: HashSet<ReadId>,
}

impl Owners {
    /// The decisions for a region.
    pub fn of(region: &Region) -> Owners {
        let mut owners = Owners::default();
        owners.body(region, &region.body, &Live::new());
        owners
    }

    /// Whether an array that an update or a scatter gives is the old one, one that a loop carries the initial one, and one that an
    /// `if` gives what was there before it.
    pub fn is_kept(&self, made: VarId) -> bool {
        self.kept.contains(&made)
    }

    /// The kernel and the update that statements begin with, if its elements go straight to their places.
    pub fn sweep<'s>(&self, stms: &'s [Stm]) -> Option<Sweep<'s>> {
        Sweep::of(stms).filter(|sweep| self.swept.contains(&sweep.made))
    }

    /// Whether a read is known to stay inside its array where it stands.
    pub fn is_inside(&self, read: ReadId) -> bool {
        self.inside.contains(&read)
    }

    /// Whether two names are the same elements of the same memory.
    pub fn are_same(&self, a: VarId, b: VarId) -> bool {
        self.first(a) == self.first(b)
    }

    /// Whether two arrays may share memory.
    pub fn may_meet(&self, a: VarId, b: VarId) -> bool {
        self.kin_of(a) == self.kin_of(b)
    }

    fn first(&self, var: VarId) -> VarId {
        self.same.get(&var).copied().unwrap_or(var)
    }

    fn kin_of(&self, var: VarId) -> VarId {
        self.kin.get(&var).copied().unwrap_or(var)
    }

    /// The name of the array that an expression is, or is a part of.
    fn array_of(exp: &Exp) -> Option<VarId> {
        match exp {
            Exp::Var(var) => Some(*var),
            Exp::Read(Read { array, .. }) => Some(*array),
            _ => None,
        }
    }

    fn makes(&mut self, var: VarId) {
        self.owned.insert(var);
    }

    fn views(&mut self, var: VarId, array: VarId) {
        self.kin.insert(var, self.kin_of(array));
    }

    fn is(&mut self, var: VarId, array: VarId) {
        self.views(var, array);
        self.same.insert(var, self.first(array));
    }

    /// Whether the code owns an array that nobody looks at later.
    fn ends(&self, array: VarId, live: &Live) -> bool {
        let kin = self.kin_of(array);
        self.owned.contains(&kin) && live.iter().all(|var| self.kin_of(*var) != kin)
    }

    /// `after` is what is used when the body is done.
    fn body(&mut self, region: &Region, body: &Body, after: &Live) {
        let mut live = after.clone();
        body.results.iter().for_each(|result| result.each_use(&mut |var| _ = live.insert(var)));
        let mut later = Vec::with_capacity(body.stms.len());
        for stm in body.stms.iter().rev() {
            stm.pat.iter().for_each(|var| _ = live.remove(var));
            later.push(live.clone());
            live.extend(stm.free_vars());
        }
        later.reverse();
        for (stm, live) in body.stms.iter().zip(&later) {
            self.statement(region, stm, live);
        }
        for (at, live) in later.iter().enumerate().skip(1) {
            if let Some(sweep) = Sweep::of(&body.stms[at - 1..])
                && self.is_kept(sweep.changed)
                && !live.contains(&sweep.made)
                && let Some(reads) = sweep
                    .own_reads(&|var| self.may_meet(var, sweep.array), &|var| self.are_same(var, sweep.array))
            {
                self.swept.insert(sweep.made);
                self.inside.extend(reads);
            }
        }
    }

    fn statement(&mut self, region: &Region, stm: &Stm, live: &Live) {
        // What a body of many rounds uses is used again in the next one.
        let again = || {
            let mut again = live.clone();
            again.extend(stm.free_vars());
            again
        };
        let is_array = |var: &VarId| region.vars[*var].ty.as_ref().is_some_and(|ty| !ty.is_scalar());
        match &stm.rhs {
            Rhs::Exps(exps) => {
                for (var, exp) in stm.pat.iter().zip(exps).filter(|(var, _)| is_array(var)) {
                    match exp {
                        Exp::Var(array) => self.is(*var, *array),
                        exp => Owners::array_of(exp).into_iter().for_each(|array| self.views(*var, array)),
                    }
                }
            }
            Rhs::Kernel { body, .. } => {
                self.body(region, body, &again());
                stm.pat.iter().for_each(|var| self.makes(*var));
            }
            Rhs::Reduce { body, combine, .. } | Rhs::Scan { body, combine, .. } => {
                self.body(region, body, &again());
                self.body(region, &combine.body, &again());
                stm.pat.iter().filter(|var| is_array(var)).for_each(|var| self.makes(*var));
            }
            Rhs::Scatter { arrays, body, combine, .. } => {
                self.body(region, body, &again());
                let mut seen = body.free_vars();
                if let Some(combine) = combine {
                    self.body(region, &combine.body, &again());
                    seen.extend(combine.body.free_vars());
                }
                // The body sees the old arrays, and each array is changed apart.
                seen.extend(live);
                for (k, (var, array)) in stm.pat.iter().zip(arrays).enumerate() {
                    let mut seen = seen.clone();
                    seen.extend(arrays.iter().enumerate().filter(|(other, _)| *other != k).map(|(_, a)| a));
                    self.changes(*var, *array, &seen);
                }
            }
            Rhs::For { carried, init, body, .. } | Rhs::While { carried, init, body, .. } => {
                let arrays: Vec<usize> = (0..carried.len()).filter(|k| is_array(&carried[*k])).collect();
                let mut rounds = live.clone();
                rounds.extend(body.free_vars());
                if let Rhs::While { cond, .. } = &stm.rhs {
                    cond.each_use(&mut |var| _ = rounds.insert(var));
                }
                carried.iter().for_each(|var| _ = rounds.remove(var));
                for &k in &arrays {
                    // What the rounds or other initial values look at is not taken over.
                    let mut seen = rounds.clone();
                    let others = init.iter().enumerate().filter(|(other, _)| *other != k);
                    others.for_each(|(_, exp)| exp.each_use(&mut |var| _ = seen.insert(var)));
                    match Owners::array_of(&init[k]) {
                        Some(array) if self.ends(array, &seen) => {
                            self.is(carried[k], array);
                            self.kept.insert(carried[k]);
                        }
                        _ => self.makes(carried[k]),
                    }
                }
                self.body(region, body, &rounds);
                arrays.iter().for_each(|k| self.is(stm.pat[*k], carried[*k]));
            }
            Rhs::If { then, otherwise, .. } => {
                self.body(region, then, live);
                self.body(region, otherwise, live);
                for (k, var) in stm.pat.iter().enumerate().filter(|(_, var)| is_array(var)) {
                    match (&then.results[k], &otherwise.results[k]) {
                        (Exp::Var(a), Exp::Var(b)) if self.are_same(*a, *b) => {
                            self.is(*var, *a);
                            self.kept.insert(*var);
                        }
                        _ => self.makes(*var),
                    }
                }
            }
            Rhs::Update { array, .. } => {
                for var in &stm.pat {
                    self.changes(*var, *array, live);
                }
            }
            Rhs::Manifest { array, .. } => stm.pat.iter().for_each(|var| self.is(*var, *array)),
            Rhs::Array(op) => {
                for var in &stm.pat {
                    match (op, viewed(op)) {
                        (_, Some(array)) => self.views(*var, array),
                        (ArrayOp::Copy(Exp::Var(array)), _) if self.ends(*array, live) => {
                            self.is(*var, *array);
                            self.kept.insert(*var);
                        }
                        _ => self.makes(*var),
                    }
                }
            }
        }
    }

    /// An array that is another one changed: in its place, if nobody looks at that later.
    fn changes(&mut self, var: VarId, array: VarId, live: &Live) {
        match self.ends(array, live) {
            true => {
                self.is(var, array);
                self.kept.insert(var);
            }
            false => self.makes(var),
        }
    }
}

/// The array that an operation gives a view of.
fn viewed(op: &ArrayOp) -> Option<VarId> {
    match op {
        ArrayOp::View {
            change: ViewChange::Transpose | ViewChange::Rearrange(_) | ViewChange::Reverse,
            array,
        } => Owners::array_of(array),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use galopvm_kir::verified_from_text;

    /// For each name of a statement, whether it is kept, in the order of the text.
    fn kept(text: &str, names: &[&str]) -> Vec<bool> {
        let region = verified_from_text(text).expect("it reads");
        let owners = Owners::of(region.region());
        let named = |name: &&str| {
            let vars = region.region().vars.iter_ids();
            let var = vars.into_iter().find(|(_, var)| var.name.as_str() == *name).expect("the name").0;
            owners.is_kept(var)
        };
        names.iter().map(named).collect()
    }

    const HEAD: &str = "region r (n : i64, A : [n]f32)\n";

    #[test]
    fn a_copy_is_changed_in_its_place_and_a_parameter_is_not() {
        let text = "let b : [n]f32 = copy A
            let c : [n]f32 = b with [0] = 1.0f32
            let d : [n]f32 = A with [0] = 2.0f32
            in (c, d)";
        assert_eq!(kept(&format!("{HEAD}{text}"), &["b", "c", "d"]), [false, true, false]);
    }

    #[test]
    fn what_is_looked_at_later_is_not_changed() {
        let text = "let b : [n]f32 = copy A
            let v : [n]f32 = reverse b
            let c : [n]f32 = b with [0] = 1.0f32
            let d : [n]f32 = c with [0] = 2.0f32
            in (c, v)";
        assert_eq!(kept(&format!("{HEAD}{text}"), &["c", "d"]), [false, false]);
    }

    #[test]
    fn a_loop_takes_over_what_nobody_else_uses() {
        let text = "let b : [n]f32 = copy A
            let c : [n]f32 = loop x : [n]f32 = b for k < n do
              let y : [n]f32 = x with [k] = 1.0f32
              in y
            let d : [n]f32 = copy A
            let e : [n]f32 = loop z : [n]f32 = d for l < n do
              let w : [n]f32 = z with [l] = d[l]
              in w
            in (c, e)";
        assert_eq!(kept(&format!("{HEAD}{text}"), &["x", "y", "z", "w"]), [true, true, false, true]);
    }

    #[test]
    fn the_sides_of_an_if_are_alternatives() {
        let text = "let b : [n]f32 = copy A
            let c : [n]f32 = if n > 3 then
                let d : [n]f32 = b with [0] = 1.0f32
                in d
              else in b
            let e : [n]f32 = if n > 4 then
                let f : [n]f32 = c with [0] = 1.0f32
                in f
              else in A
            in e";
        assert_eq!(kept(&format!("{HEAD}{text}"), &["d", "c", "f", "e"]), [true, true, true, false]);
    }
}
