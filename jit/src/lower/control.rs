//! Ifs, and the forms of loops. Where the condition is the same in all lanes they are branches; where it differs, both sides run
//! under masks, and a loop runs until no lane is left in it.

use super::Lower;
use super::access::View;
use super::poll::Turns;
use super::primitive::Raw;
use super::value::{Parts, Value, class_of, lane_of};
use crate::lir::build::Scope;
use crate::lir::{Bin, Cond, Label, Op, Reg, Width};
use galopvm_base::{ElemType, ScalarOp};
use galopvm_kir::{Body, Exp, Refusal, VarId};

/// Expressions in a branch up to which computing both sides is cheaper than branching in lanes.
const CHEAP: usize = 24;
/// Expressions in both branches up to which computing both is cheaper than a jump that may go wrong.
const FEW: usize = 6;

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
    /// A small number; a power of two where the loop has none inside.
    pub step: i64,
    /// There are few turns.
    pub few: bool,
}

/// What an `if` gives.
struct Chosen<'s> {
    pat: &'s [VarId],
    /// The positions of scalars.
    scalars: Vec<usize>,
    /// The positions of arrays, and where each lies; nothing for one that was there before.
    arrays: Vec<(usize, Option<View>)>,
}

impl Chosen<'_> {
    fn bind(&self, lower: &mut Lower<'_>, values: &[Value]) {
        for (k, value) in self.scalars.iter().zip(values) {
            lower.bind_scalar(self.pat[*k], value.clone());
        }
    }
}

