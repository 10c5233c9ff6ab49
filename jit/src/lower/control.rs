//! Ifs and loops. Where the condition is the same in all lanes they are branches; where it differs, both sides run
//! under masks, and a loop runs until no lane is left in it.

use super::Lower;
use super::poll::{Turns, is_few};
use super::primitive::Raw;
use super::value::{Parts, Value, class_of, lane_of};
use crate::lir::build::Scope;
use crate::lir::{Bin, Cond, Label, Op, Reg, Width};
use galopvm_base::ElemType;
use galopvm_kir::{Axis, Body, Exp, Refusal, VarId};

/// Expressions in a branch up to which computing both sides is cheaper than branching.
const CHEAP: usize = 24;

/// The body of a loop under construction: from the counter and the carried values to the next values.
pub type Work<'f, 'a> = &'f mut dyn FnMut(&mut Lower<'a>, Reg, &[Value]) -> Result<Vec<Value>, Refusal>;

/// Which lanes go on, from the next round's number and values.
pub type More<'f, 'a> = &'f mut dyn FnMut(&mut Lower<'a>, Reg, &[Value]) -> Result<Value, Refusal>;

/// The counter of a loop: from `low` in steps while `counter + step <= high`.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// First value.
    pub low: Reg,
    /// The end.
    pub high: Reg,
    /// A small power of two.
    pub step: i64,
    /// There are few turns.
    pub few: bool,
}

fn with(first: Reg, rest: &[Reg]) -> Vec<Reg> {
    [first].into_iter().chain(rest.iter().copied()).collect()
}

impl<'a> Lower<'a> {
    /// Parameters of a block for values that vary or not; and the values they are.
    pub fn block_values(&mut self, label: Label, shapes: &[(ElemType, bool)]) -> Vec<Value> {
        shapes
            .iter()
            .map(|&(ty, varies)| {
                if !varies {
                    let reg = self.b.param(label, class_of(ty));
                    return Value::uniform(ty, reg);
                }
                let class = self.part_class(ty);
                let parts = (0..self.part_count(ty)).map(|_| self.b.param(label, class)).collect();
                Raw::Many(parts).typed(ty)
            })
            .collect()
    }

    /// The registers that a jump passes for values of these shapes.
    pub fn registers(&mut self, values: &[Value], shapes: &[(ElemType, bool)]) -> Vec<Reg> {
        let mut regs = Vec::new();
        for (value, &(_, varies)) in values.iter().zip(shapes) {
            match self.raw(value, varies) {
                Raw::One(reg) => regs.push(reg),
                Raw::Many(parts) => regs.extend(parts),
            }
        }
        regs
    }

    /// Traps if a uniform truth value is false.
    pub fn trap_unless(&mut self, holds: Reg) {
        let (go_on, trap) = (self.b.block(), self.b.block());
        self.b.end(Op::BranchBool(go_on, trap), &[holds]);
        self.cold.push(trap);
        self.b.start(go_on);
    }

    /// Traps if a bool is true in some active lane.
    pub fn trap_where(&mut self, bad: &Raw) {
        let (go_on, trap) = (self.b.block(), self.b.block());
        match bad {
            Raw::One(reg) => self.b.end(Op::BranchBool(trap, go_on), &[*reg]),
            Raw::Many(masks) => {
                let masks = self.under_mask(masks);
                let any = self.any_of(&masks);
                self.b.end(Op::BranchAny(trap, go_on), &[any]);
            }
        }
        self.cold.push(trap);
        self.b.start(go_on);
    }

    /// The active ones of these lanes.
    pub fn under_mask(&mut self, masks: &[Reg]) -> Parts {
        match self.mask.clone() {
            None => masks.into(),
            Some(outer) => {
                outer.iter().zip(masks).map(|(a, b)| self.b.op(Op::MaskLogic(Bin::And), &[*a, *b])).collect()
            }
        }
    }

    /// The lanes that are active and not in `masks`.
    fn mask_without(&mut self, masks: &[Reg]) -> Parts {
        let outer = self.mask_or_all();
        outer.iter().zip(masks).map(|(a, b)| self.b.op(Op::MaskLogic(Bin::AndNot), &[*b, *a])).collect()
    }

