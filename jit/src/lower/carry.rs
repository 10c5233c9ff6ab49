//! Loops and what they carry from round to round.
//!
//! Scalars are in registers. An array lies where it was when the loop began, or in a copy of that (`owners.rs`), for all
//! rounds: a round that changes it in its place leaves it there, and any other next value is copied to it. In a round the
//! array has a version of its address.

use super::Lower;
use super::access::{Made, View};
use super::control::{Span, with};
use super::form::Form;
use super::poll::{Turns, is_few};
use super::value::Value;
use crate::lir::build::Scope;
use crate::lir::{Bin, Class, Op, Width};
use galopvm_base::{ElemType, ScalarOp};
use galopvm_kir::{Axis, Body, Exp, Refusal, Rhs, Stm, VarId};

/// A loop without its rule.
pub struct Carried<'s> {
    /// The names of what it gives.
    pub pat: &'s [VarId],
    /// The names in a round.
    pub carried: &'s [VarId],
    /// Initial values.
    pub init: &'s [Exp],
    /// A round.
    pub body: &'s Body,
}

/// What a loop carries, when it begins.
pub struct Begun {
    /// The positions of scalars, and their initial values.
    scalars: Vec<usize>,
    pub values: Vec<Value>,
    /// The positions of arrays, and where they lie.
    arrays: Vec<(usize, View)>,
}

impl Begun {
    /// The loop's names for scalars.
    fn names(&self, vars: &[VarId]) -> Vec<VarId> {
        self.scalars.iter().map(|k| vars[*k]).collect()
    }
}

impl<'a> Lower<'a> {
    fn begin_loop(&mut self, carried: &Carried<'_>) -> Result<Begun, Refusal> {
        let mut begun = Begun { scalars: Vec::new(), values: Vec::new(), arrays: Vec::new() };
        for (k, (var, init)) in carried.carried.iter().zip(carried.init).enumerate() {
            if self.region.type_of(*var).is_scalar() {
                begun.scalars.push(k);
                begun.values.push(self.exp(init)?);
                continue;
            }
            let array = self.array_exp(init)?;
            let own = if self.owners.is_kept(*var) { array } else { self.copied(&array)? };
            begun.arrays.push((k, own));
        }
        Ok(begun)
    }

    /// A loop that is all of a region: its arrays lie where the results go, which hold what they begin as.
    pub fn whole_loop(&mut self, form: &Form<'_>, stm: &Stm, results: Vec<View>) -> Result<(), Refusal> {
        let (carried, init, body) = match &stm.rhs {
            Rhs::For { carried, init, body, .. } | Rhs::While { carried, init, body, .. } => {
                (carried, init, body)
            }
            _ => return Err(Refusal::new("internal: no loop")),
        };
        let mut begun = Begun { scalars: Vec::new(), values: Vec::new(), arrays: Vec::new() };
        for (k, var) in carried.iter().enumerate() {
            if self.region.type_of(*var).is_scalar() {
                begun.scalars.push(k);
                begun.values.push(self.exp(&init[k])?);
                continue;
            }
            let at = form.results.iter().position(|result| *result == k);
            let at = at.ok_or_else(|| Refusal::new("internal: an array without a result"))?;
            let view = results[at].clone();
            let made = Some(Made { root: view.base, across: false });
            begun.arrays.push((k, View { made, ..view }));
        }
        let carried = Carried { pat: &stm.pat, carried, init, body };
        match &stm.rhs {
            Rhs::For { axis, .. } => {
                let bound = self.exp(&axis.bound)?;
                self.run_for(&carried, begun, axis, &bound)?;
            }
            Rhs::While { cond, .. } => self.run_while(&carried, begun, cond)?,
            _ => {}
        }
        for (view, number) in results.iter().zip(&form.results) {
            if view.dims.is_empty() {
                let value = self.scalar_var(stm.pat[*number])?;
                self.store(view, &value);
            }
        }
        Ok(())
    }

    /// Gives the arrays their names in a round.
    pub fn begin_round(&mut self, carried: &Carried<'_>, begun: &Begun) {
        for (k, view) in &begun.arrays {
            let view = self.written(view.clone());
            self.views.insert(carried.carried[*k], view);
        }
    }

