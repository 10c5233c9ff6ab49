//! Loops whose turns can be computed side by side.
//!
//! A turn changes a place of its own in each array that the loop carries, and looks at no place that an earlier turn has
//! changed. What it hands on to the next turn is nothing, or one integer that it joins with a number of its own:
//! `x = x + a`, `x = max(x + d, a)`. Then the values of many turns are prefixes: they come out of few steps for all of them.
//!
//! Only integers: a loop is no reduction, whose operator may be applied in any order, and the sums of floats show theirs.

use crate::algebra::op as built;
use crate::ir::{Body, DimIndex, Exp, Index, Region, Rhs, VarId};
use crate::kernel::is_scalar_code;
use crate::linear::{Definitions, Linear};
use crate::types::type_of;
use galopvm_base::ScalarOp;
use std::collections::BTreeSet;

/// A loop `for` whose turns can be computed side by side.
#[derive(Debug)]
pub struct Turns {
    /// What turns hand on, if they do.
    pub handed: Option<Handed>,
    /// The axis of each array access that moves with the turns is the last one: neighbours of an array in rows.
    pub are_neighbours: bool,
}

/// A number that a turn joins with one of its own.
#[derive(Debug)]
pub struct Handed {
    /// Its position among what the loop carries.
    pub position: usize,
    /// The name that the turn gives to the next one, if it has any.
    pub name: Option<VarId>,
    /// How it is joined: an associative and commutative operation.
    pub op: ScalarOp,
    /// What is added to it before, which is the same in all turns: where the operation is `min` or `max` of signed integers.
    pub by: Option<Exp>,
    /// The turn's own number.
    pub item: Exp,
}

/// How a place that a turn looks at lies to the one that it changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    /// No turn changes it.
    Apart,
    /// It is changed so many turns later; 0: in this one.
    Later(i64),
    /// It was changed so many turns before.
    Earlier(i64),
}

/// A place that moves by one with each turn along one dimension, and stays where it is along the others.
pub struct Moving {
    dims: Vec<Linear>,
    /// The dimension along which it moves.
    pub along: usize,
}

impl Moving {
    /// The place at an index, if it moves like that in a loop with this counter.
    pub fn of(
        index: &Index,
        counter: VarId,
        is_fixed: &dyn Fn(VarId) -> bool,
        definitions: &Definitions<'_>,
    ) -> Option<Moving> {
        let dims = sums(index, definitions)?;
        let moves = |dim: &Linear| dim.coefficient(counter) != 0;
        let along = dims.iter().position(moves)?;
        let is_one =
            dims.iter().filter(|dim| moves(dim)).count() == 1 && dims[along].coefficient(counter) == 1;
        let are_fixed = dims.iter().flat_map(Linear::names).all(|name| name == counter || is_fixed(name));
        (is_one && are_fixed).then_some(Moving { dims, along })
    }

    /// How the place at another index of the same array lies to it, if that is known.
    pub fn relation(&self, index: &Index, definitions: &Definitions<'_>) -> Option<Relation> {
        let dims = sums(index, definitions)?;
        if dims.len() != self.dims.len() {
            return None;
        }
        let distances: Vec<Option<i64>> =
            dims.iter().zip(&self.dims).map(|(there, here)| there.behind(here)).collect();
        let differs =
            |(k, distance): (usize, &Option<i64>)| k != self.along && distance.is_some_and(|d| d != 0);
        if distances.iter().enumerate().any(differs) {
            return Some(Relation::Apart);
        }
        if distances.iter().enumerate().any(|(k, distance)| k != self.along && *distance != Some(0)) {
            return None;
        }
        Some(match distances[self.along]? {
            turns @ 0.. => Relation::Later(turns),
            turns => Relation::Earlier(turns.wrapping_neg()),
        })
    }
}

/// The sums of an index that selects an element.
fn sums(index: &Index, definitions: &Definitions<'_>) -> Option<Vec<Linear>> {
    let Index::Dims(entries) = index else { return None };
    let sum = |entry: &DimIndex| match entry {
        DimIndex::At(exp) => Linear::of(exp, definitions),
        DimIndex::Slice { .. } => None,
    };
    entries.iter().map(sum).collect()
}