    /// `if`.
    pub fn lower_if(
        &mut self,
        pat: &[VarId],
        cond: &Exp,
        then: &Body,
        other: &Body,
    ) -> Result<Vec<Value>, Refusal> {
        let condition = self.exp(cond)?;
        if let Some(bits) = condition.known() {
            return self.body(if bits != 0 { then } else { other });
        }
        if condition.varies() {
            return self.if_lanes(pat, &condition, then, other);
        }
        let mut varying = self.varying();
        self.spread_body(&mut varying, then);
        self.spread_body(&mut varying, other);
        let shapes: Vec<(ElemType, bool)> = pat
            .iter()
            .zip(then.results.iter().zip(&other.results))
            .map(|(p, (a, b))| {
                let varies = self.spreads(&varying, a) || self.spreads(&varying, b);
                (self.region.type_of(*p).elem, varies && self.lanes.is_some())
            })
            .collect();
        let (yes, no, join) = (self.b.block(), self.b.block(), self.b.block());
        let reg = self.uniform(&condition);
        let outside = self.b.current();
        for (label, body) in [(yes, then), (no, other)] {
            self.b.open_from(Scope::Branch, outside);
            self.b.start(label);
            let results = self.body(body)?;
            let args = self.registers(&results, &shapes);
            self.b.close();
            self.b.end(Op::Jump(join), &args);
        }
        self.b.end_of(outside, Op::BranchBool(yes, no), &[reg]);
        let values = self.block_values(join, &shapes);
        self.b.start(join);
        Ok(values)
    }

    fn if_lanes(
        &mut self,
        pat: &[VarId],
        condition: &Value,
        then: &Body,
        other: &Body,
    ) -> Result<Vec<Value>, Refusal> {
        let condition = self.raw(condition, true);
        let Raw::Many(masks) = &condition else {
            return Err(Refusal::new("internal: a condition has no lanes"));
        };
        let masks = masks.clone();
        if self.is_cheap(then) && self.is_cheap(other) {
            let (a, b) = (self.body(then)?, self.body(other)?);
            return Ok(a.iter().zip(&b).map(|(a, b)| self.merge(&condition, a, b)).collect());
        }
        let outer = self.mask.clone();
        let sides = [(self.under_mask(&masks), then), (self.mask_without(&masks), other)];
        let shapes: Vec<(ElemType, bool)> =
            pat.iter().map(|p| (self.region.type_of(*p).elem, true)).collect();
        let mut results = Vec::new();
        for (mask, body) in sides {
            let (run, skip, join) = (self.b.block(), self.b.block(), self.b.block());
            let nothing: Vec<Value> = shapes.iter().map(|(ty, _)| Lower::zero(*ty)).collect();
            let nothing = self.registers(&nothing, &shapes);
            let any = self.any_of(&mask);
            let outside = self.b.current();
            self.b.open_from(Scope::Branch, outside);
            self.b.start(run);
            self.mask = Some(mask);
            let values = self.body(body)?;
            let args = self.registers(&values, &shapes);
            self.b.close();
            self.b.end(Op::Jump(join), &args);
            self.b.start(skip);
            self.b.end(Op::Jump(join), &nothing);
            self.b.end_of(outside, Op::BranchAny(run, skip), &[any]);
            results.push(self.block_values(join, &shapes));
            self.b.start(join);
            self.mask = outer.clone();
        }
        let (a, b) = (&results[0], &results[1]);
        Ok(a.iter().zip(b).map(|(a, b)| self.merge(&condition, a, b)).collect())
    }

    /// `condition ? a : b` lane by lane.
    pub fn merge(&mut self, condition: &Raw, a: &Value, b: &Value) -> Value {
        if a == b {
            return a.clone();
        }
        let ty = a.ty;
        let (a, b) = (self.raw(a, true), self.raw(b, true));
        if ty == ElemType::Bool {
            let yes = self.logic(Bin::And, condition, &a);
            let no = self.logic(Bin::AndNot, condition, &b);
            return self.logic(Bin::Or, &yes, &no).typed(ty);
        }
        self.select(condition, lane_of(ty), &a, &b).typed(ty)
    }

