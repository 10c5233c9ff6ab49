//! Loops whose turns are computed side by side: the lanes go across the turns.
//!
//! What a turn hands on is joined with a number of each turn (`galopvm_kir::turns`), so the numbers of all lanes are prefixes of
//! these. Where something is added to the number first, `x = max(x + d, a)`, the turns' numbers are made comparable: the one of
//! lane `k` is lowered by `k * d`, and what they come to is raised by as much again. That is the same only where no sum leaves
//! its type: a vector with numbers that are too large for that is computed turn by turn.
//!
//! The number that is handed on is in all lanes of a register, so that the next vector waits for one or two operations on it.
//! All of a vector is read before any of it is written.

use super::Lanes;
use super::Lower;
use super::carry::{Begun, Carried};
use super::control::Span;
use super::primitive::Raw;
use super::value::{Parts, Value, lane_of, vector};
use crate::lir::build::Scope;
use crate::lir::{Bin, Op, Reg, Width};
use galopvm_base::{ElemType, ScalarOp};
use galopvm_kir::linear::Definitions;
use galopvm_kir::turns::{Handed, Turns};
use galopvm_kir::{Axis, Exp, Refusal, Rhs, Stm, VarId};
use std::collections::HashSet;

/// A loop whose turns run in lanes.
struct Abreast<'s> {
    carried: &'s Carried<'s>,
    begun: &'s Begun,
    axis: &'s Axis,
    handed: Option<Handed>,
    raised: Option<Raised>,
}

/// What is added to the number that turns hand on, as registers with the same number in all lanes, but for the ramp.
#[derive(Clone, Copy)]
struct Raised {
    by: Reg,
    /// In lane `k` what is added in `k` turns.
    ramp: Reg,
    /// What is added in as many turns as a register has lanes, and in all of these but one.
    in_all: Reg,
    in_all_but_one: Reg,
    /// The least and the greatest number from which no sum leaves its type.
    least: Reg,
    greatest: Reg,
}