    /// A round, from the scalars to the next ones.
    pub fn next_round(
        &mut self,
        carried: &Carried<'_>,
        begun: &Begun,
        now: &[Value],
    ) -> Result<Vec<Value>, Refusal> {
        self.bind_all(&begun.names(carried.carried), now);
        self.statements(carried.body)?;
        let next =
            begun.scalars.iter().map(|k| self.exp(&carried.body.results[*k])).collect::<Result<_, _>>()?;
        self.end_round(carried, begun)?;
        Ok(next)
    }

    /// Copies next values of arrays to where the arrays lie, unless they are there.
    fn end_round(&mut self, carried: &Carried<'_>, begun: &Begun) -> Result<(), Refusal> {
        let mut copies = Vec::new();
        for (k, to) in &begun.arrays {
            let result = &carried.body.results[*k];
            let name = Lower::named(result).ok_or_else(|| Refusal::new("an array expression"))?;
            if matches!(result, Exp::Var(_)) && self.owners.are_same(name, carried.carried[*k]) {
                continue;
            }
            let from = self.array_exp(result)?;
            // What any of the arrays is copied to may be what this one is copied from.
            let meets =
                begun.arrays.iter().any(|(other, _)| self.owners.may_meet(name, carried.carried[*other]));
            copies.push((to, if meets { self.copied(&from)? } else { from }));
        }
        copies.into_iter().try_for_each(|(to, from)| self.copy_array(to, &from))
    }

    fn end_loop(&mut self, carried: &Carried<'_>, begun: Begun, values: &[Value]) {
        self.bind_all(&begun.names(carried.pat), values);
        for (k, view) in begun.arrays {
            let view = self.written(view);
            self.views.insert(carried.pat[k], view);
        }
    }

    /// `loop .. for`.
    pub fn lower_for(&mut self, carried: &Carried<'_>, axis: &Axis) -> Result<(), Refusal> {
        let bound = self.exp(&axis.bound)?;
        let begun = self.begin_loop(carried)?;
        self.run_for(carried, begun, axis, &bound)
    }

    fn run_for(
        &mut self,
        carried: &Carried<'_>,
        begun: Begun,
        axis: &Axis,
        bound: &Value,
    ) -> Result<(), Refusal> {
        let values = match bound.varies() {
            true => self.for_lanes(carried, &begun, axis, bound)?,
            false => {
                let shapes = self.carried_shapes(carried, &begun, None);
                let high = self.uniform(bound);
                let (low, values) = match self.turns_abreast(carried, &begun, axis, high)? {
                    Some(gone) => gone,
                    None => (self.b.int(0), begun.values.clone()),
                };
                let span = Span { low, high, step: 1, few: is_few(bound.known()) };
                self.counted(span, &values, &shapes, &mut |l, counter, now| {
                    l.bind_scalar(axis.var, Value::uniform(ElemType::I64, counter));
                    l.begin_round(carried, &begun);
                    l.next_round(carried, &begun, now)
                })?
                .1
            }
        };
        self.end_loop(carried, begun, &values);
        Ok(())
    }

    /// Which carried scalars vary: a fixed point over the body.
    fn carried_shapes(
        &mut self,
        carried: &Carried<'_>,
        begun: &Begun,
        cond: Option<&Exp>,
    ) -> Vec<(ElemType, bool)> {
        let mut varying = self.varying();
        for (k, value) in begun.scalars.iter().zip(&begun.values) {
            if value.varies() {
                varying.insert(carried.carried[*k]);
            }
        }
        // In lanes each of them has an array of its own.
        varying.extend(begun.arrays.iter().map(|(k, _)| carried.carried[*k]));
        loop {
            let before = varying.len();
            self.spread_body(&mut varying, carried.body);
            let all = cond.is_some_and(|c| self.spreads(&varying, c));
            for (var, result) in carried.carried.iter().zip(&carried.body.results) {
                if all || self.spreads(&varying, result) {
                    varying.insert(*var);
                }
            }
            if varying.len() == before {
                break;
            }
        }
        let in_lanes = self.lanes.is_some();
        let names = begun.names(carried.carried);
        names.iter().map(|v| (self.region.type_of(*v).elem, in_lanes && varying.contains(v))).collect()
    }

    /// `loop .. while`.
    pub fn lower_while(&mut self, carried: &Carried<'_>, cond: &Exp) -> Result<(), Refusal> {
        let begun = self.begin_loop(carried)?;
        self.run_while(carried, begun, cond)
    }

