//! Moving statements to where they are needed: what only one side of an `if` uses is computed there.
//!
//! Programs name all fields of a record, or all that a test might lead to, before they decide. An element that no side reads
//! any more is not fetched, which for lanes that fetch from places of their own is most of the time.
//!
//! Invariants:
//! - A statement that is moved is one scalar that cannot trap. Whoever knows which reads stay inside says so.
//! - It goes past statements that do not use it, into one side of an `if` of its own body, in front of everything there. It is computed
//!   at most as often as before.
//! - The values of names stay what they are. Whoever writes elements over an array that is still read (a result that has its place)
//!   must not move reads.

use crate::algebra::may_trap;
use crate::ir::{Body, Exp, Read, Rhs, Stm, VarId};
use crate::verify::{VerifiedRegion, verify};
use std::collections::{HashMap, HashSet};

/// Bodies of more statements are left as they are: each is looked at once for each use.
const MOST: usize = 512;

/// What moving has to save for a side: reads by their weights. A side without reads is computed by choosing, without a branch.
const LEAST: u32 = 4;

/// A side of an `if`: the number of its statement, and whether it is the first one.
type Side = (usize, bool);

/// The region with its statements moved, if there are any to move. `weight` tells what a read costs; nothing if it may trap.
pub fn sunk(region: &VerifiedRegion, weight: &dyn Fn(&Read) -> Option<u32>) -> Option<VerifiedRegion> {
    let mut whole = region.region().clone();
    let mut in_types: HashSet<VarId> = HashSet::new();
    for var in whole.vars.iter() {
        let extents = var.ty.iter().flat_map(|ty| &ty.shape);
        extents.for_each(|extent| extent.each_use(&mut |used| _ = in_types.insert(used)));
    }
    let mut moving = Moving { region, weight, in_types, moved: false };
    for stm in &mut whole.body.stms {
        moving.inside(stm);
    }
    // A region that was well-formed is so afterwards; if not, it stays as it was.
    moving.moved.then(|| verify(whole).ok()).flatten()
}

struct Moving<'m> {
    region: &'m VerifiedRegion,
    weight: &'m dyn Fn(&Read) -> Option<u32>,
    /// Names that the types of others are made of.
    in_types: HashSet<VarId>,
    moved: bool,
}