impl Lower<'_> {
    /// The turns of a loop, as far as there are whole vectors of them, if the plan has them in lanes: where the others go on, and
    /// with what.
    pub fn turns_abreast(
        &mut self,
        carried: &Carried<'_>,
        begun: &Begun,
        axis: &Axis,
        high: Reg,
    ) -> Result<Option<(Reg, Vec<Value>)>, Refusal> {
        if self.lanes.is_some() || self.target.lanes() == 1 {
            return Ok(None);
        }
        let Some(groups) = self.plan.groups(axis.var) else { return Ok(None) };
        let region = self.region.region();
        let definitions = Definitions::of(&region.body);
        let turns = Turns::of(region, (carried.carried, axis.var, carried.body), &definitions);
        let in_place = |stm: &Stm| match stm.rhs {
            Rhs::Update { .. } => stm.pat.iter().all(|made| self.owners.is_kept(*made)),
            _ => true,
        };
        let Some(turns) = turns.ok().filter(|_| carried.body.stms.iter().all(in_place)) else {
            return Ok(None);
        };
        self.lanes = Some(Lanes { groups });
        let raised = match &turns.handed {
            Some(Handed { by: Some(by), position, .. }) => {
                Some(self.raised(by, self.region.type_of(carried.carried[*position]).elem)?)
            }
            _ => None,
        };
        let abreast = Abreast { carried, begun, axis, handed: turns.handed, raised };
        let shapes: Vec<(ElemType, bool)> = begun.values.iter().map(|value| (value.ty, true)).collect();
        let (low, step) = (self.b.int(0), self.lane_count() as i64);
        let (counter, last) = self.counted(
            Span { low, high, step, few: false },
            &begun.values,
            &shapes,
            &mut |l, counter, now| {
                l.bind_lane_axis(axis.var, counter);
                l.begin_round(carried, begun);
                l.vector_of_turns(&abreast, counter, now)
            },
        )?;
        let last = last.iter().map(|value| self.number_of_all(value)).collect();
        self.lanes = None;
        Ok(Some((counter, last)))
    }

    /// The number that all lanes of a value hold.
    fn number_of_all(&mut self, value: &Value) -> Value {
        let reg = self.parts(value)[0];
        Value::uniform(value.ty, self.b.op(Op::FromFloat(lane_of(value.ty)), &[reg]))
    }

    /// What is added to the number that turns hand on.
    fn raised(&mut self, by: &Exp, ty: ElemType) -> Result<Raised, Refusal> {
        let by = self.exp(by)?;
        let lanes = (self.target.vectors().bytes() / lane_of(ty).bytes()) as i64;
        let turns = self.lane_count() as i64;
        let bits = 8 * ty.bytes() as u32;
        let (least, greatest) = (-1i64 << (bits - 1), !(-1i64 << (bits - 1)));
        let int = ElemType::I64;
        let wide = self.convert(&by, int);
        let mut op = |op, ty, args: &[&Value]| {
            let args: Vec<Value> = args.iter().map(|arg| (*arg).clone()).collect();
            self.scalar_op(op, ty, &args)
        };
        let number = Value::int;
        let size = op(ScalarOp::Abs, int, &[&wide])?;
        let is_number = op(ScalarOp::Le, int, &[&number(0), &size])?;
        let is_small = op(ScalarOp::Le, int, &[&size, &number(greatest / 2 / turns)])?;
        let is_small = op(ScalarOp::And, ElemType::Bool, &[&is_number, &is_small])?;
        let margin = op(ScalarOp::Mul, int, &[&size, &number(turns)])?;
        // Where so much is added that sums leave the type anyway, no number is between the least and the greatest.
        let low = op(ScalarOp::Add, int, &[&number(least), &margin])?;
        let low = op(ScalarOp::Select, int, &[&is_small, &low, &number(greatest)])?;
        let high = op(ScalarOp::Sub, int, &[&number(greatest), &margin])?;
        let high = op(ScalarOp::Select, int, &[&is_small, &high, &number(least)])?;
        let in_all = op(ScalarOp::Mul, int, &[&wide, &number(lanes)])?;
        let in_all_but_one = op(ScalarOp::Mul, int, &[&wide, &number(lanes - 1)])?;
        let mut in_lanes = |value: &Value| {
            let narrow = self.convert(value, ty);
            self.parts(&narrow)[0]
        };
        let [least, greatest, in_all, in_all_but_one, by] =
            [&low, &high, &in_all, &in_all_but_one, &wide].map(&mut in_lanes);
        let lane = lane_of(ty);
        let iota = self.b.op(Op::Iota(lane, 0), &[]);
        let ramp = self.b.op(vector(Bin::Mul, lane), &[iota, by]);
        Ok(Raised { by, ramp, in_all, in_all_but_one, least, greatest })
    }

    /// A vector of turns, from the number that is handed to the first of them to the one that the last hands on.
    fn vector_of_turns(
        &mut self,
        abreast: &Abreast<'_>,
        counter: Reg,
        now: &[Value],
    ) -> Result<Vec<Value>, Refusal> {
        let stms = &abreast.carried.body.stms;
        let is_update = |stm: &&Stm| matches!(stm.rhs, Rhs::Update { .. });
        let Some(handed) = &abreast.handed else {
            stms.iter().filter(|stm| !is_update(stm)).try_for_each(|stm| self.stm(stm))?;
            stms.iter().filter(is_update).try_for_each(|stm| self.stm(stm))?;
            return Ok(Vec::new());
        };
        let late = following(stms, handed.name);
        let is_late = |stm: &&Stm| stm.pat.iter().any(|var| late.contains(var));
        stms.iter().filter(|stm| !is_late(stm) && !is_update(stm)).try_for_each(|stm| self.stm(stm))?;
        let item = self.exp(&handed.item)?;
        let mut rest = |l: &mut Self| {
            let numbers = l.numbers_of_turns(abreast, handed, &item, &now[0])?;
            if let Some(name) = handed.name {
                l.bind_scalar(name, numbers.0);
            }
            let is_own = |stm: &&Stm| stm.pat.iter().any(|var| Some(*var) == handed.name);
            stms.iter()
                .filter(|stm| is_late(stm) && !is_own(stm) && !is_update(stm))
                .try_for_each(|stm| l.stm(stm))?;
            stms.iter().filter(is_update).try_for_each(|stm| l.stm(stm))?;
            Ok(numbers.1)
        };
        let next = match &abreast.raised {
            None => rest(self)?,
            Some(raised) => self.unless_large(abreast, raised, (&item, counter, &now[0]), &mut rest)?,
        };
        Ok(vec![next])
    }

    /// The numbers that the turns hand on, and the last one in all lanes.
    fn numbers_of_turns(
        &mut self,
        abreast: &Abreast<'_>,
        handed: &Handed,
        item: &Value,
        before: &Value,
    ) -> Result<(Value, Value), Refusal> {
        let (ty, op) = (item.ty, handed.op);
        let neutral = op.info().identity.map(|identity| identity.of(ty));
        let neutral = neutral.ok_or_else(|| Refusal::new("internal: no neutral element"))?;
        let count = self.part_count(ty);
        let registers = self.parts(item);
        let (fill, start) = (self.parts(&Value::constant(neutral))[0], self.parts(before)[0]);
        let lanes = self.lanes.replace(Lanes { groups: 1 });
        let (numbers, last) = match &abreast.raised {
            None => self.prefix_registers(op, ty, registers, (fill, start))?,
            Some(raised) => self.raised_registers((op, ty), raised, registers, (fill, start))?,
        };
        self.lanes = lanes;
        let last = std::iter::repeat_n(last, count).collect();
        Ok((Raw::Many(numbers).typed(ty), Raw::Many(last).typed(ty)))
    }

    fn raised_registers(
        &mut self,
        (op, ty): (ScalarOp, ElemType),
        raised: &Raised,
        registers: Parts,
        (fill, mut before): (Reg, Reg),
    ) -> Result<(Parts, Reg), Refusal> {
        let lane = lane_of(ty);
        let (add, sub) = (vector(Bin::Add, lane), vector(Bin::Sub, lane));
        let mut numbers = Parts::new();
        for reg in registers {
            let lowered = self.b.op(sub, &[reg, raised.ramp]);
            let prefixes = self.prefixes_of_lanes(op, ty, lowered, fill)?;
            let first = self.b.op(add, &[before, raised.by]);
            let joined = self.one_register(op, ty, first, prefixes)?;
            numbers.push(self.b.op(add, &[joined, raised.ramp]));
            let total = self.b.op(Op::SplatLast(lane.as_int()), &[prefixes]);
            let total = self.b.op(add, &[total, raised.in_all_but_one]);
            let through = self.b.op(add, &[before, raised.in_all]);
            before = self.one_register(op, ty, through, total)?;
        }
        Ok((numbers, before))
    }

    /// The work on a vector of turns whose numbers are small enough; others are computed turn by turn.
    fn unless_large(
        &mut self,
        abreast: &Abreast<'_>,
        raised: &Raised,
        (item, counter, before): (&Value, Reg, &Value),
        work: &mut dyn FnMut(&mut Self) -> Result<Value, Refusal>,
    ) -> Result<Value, Refusal> {
        let shapes = [(item.ty, true)];
        let is_large = self.are_outside(raised, &[item, before])?;
        let (one_by_one, together, join) = (self.b.block(), self.b.block(), self.b.block());
        let outside = self.b.current();
        let lanes = self.lanes;
        let step = self.lane_count() as i32;

        self.b.open_from(Scope::Branch, outside);
        self.b.start(together);
        let last = work(self)?;
        let last = self.registers(&[last], &shapes);
        self.b.close();
        self.b.end(Op::Jump(join), &last);

        self.b.open_from(Scope::Branch, outside);
        self.b.start(one_by_one);
        let first = self.number_of_all(before);
        self.lanes = None;
        let end = self.b.op(Op::AluImm(Bin::Add, Width::W64, step), &[counter]);
        let span = Span { low: counter, high: end, step: 1, few: true };
        let (_, last) = self.counted(span, &[first], &[(item.ty, false)], &mut |l, counter, now| {
            l.bind_scalar(abreast.axis.var, Value::uniform(ElemType::I64, counter));
            l.begin_round(abreast.carried, abreast.begun);
            l.next_round(abreast.carried, abreast.begun, now)
        })?;
        self.lanes = lanes;
        let last = self.registers(&last, &shapes);
        self.b.close();
        self.b.end(Op::Jump(join), &last);

        self.b.end_of(outside, Op::BranchAny(one_by_one, together), &[is_large]);
        let values = self.block_values(join, &shapes);
        self.b.start(join);
        values.into_iter().next().ok_or_else(|| Refusal::new("internal: no number"))
    }

    /// A mask with a lane set if some number is too small or too large.
    fn are_outside(&mut self, raised: &Raised, numbers: &[&Value]) -> Result<Reg, Refusal> {
        let mut outside = Parts::new();
        for value in numbers {
            let count = self.part_count(value.ty);
            let of_all = |reg: Reg| Raw::Many(std::iter::repeat_n(reg, count).collect()).typed(value.ty);
            let (least, greatest) = (of_all(raised.least), of_all(raised.greatest));
            for pair in [[(*value).clone(), least], [greatest, (*value).clone()]] {
                let is_outside = self.scalar_op(ScalarOp::Lt, value.ty, &pair)?;
                outside.extend(self.parts(&is_outside));
            }
        }
        Ok(self.any_of(&outside))
    }
}

/// What statements define from a name on, itself included.
fn following(stms: &[Stm], name: Option<VarId>) -> HashSet<VarId> {
    let mut late: HashSet<VarId> = name.into_iter().collect();
    for stm in stms {
        if stm.free_vars().iter().any(|var| late.contains(var)) {
            late.extend(&stm.pat);
        }
    }
    late
}