/// A register and more of them.
pub fn with(first: Reg, rest: &[Reg]) -> Vec<Reg> {
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
    pub fn mask_without(&mut self, masks: &[Reg]) -> Parts {
        let outer = self.mask_or_all();
        outer.iter().zip(masks).map(|(a, b)| self.b.op(Op::MaskLogic(Bin::AndNot), &[*b, *a])).collect()
    }

    /// `if`.
    pub fn lower_if(&mut self, pat: &[VarId], cond: &Exp, then: &Body, other: &Body) -> Result<(), Refusal> {
        let condition = self.exp(cond)?;
        if let Some(bits) = condition.known() {
            return self.only_side(pat, if bits != 0 { then } else { other });
        }
        let scalars: Vec<usize> =
            (0..pat.len()).filter(|k| self.region.type_of(pat[*k]).is_scalar()).collect();
        let arrays = self.chosen_arrays(pat)?;
        let chosen = Chosen { pat, scalars, arrays };
        match condition.varies() {
            true => self.if_lanes(&chosen, &condition, then, other)?,
            false => self.if_branches(&chosen, &condition, then, other)?,
        }
        for (k, view) in chosen.arrays {
            let view = match view {
                Some(view) => view,
                // Both sides give what was there before them, under another version of its address.
                None => self.array_exp(&then.results[k])?,
            };
            let view = self.written(view);
            self.views.insert(pat[k], view);
        }
        Ok(())
    }

    /// One side of an `if` whose condition is known.
    fn only_side(&mut self, pat: &[VarId], side: &Body) -> Result<(), Refusal> {
        self.statements(side)?;
        self.lets(pat, &side.results)?;
        for var in pat.iter().filter(|var| !self.region.type_of(**var).is_scalar()) {
            if !self.owners.is_kept(*var) {
                let view = self.view(*var)?;
                let own = self.copied(&view)?;
                self.views.insert(*var, own);
            }
        }
        Ok(())
    }

    /// For each array of an `if` a new one, but where both sides give the one that was there before.
    fn chosen_arrays(&mut self, pat: &[VarId]) -> Result<Vec<(usize, Option<View>)>, Refusal> {
        let mut arrays = Vec::new();
        for (k, var) in pat.iter().enumerate().filter(|(_, var)| !self.region.type_of(**var).is_scalar()) {
            let new = match self.owners.is_kept(*var) {
                true => None,
                false => {
                    let extents = self.extents(*var)?;
                    Some(self.fresh(self.region.type_of(*var).elem, &extents)?)
                }
            };
            arrays.push((k, new));
        }
        Ok(arrays)
    }

    /// The body of a side, whose arrays are copied to where the `if` has them; gives its scalars.
    fn side(&mut self, chosen: &Chosen<'_>, body: &Body) -> Result<Vec<Value>, Refusal> {
        self.statements(body)?;
        for (k, to) in &chosen.arrays {
            if let Some(to) = to {
                let from = self.array_exp(&body.results[*k])?;
                self.copy_array(to, &from)?;
            }
        }
        chosen.scalars.iter().map(|k| self.exp(&body.results[*k])).collect()
    }

    /// An `if` whose condition is the same in all lanes.
    fn if_branches(
        &mut self,
        chosen: &Chosen<'_>,
        condition: &Value,
        then: &Body,
        other: &Body,
    ) -> Result<(), Refusal> {
        if self.is_choice(chosen, then, other) {
            let (a, b) = (self.body(then)?, self.body(other)?);
            let choose = |(k, (a, b)): (&usize, (Value, Value))| {
                let elem = self.region.type_of(chosen.pat[*k]).elem;
                self.scalar_op(ScalarOp::Select, elem, &[condition.clone(), a, b])
            };
            let values = chosen.scalars.iter().zip(a.into_iter().zip(b)).map(choose);
            let values: Vec<Value> = values.collect::<Result<_, _>>()?;
            chosen.bind(self, &values);
            return Ok(());
        }
        let mut varying = self.varying();
        self.spread_body(&mut varying, then);
        self.spread_body(&mut varying, other);
        let shape = |k: &usize| {
            let varies = [then, other].iter().any(|side| self.spreads(&varying, &side.results[*k]));
            (self.region.type_of(chosen.pat[*k]).elem, varies && self.lanes.is_some())
        };
        let shapes: Vec<(ElemType, bool)> = chosen.scalars.iter().map(shape).collect();
        let (yes, no, join) = (self.b.block(), self.b.block(), self.b.block());
        let reg = self.uniform(condition);
        let outside = self.b.current();
        for (label, body) in [(yes, then), (no, other)] {
            self.b.open_from(Scope::Branch, outside);
            self.b.start(label);
            let results = self.side(chosen, body)?;
            let args = self.registers(&results, &shapes);
            self.b.close();
            self.b.end(Op::Jump(join), &args);
        }
        self.b.end_of(outside, Op::BranchBool(yes, no), &[reg]);
        let values = self.block_values(join, &shapes);
        self.b.start(join);
        chosen.bind(self, &values);
        Ok(())
    }

    /// An `if` whose condition differs between lanes: both sides, each for its lanes.
    fn if_lanes(
        &mut self,
        chosen: &Chosen<'_>,
        condition: &Value,
        then: &Body,
        other: &Body,
    ) -> Result<(), Refusal> {
        let condition = self.raw(condition, true);
        let Raw::Many(masks) = &condition else {
            return Err(Refusal::new("internal: a condition has no lanes"));
        };
        let masks = masks.clone();
        let is_cheap = |body: &Body| price(body).is_some_and(|price| price <= CHEAP);
        if chosen.arrays.is_empty() && is_cheap(then) && is_cheap(other) {
            let (a, b) = (self.body(then)?, self.body(other)?);
            let values: Vec<Value> = a.iter().zip(&b).map(|(a, b)| self.merge(&condition, a, b)).collect();
            chosen.bind(self, &values);
            return Ok(());
        }
        let outer = self.mask.clone();
        let sides = [(self.under_mask(&masks), then), (self.mask_without(&masks), other)];
        let shapes: Vec<(ElemType, bool)> =
            chosen.scalars.iter().map(|k| (self.region.type_of(chosen.pat[*k]).elem, true)).collect();
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
            let values = self.side(chosen, body)?;
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
        let values: Vec<Value> = a.iter().zip(b).map(|(a, b)| self.merge(&condition, a, b)).collect();
        chosen.bind(self, &values);
        Ok(())
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

    /// Whether an `if` outside of lanes is better a choice between what both sides give. Floats are chosen by a jump in any case.
    fn is_choice(&self, chosen: &Chosen<'_>, then: &Body, other: &Body) -> bool {
        let is_moved = |k: &usize| !self.region.type_of(chosen.pat[*k]).elem.is_float();
        let price = || Some(price(then)? + price(other)?);
        self.lanes.is_none()
            && chosen.arrays.is_empty()
            && chosen.scalars.iter().all(is_moved)
            && price().is_some_and(|price| price <= FEW)
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

/// The operations of a body that may be computed for nothing: without statements that loop, reads or traps.
fn price(body: &Body) -> Option<usize> {
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
    plain.then_some(count)
}