impl Turns {
    /// The turns of a loop `for` that carries these names and has this counter, or why they are one after the other.
    pub fn of(
        region: &Region,
        (carried, counter, body): (&[VarId], VarId, &Body),
        definitions: &Definitions<'_>,
    ) -> Result<Turns, &'static str> {
        let is_scalar = |var: VarId| region.vars[var].ty.as_ref().is_some_and(|ty| ty.is_scalar());
        let mut inside: BTreeSet<VarId> = body.bound_vars().into_iter().collect();
        inside.extend(carried.iter().copied().chain([counter]));
        let is_fixed = |var: VarId| !inside.contains(&var);

        let mut changed = Vec::new();
        let mut rest = Body { stms: Vec::new(), results: Vec::new() };
        for stm in &body.stms {
            match &stm.rhs {
                Rhs::Update { array, index, value } => {
                    if !matches!(stm.pat[..], [_]) || !is_value(region, value) {
                        return Err("a turn changes more than an element");
                    }
                    let Some(position) = carried.iter().position(|var| var == array) else {
                        return Err("a turn changes an array that it does not carry on, or one twice");
                    };
                    if body.results[position] != Exp::Var(stm.pat[0]) {
                        return Err("a turn carries on another array than the one it changes");
                    }
                    let Some(moving) = Moving::of(index, counter, &is_fixed, definitions) else {
                        return Err("a turn changes a place that does not move by one");
                    };
                    changed.push((position, stm.pat[0], moving));
                    rest.results.push(value.clone());
                }
                Rhs::Exps(_) | Rhs::If { .. } => rest.stms.push(stm.clone()),
                _ => return Err("a turn has loops or operators inside"),
            }
        }
        let mut results = changed.iter().map(|(_, made, _)| *made);
        if results.any(|made| count(body, made) != 1) {
            return Err("a turn looks at an array that it has changed");
        }
        let mut handed = None;
        for (position, var) in carried.iter().enumerate() {
            if is_scalar(*var) {
                if handed.is_some() {
                    return Err("turns hand on several numbers");
                }
                rest.results.push(body.results[position].clone());
                handed = Some(Handed::of(region, body, (position, *var), &is_fixed)?);
            } else if !changed.iter().any(|(at, ..)| *at == position)
                && body.results[position] != Exp::Var(*var)
            {
                return Err("a turn carries on another array");
            }
        }
        if !is_scalar_code(region, &rest) {
            return Err("a turn looks at more than elements");
        }
        let mut are_neighbours = true;
        for (position, _, moving) in &changed {
            are_neighbours &= moving.along + 1 == moving.dims.len();
            let (mut are_apart, array) = (true, carried[*position]);
            body.visit_reads(&mut |read| {
                let relation = || moving.relation(&read.index, definitions);
                are_apart &=
                    read.array != array || matches!(relation(), Some(Relation::Apart | Relation::Later(_)));
            });
            if !are_apart {
                return Err("a turn looks at a place that an earlier one has changed, or may have");
            }
        }
        Ok(Turns { handed, are_neighbours })
    }
}

fn is_value(region: &Region, exp: &Exp) -> bool {
    type_of(&region.vars, exp).is_some_and(|ty| ty.is_scalar())
}

/// How often a name is used.
fn count(body: &Body, var: VarId) -> usize {
    let mut uses = 0;
    body.each_use(&mut |used| uses += usize::from(used == var));
    uses
}