    fn run_while(&mut self, carried: &Carried<'_>, begun: Begun, cond: &Exp) -> Result<(), Refusal> {
        let shapes = self.carried_shapes(carried, &begun, Some(cond));
        let names = begun.names(carried.carried);
        let mut varying = self.varying();
        varying.extend(names.iter().zip(&shapes).filter(|(_, s)| s.1).map(|(v, _)| *v));
        varying.extend(begun.arrays.iter().map(|(k, _)| carried.carried[*k]));
        let values = match self.lanes.is_some() && self.spreads(&varying, cond) {
            true => self.while_lanes(carried, &begun, cond)?,
            false => self.while_branches(carried, &begun, &shapes, cond)?,
        };
        self.end_loop(carried, begun, &values);
        Ok(())
    }

    /// A `while` whose condition is the same in all lanes.
    fn while_branches(
        &mut self,
        carried: &Carried<'_>,
        begun: &Begun,
        shapes: &[(ElemType, bool)],
        cond: &Exp,
    ) -> Result<Vec<Value>, Refusal> {
        let init = self.registers(&begun.values, shapes);
        let zero = self.b.int(0);
        let (header, run, back, out, after) =
            (self.b.block(), self.b.block(), self.b.block(), self.b.block(), self.b.block());
        let outside = self.b.current();
        // The condition is asked before each round, so nothing of it may move in front of the loop but pure work.
        self.b.open_from(Scope::Guard, outside);
        // Only to ask now and then whether to go on.
        let number = self.b.param(header, Class::Int);
        let now = self.block_values(header, shapes);
        self.b.start(header);
        self.bind_all(&begun.names(carried.carried), &now);
        self.begin_round(carried, begun);
        let turn = self.turn_begins();
        let go_on = self.exp(cond)?;
        let go_on = self.uniform(&go_on);
        let asked = self.b.current();
        self.b.open_from(Scope::Guard, asked);
        self.b.start(run);
        let next = self.next_round(carried, begun, &now)?;
        let next = self.registers(&next, shapes);
        let next_number = self.b.op(Op::AluImm(Bin::Add, Width::W64, 1), &[number]);
        self.turn_ends(turn, Turns::Counted(next_number, 1));
        self.b.end(Op::Jump(back), &[]);
        self.b.close();
        self.b.start(back);
        self.b.end(Op::Jump(header), &with(next_number, &next));
        let now = self.registers(&now, shapes);
        self.b.end_of(asked, Op::BranchBool(run, out), &[go_on]);
        self.b.close();
        self.b.start(out);
        self.b.end(Op::Jump(after), &now);
        self.b.end_of(outside, Op::Jump(header), &with(zero, &init));
        let results = self.block_values(after, shapes);
        self.b.start(after);
        Ok(results)
    }

    /// Which scalars of a loop somebody uses.
    fn kept(&self, carried: &Carried<'_>, begun: &Begun) -> Vec<bool> {
        begun.scalars.iter().map(|k| self.used.contains(&carried.pat[*k])).collect()
    }

    fn while_lanes(
        &mut self,
        carried: &Carried<'_>,
        begun: &Begun,
        cond: &Exp,
    ) -> Result<Vec<Value>, Refusal> {
        let names = begun.names(carried.carried);
        let asked = |l: &mut Self, now: &[Value]| {
            l.bind_all(&names, now);
            l.begin_round(carried, begun);
            l.exp(cond)
        };
        let first = asked(self, &begun.values)?;
        self.masked_loop(
            &begun.values,
            &self.kept(carried, begun),
            &first,
            &mut |l, _, now| {
                l.begin_round(carried, begun);
                l.next_round(carried, begun, now)
            },
            &mut |l, _, now| asked(l, now),
        )
    }

    fn for_lanes(
        &mut self,
        carried: &Carried<'_>,
        begun: &Begun,
        axis: &Axis,
        bound: &Value,
    ) -> Result<Vec<Value>, Refusal> {
        let more = |l: &mut Self, counter: &Value| {
            l.scalar_op(ScalarOp::Lt, ElemType::I64, &[counter.clone(), bound.clone()])
        };
        let first = more(self, &Value::int(0))?;
        self.masked_loop(
            &begun.values,
            &self.kept(carried, begun),
            &first,
            &mut |l, counter, now| {
                l.bind_scalar(axis.var, Value::uniform(ElemType::I64, counter));
                l.begin_round(carried, begun);
                l.next_round(carried, begun, now)
            },
            &mut |l, next, _| more(l, &Value::uniform(ElemType::I64, next)),
        )
    }
}