    /// Without statements that loop, reads or traps, and short: may be computed for nothing.
    fn is_cheap(&self, body: &Body) -> bool {
        let mut count = 0;
        let mut plain = true;
        body.visit_stms(&mut |stm| {
            plain &= matches!(stm.rhs, galopvm_kir::Rhs::Exps(_) | galopvm_kir::Rhs::If { .. })
        });
        body.visit_exps(&mut |whole| {
            whole.visit(&mut |exp| match exp {
                Exp::Op(op, elem, _) => {
                    plain &= !op.can_trap(*elem) && op.is_exact(*elem);
                    count += 1;
                }
                Exp::Convert(..) => count += 2,
                Exp::Read(_) => plain = false,
                _ => {}
            });
        });
        plain && count <= CHEAP
    }

    /// A loop over a span around `work`; it carries `values` with the given shapes. Gives the counter and the
    /// values at the end.
    pub fn counted(
        &mut self,
        span: Span,
        values: &[Value],
        shapes: &[(ElemType, bool)],
        work: Work<'_, 'a>,
    ) -> Result<(Reg, Vec<Value>), Refusal> {
        let Span { low, high, step, few } = span;
        let (pre, skip, header, back, out, after) =
            (self.b.block(), self.b.block(), self.b.block(), self.b.block(), self.b.block(), self.b.block());
        // `counter + step <= high`, rewritten so that nothing overflows: `counter < high - (step - 1)`.
        let last = match step {
            1 => high,
            _ => self.b.op(Op::AluImm(Bin::Sub, Width::W64, (step - 1) as i32), &[high]),
        };
        let init = self.registers(values, shapes);
        let outside = self.b.current();
        self.b.end(Op::BranchIf(Cond::Lt, Width::W64, pre, skip), &[low, last]);
        self.b.open_from(Scope::Guard, outside);
        self.b.start(pre);
        self.b.open_from(Scope::Loop, pre);
        let counter = self.b.param(header, crate::lir::Class::Int);
        let carried = self.block_values(header, shapes);
        self.b.start(header);
        let turn = self.turn_begins();
        let next = work(self, counter, &carried)?;
        let next = self.registers(&next, shapes);
        let next_counter = self.b.op(Op::AluImm(Bin::Add, Width::W64, step as i32), &[counter]);
        self.turn_ends(turn, if few { Turns::Few } else { Turns::Counted(next_counter, step) });
        self.b.end(Op::BranchIf(Cond::Lt, Width::W64, back, out), &[next_counter, last]);
        self.b.close();
        self.b.close();
        self.b.end_of(pre, Op::Jump(header), &with(low, &init));
        self.b.start(back);
        self.b.end(Op::Jump(header), &with(next_counter, &next));
        self.b.start(out);
        self.b.end(Op::Jump(after), &with(next_counter, &next));
        self.b.start(skip);
        self.b.end(Op::Jump(after), &with(low, &init));
        let counter = self.b.param(after, crate::lir::Class::Int);
        let values = self.block_values(after, shapes);
        self.b.start(after);
        Ok((counter, values))
    }

    /// `loop .. for`.
    pub fn lower_for(
        &mut self,
        pat: &[VarId],
        carried: &[VarId],
        init: &[Exp],
        axis: &Axis,
        body: &Body,
    ) -> Result<Vec<Value>, Refusal> {
        let values = self.exps(init)?;
        let bound = self.exp(&axis.bound)?;
        if bound.varies() {
            let keep = self.kept(pat);
            return self.for_lanes(carried, values, axis, &bound, body, &keep);
        }
        let shapes = self.carried_shapes(carried, &values, body, None);
        let (low, high) = (self.b.int(0), self.uniform(&bound));
        let span = Span { low, high, step: 1, few: is_few(bound.known()) };
        let (_, results) = self.counted(span, &values, &shapes, &mut |l, counter, now| {
            l.bind_scalar(axis.var, Value::uniform(ElemType::I64, counter));
            l.bind_all(carried, now);
            l.body(body)
        })?;
        Ok(results)
    }