impl Handed {
    fn of(
        region: &Region,
        body: &Body,
        (position, var): (usize, VarId),
        is_fixed: &dyn Fn(VarId) -> bool,
    ) -> Result<Handed, &'static str> {
        let Some(ty) = region.vars[var].ty.as_ref().map(|ty| ty.elem).filter(|elem| elem.is_int()) else {
            return Err("turns hand on what is no integer");
        };
        let (name, exp) = match &body.results[position] {
            Exp::Var(name) => (Some(*name), definition(body, *name)),
            exp => (None, Some(exp)),
        };
        let Some(Exp::Op(op, _, _)) = exp else { return Err("turns hand on what is joined with nothing") };
        let is_joining = op.info().associative && op.info().commutative;
        if !is_joining || count(body, var) != 1 {
            return Err("turns hand on a number in another way than by joining it with another one");
        }
        let mut terms = Vec::new();
        joined(exp.into_iter(), *op, &mut terms);
        let uses = |exp: &Exp| {
            let mut uses = false;
            exp.each_use(&mut |used| uses |= used == var);
            uses
        };
        let (mine, own): (Vec<&Exp>, Vec<&Exp>) = terms.into_iter().partition(|exp| uses(exp));
        let ([mine], Some((first, more))) = (&mine[..], own.split_first()) else {
            return Err("turns hand on what is joined with nothing");
        };
        let item = more.iter().fold((*first).clone(), |all, exp| built(*op, ty, vec![all, (*exp).clone()]));
        let fixed = |exp: &Exp| match exp {
            Exp::Const(_) => true,
            Exp::Var(var) => is_fixed(*var),
            _ => false,
        };
        let by = match mine {
            Exp::Var(_) => None,
            Exp::Op(ScalarOp::Add, _, args) if args[0] == Exp::Var(var) && fixed(&args[1]) => {
                Some(args[1].clone())
            }
            Exp::Op(ScalarOp::Add, _, args) if args[1] == Exp::Var(var) && fixed(&args[0]) => {
                Some(args[0].clone())
            }
            Exp::Op(ScalarOp::Sub, _, args) if args[0] == Exp::Var(var) && fixed(&args[1]) => {
                Some(built(ScalarOp::Neg, ty, vec![args[1].clone()]))
            }
            _ => return Err("turns hand on a number that is changed before it is joined"),
        };
        let is_ordered = matches!(op, ScalarOp::Min | ScalarOp::Max) && !ty.is_unsigned();
        if by.is_some() && !is_ordered {
            return Err("turns hand on a number that is changed before it is joined");
        }
        Ok(Handed { position, name, op: *op, by, item })
    }
}

/// The definition of a name by a statement of its own in the body itself.
fn definition(body: &Body, name: VarId) -> Option<&Exp> {
    body.stms.iter().find_map(|stm| match (&stm.pat[..], &stm.rhs) {
        ([var], Rhs::Exps(exps)) if *var == name => exps.first(),
        _ => None,
    })
}

/// What a tree of one operation joins.
fn joined<'e>(exps: impl Iterator<Item = &'e Exp>, op: ScalarOp, terms: &mut Vec<&'e Exp>) {
    for exp in exps {
        match exp {
            Exp::Op(which, _, args) if *which == op => joined(args.iter(), op, terms),
            exp => terms.push(exp),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verified_from_text;

    /// What is found for the first loop `for` inside which no other one is.
    fn found(text: &str) -> String {
        let region =
            verified_from_text(&format!("region r (n : i64, d : i32, A : [n][n]i32, B : [n]i32)\n{text}"));
        let region = region.expect("it reads");
        let region = region.region();
        let definitions = Definitions::of(&region.body);
        let mut found = String::from("no loop");
        region.body.visit_stms(&mut |stm| {
            if let Rhs::For { carried, axis, body, .. } = &stm.rhs
                && body.stms.iter().all(|stm| !matches!(stm.rhs, Rhs::For { .. }))
            {
                found = match Turns::of(region, (carried, axis.var, body), &definitions) {
                    Ok(Turns { handed: Some(Handed { op, by, .. }), .. }) => match by {
                        Some(_) => format!("{op} after an addition"),
                        None => op.to_string(),
                    },
                    Ok(_) => "nothing is handed on".into(),
                    Err(why) => why.into(),
                };
            }
        });
        found
    }

    #[test]
    fn prefixes_are_found() {
        let row = "let y : [n][n]i32 = loop s : [n][n]i32 = A for i < n - 1 do
            let first : i32 = s[1 + i, 0]
            let (u : [n][n]i32, last : i32) = loop (t : [n][n]i32, x : i32) = (s, first) for j < n - 1 do
                let v : i32 = max(t[1 + i - 1, j] + B[j], max(t[i, j + 1] - d, x - d))
                let w : [n][n]i32 = t with [1 + i, 1 + j] = v
                in (w, v)
            in u
          in y";
        assert_eq!(found(row), "max after an addition");
    }

    #[test]
    fn a_number_that_is_defined_together_with_another_one_is_left_alone() {
        let row = "let (y : [n]i32, last : i32) = loop (t : [n]i32, x : i32) = (B, d) for j < n do
            let (v : i32, u : i32) = (x + B[j], B[j] * d)
            let w : [n]i32 = t with [j] = u
            in (w, v)
          in (y, last)";
        assert_eq!(found(row), "turns hand on what is joined with nothing");
        assert_eq!(
            found(
                &row.replace("(v : i32, u : i32) = (x + B[j], B[j] * d)", "v : i32 = x + B[j]")
                    .replace("= u", "= v")
            ),
            "add"
        );
    }
}