impl Moving<'_> {
    fn inside(&mut self, stm: &mut Stm) {
        match &mut stm.rhs {
            Rhs::If { then, otherwise, .. } => {
                self.body(then);
                self.body(otherwise);
            }
            Rhs::Kernel { body, .. }
            | Rhs::Reduce { body, .. }
            | Rhs::Scan { body, .. }
            | Rhs::Scatter { body, .. }
            | Rhs::For { body, .. }
            | Rhs::While { body, .. } => self.body(body),
            Rhs::Exps(_) | Rhs::Update { .. } | Rhs::Manifest { .. } | Rhs::Array { .. } => {}
        }
    }

    fn body(&mut self, body: &mut Body) {
        if body.stms.len() <= MOST && body.stms.iter().any(|stm| matches!(stm.rhs, Rhs::If { .. })) {
            self.moved |= self.sort(body);
        }
        body.stms.iter_mut().for_each(|stm| self.inside(stm));
    }

    /// Moves the statements of a body into the sides of its `if`s; says whether there were any.
    fn sort(&self, body: &mut Body) -> bool {
        let goes = self.destinations(body);
        let mut weights: HashMap<Side, u32> = HashMap::new();
        for (at, side) in &goes {
            *weights.entry(*side).or_default() += self.weight_of(&body.stms[*at].rhs).unwrap_or(0);
        }
        let goes: HashMap<usize, Side> =
            goes.into_iter().filter(|(_, side)| weights[side] >= LEAST).collect();
        if goes.is_empty() {
            return false;
        }
        let mut coming: HashMap<Side, Vec<Stm>> = HashMap::new();
        let mut stay = Vec::new();
        for (at, mut stm) in std::mem::take(&mut body.stms).into_iter().enumerate() {
            if let Some(side) = goes.get(&at) {
                coming.entry(*side).or_default().push(stm);
                continue;
            }
            if let Rhs::If { then, otherwise, .. } = &mut stm.rhs {
                for (is_first, side) in [(true, then), (false, otherwise)] {
                    if let Some(mut stms) = coming.remove(&(at, is_first)) {
                        stms.append(&mut side.stms);
                        side.stms = stms;
                    }
                }
            }
            stay.push(stm);
        }
        body.stms = stay;
        true
    }

    /// For each statement that only one side uses, that side: the last ones first, so that what they alone use goes with them.
    fn destinations(&self, body: &Body) -> HashMap<usize, Side> {
        // Where names are used: in one side, or elsewhere.
        let mut used: HashMap<VarId, Option<Side>> = HashMap::new();
        let mut goes = HashMap::new();
        body.results.iter().for_each(|exp| exp.each_use(&mut |var| _ = used.insert(var, None)));
        for (at, stm) in body.stms.iter().enumerate().rev() {
            let own = match stm.pat[..] {
                [var] => used.get(&var).copied().flatten().filter(|_| self.may_move(var, &stm.rhs)),
                _ => None,
            };
            goes.extend(own.map(|side| (at, side)));
            let mut uses = |var: VarId, side: Option<Side>| {
                let known = used.entry(var).or_insert(side);
                if *known != side {
                    *known = None;
                }
            };
            match &stm.rhs {
                Rhs::If { cond, then, otherwise } => {
                    cond.each_use(&mut |var| uses(var, None));
                    then.each_use(&mut |var| uses(var, Some((at, true))));
                    otherwise.each_use(&mut |var| uses(var, Some((at, false))));
                }
                rhs => rhs.each_use(&mut |var| uses(var, own)),
            }
        }
        goes
    }

    fn may_move(&self, var: VarId, rhs: &Rhs) -> bool {
        !self.in_types.contains(&var) && self.region.type_of(var).is_scalar() && self.weight_of(rhs).is_some()
    }

    /// The weight of the reads of a scalar that cannot trap.
    fn weight_of(&self, rhs: &Rhs) -> Option<u32> {
        let Rhs::Exps(exps) = rhs else { return None };
        let mut all = Some(0);
        for exp in exps {
            exp.visit(&mut |part| {
                let own = match part {
                    Exp::Read(read) => (self.weight)(read),
                    Exp::Op(op, ty, args) => (!may_trap(*op, *ty, args)).then_some(0),
                    Exp::Const(_) | Exp::Var(_) | Exp::Convert(..) => Some(0),
                    Exp::Opaque(..) => None,
                };
                all = all.zip(own).map(|(all, own)| all + own);
            });
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::ReadId;
    use crate::text::print_region;
    use crate::verified_from_text;

    fn moved(text: &str, heavy: &[u32], trapping: &[u32]) -> Option<String> {
        let region = verified_from_text(text).expect("it reads");
        let weight = |read: &Read| {
            let is = |reads: &[u32]| reads.contains(&read.id.0);
            (!is(trapping)).then_some(if is(heavy) { 4 } else { 1 })
        };
        sunk(&region, &weight).map(|region| print_region(region.region()))
    }

    const FIELDS: &str = "region r (n : i64, A : [n]i64, B : [n]i64, C : [n]i64, I : [n]i64)
let y : [n]i64 =
  kernel i < n do
    let p : i64 = I[i]
    let a : i64 = A[p]
    let b : i64 = B[p]
    let c : i64 = C[p]
    let d : i64 = b + c
    let e : i64 =
      if a < 3 then
        in d * b
      else
        let f : i64 =
          if a < 7 then
            in c
          else
            in a
        in f
    in e
in y
";

    #[test]
    fn what_one_side_uses_goes_there() {
        let text = moved(FIELDS, &[2, 3], &[]).expect("something moves");
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let at = |part: &str| lines.iter().position(|line| line.contains(part)).expect(part);
        // What both sides use, and what is asked first, stays.
        assert!(at("let a :") < at("if a < 3"), "{text}");
        assert!(at("let c :") < at("if a < 3"), "{text}");
        assert!(at("if a < 3") < at("let b :") && at("let b :") < at("let d :"), "{text}");
        assert!(at("let d :") < at("if a < 7"), "{text}");
    }

    #[test]
    fn what_may_trap_or_saves_little_stays() {
        assert_eq!(moved(FIELDS, &[], &[]), None);
        assert_eq!(moved(FIELDS, &[2, 3], &[2]), None);
        let region = verified_from_text(FIELDS).expect("it reads");
        assert_eq!(region.region().all_reads()[2].id, ReadId(2));
    }
}