    /// Which carried values vary: a fixed point over the body.
    pub fn carried_shapes(
        &mut self,
        carried: &[VarId],
        init: &[Value],
        body: &Body,
        cond: Option<&Exp>,
    ) -> Vec<(ElemType, bool)> {
        let mut varying = self.varying();
        for (var, value) in carried.iter().zip(init) {
            if value.varies() {
                varying.insert(*var);
            }
        }
        loop {
            let before = varying.len();
            self.spread_body(&mut varying, body);
            let all = cond.is_some_and(|c| self.spreads(&varying, c));
            for (var, result) in carried.iter().zip(&body.results) {
                if all || self.spreads(&varying, result) {
                    varying.insert(*var);
                }
            }
            if varying.len() == before {
                break;
            }
        }
        let in_lanes = self.lanes.is_some();
        carried.iter().map(|v| (self.region.type_of(*v).elem, in_lanes && varying.contains(v))).collect()
    }

    /// `loop .. while`.
    pub fn lower_while(
        &mut self,
        pat: &[VarId],
        carried: &[VarId],
        init: &[Exp],
        cond: &Exp,
        body: &Body,
    ) -> Result<Vec<Value>, Refusal> {
        let values = self.exps(init)?;
        let shapes = self.carried_shapes(carried, &values, body, Some(cond));
        let mut varying = self.varying();
        varying.extend(carried.iter().zip(&shapes).filter(|(_, s)| s.1).map(|(v, _)| *v));
        if self.lanes.is_some() && self.spreads(&varying, cond) {
            let keep = self.kept(pat);
            return self.while_lanes(carried, values, cond, body, &keep);
        }
        let init = self.registers(&values, &shapes);
        let zero = self.b.int(0);
        let (header, run, back, out, after) =
            (self.b.block(), self.b.block(), self.b.block(), self.b.block(), self.b.block());
        let outside = self.b.current();
        // The condition is asked before each round, so nothing of it may move in front of the loop but pure work.
        self.b.open_from(Scope::Guard, outside);
        // Only to ask now and then whether to go on.
        let number = self.b.param(header, crate::lir::Class::Int);
        let now = self.block_values(header, &shapes);
        self.b.start(header);
        self.bind_all(carried, &now);
        let turn = self.turn_begins();
        let go_on = self.exp(cond)?;
        let go_on = self.uniform(&go_on);
        let asked = self.b.current();
        self.b.open_from(Scope::Guard, asked);
        self.b.start(run);
        let next = self.body(body)?;
        let next = self.registers(&next, &shapes);
        let next_number = self.b.op(Op::AluImm(Bin::Add, Width::W64, 1), &[number]);
        self.turn_ends(turn, Turns::Counted(next_number, 1));
        self.b.end(Op::Jump(back), &[]);
        self.b.close();
        self.b.start(back);
        self.b.end(Op::Jump(header), &with(next_number, &next));
        let now = self.registers(&now, &shapes);
        self.b.end_of(asked, Op::BranchBool(run, out), &[go_on]);
        self.b.close();
        self.b.start(out);
        self.b.end(Op::Jump(after), &now);
        self.b.end_of(outside, Op::Jump(header), &with(zero, &init));
        let results = self.block_values(after, &shapes);
        self.b.start(after);
        Ok(results)
    }

    /// Which results of a loop somebody uses.
    fn kept(&self, pat: &[VarId]) -> Vec<bool> {
        pat.iter().map(|var| self.used.contains(var)).collect()
    }

    fn while_lanes(
        &mut self,
        carried: &[VarId],
        values: Vec<Value>,
        cond: &Exp,
        body: &Body,
        keep: &[bool],
    ) -> Result<Vec<Value>, Refusal> {
        self.bind_all(carried, &values);
        let first = self.exp(cond)?;
        self.masked_loop(
            &values,
            keep,
            &first,
            &mut |l, _, now| {
                l.bind_all(carried, now);
                l.body(body)
            },
            &mut |l, _, now| {
                l.bind_all(carried, now);
                l.exp(cond)
            },
        )
    }

    fn for_lanes(
        &mut self,
        carried: &[VarId],
        values: Vec<Value>,
        axis: &Axis,
        bound: &Value,
        body: &Body,
        keep: &[bool],
    ) -> Result<Vec<Value>, Refusal> {
        let more = |l: &mut Self, counter: &Value| {
            l.scalar_op(galopvm_base::ScalarOp::Lt, ElemType::I64, &[counter.clone(), bound.clone()])
        };
        let first = more(self, &Value::int(0))?;
        self.masked_loop(
            &values,
            keep,
            &first,
            &mut |l, counter, now| {
                l.bind_scalar(axis.var, Value::uniform(ElemType::I64, counter));
                l.bind_all(carried, now);
                l.body(body)
            },
            &mut |l, next, _| more(l, &Value::uniform(ElemType::I64, next)),
        )
    }

    /// A loop that lanes leave one by one. `work` computes the next values from the round's number and the values,
    /// `more` says which lanes go on, given the next round's number and values. A lane that has left holds its
    /// last values where `keep` says so, and anything otherwise.
    pub fn masked_loop(
        &mut self,
        values: &[Value],
        keep: &[bool],
        first: &Value,
        work: Work<'_, 'a>,
        more: More<'_, 'a>,
    ) -> Result<Vec<Value>, Refusal> {
        let shapes: Vec<(ElemType, bool)> = values.iter().map(|v| (v.ty, true)).collect();
        let shapes = shapes.as_slice();
        let outer = self.mask.clone();
        let first = self.parts(first);
        let active = self.under_mask(&first);
        let init = self.registers(values, shapes);
        let any = self.any_of(&active);
        let (pre, skip, header, back, out, after) =
            (self.b.block(), self.b.block(), self.b.block(), self.b.block(), self.b.block(), self.b.block());
        let outside = self.b.current();
        let zero = self.b.int(0);
        self.b.end(Op::BranchAny(pre, skip), &[any]);
        self.b.open_from(Scope::Guard, outside);
        self.b.start(pre);
        self.b.open_from(Scope::Loop, pre);
        let round = self.b.param(header, crate::lir::Class::Int);
        let mask_shapes = [(ElemType::Bool, true)];
        let running = self.block_values(header, &mask_shapes);
        let now = self.block_values(header, shapes);
        self.b.start(header);
        let running = self.parts(&running[0]);
        self.mask = Some(running.clone());
        let turn = self.turn_begins();
        let computed = work(self, round, &now)?;
        let condition = Raw::Many(running.clone());
        let next: Vec<Value> = (0..now.len())
            .map(
                |k| if keep[k] { self.merge(&condition, &computed[k], &now[k]) } else { computed[k].clone() },
            )
            .collect();
        let next_round = self.b.op(Op::AluImm(Bin::Add, Width::W64, 1), &[round]);
        let still = more(self, next_round, &next)?;
        let still = self.parts(&still);
        let still = self.under_mask(&still);
        let next = self.registers(&next, shapes);
        self.turn_ends(turn, Turns::Counted(next_round, 1));
        let any = self.any_of(&still);
        self.b.end(Op::BranchAny(back, out), &[any]);
        self.b.close();
        self.b.close();
        self.mask = outer;
        let with = |round: Reg, mask: &[Reg], rest: &[Reg]| -> Vec<Reg> {
            [round].iter().chain(mask).chain(rest).copied().collect()
        };
        self.b.end_of(pre, Op::Jump(header), &with(zero, &active, &init));
        self.b.start(back);
        self.b.end(Op::Jump(header), &with(next_round, &still, &next));
        self.b.start(out);
        self.b.end(Op::Jump(after), &next);
        self.b.start(skip);
        self.b.end(Op::Jump(after), &init);
        let results = self.block_values(after, shapes);
        self.b.start(after);
        Ok(results)
    }
}
