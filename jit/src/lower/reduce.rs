//! Reductions.
//!
//! Where lanes are in use already, every lane folds for itself, in order. Otherwise the lanes go across the innermost axis
//! (`galopvm_kir::kernel::spread` says how): partial results in as many groups of lanes as the plan says, and a fold of the
//! partial results at the end (`lanes.rs`). Neighbouring rows go to neighbouring lanes if the operands of the operator may be
//! exchanged, the remainder under a mask; if not, each lane takes rows that follow on each other (`parts.rs`). If they may as
//! long as all floats are numbers, they are until one is not. In strict mode
//! lanes are used only where the order of combination cannot be seen.

use super::control::Span;
use super::poll::is_few;
use super::value::{Parts, Rep, Value};
use super::{Lanes, Lower};
use crate::lir::build::Scope;
use crate::lir::{Op, Reg};
use galopvm_base::{ElemType, ScalarOp};
use galopvm_kir::kernel::{Spread, spread};
use galopvm_kir::{Axis, Body, Combine, Exp, Refusal, Rhs, VarId};

/// The range of the outermost axis, where it is not the whole axis.
pub type Range = Option<(Reg, Reg)>;

type Leaf<'f, 'a> = &'f mut dyn FnMut(&mut Lower<'a>, &[Value]) -> Result<Vec<Value>, Refusal>;

/// What is folded.
struct Rows<'f> {
    body: &'f Body,
    combine: &'f Combine,
    /// Whether floats that are no numbers are looked out for.
    watch: bool,
}

impl<'a> Lower<'a> {
    /// `red axes do body by combine`; `range` bounds the first axis if only a piece of it is meant.
    pub fn lower_reduce(
        &mut self,
        axes: &[Axis],
        range: Range,
        body: &Body,
        combine: &Combine,
    ) -> Result<Vec<Value>, Refusal> {
        let neutral = self.exps(&combine.neutral)?;
        if self.lanes.is_none() && self.target.lanes() > 1 && self.may_reorder(combine, &neutral) {
            match spread(self.region.region(), axes, body, combine) {
                Some(Spread::Neighbours) => {
                    let (values, _) =
                        self.reduce_neighbours(axes, range, Rows { body, combine, watch: false }, &neutral)?;
                    return Ok(values);
                }
                Some(Spread::Numbers) => return self.reduce_numbers(axes, range, body, combine, &neutral),
                Some(Spread::Parts) => return self.reduce_parts(axes, range, body, combine, &neutral),
                None => {}
            }
        }
        let shapes = self.accumulator_shapes(axes, body, combine, &neutral);
        self.fold_axes(axes, range, &neutral, &shapes, &mut |l, accs| {
            let items = l.body(body)?;
            l.combined(body, combine, accs, &items)
        })
    }

    /// True if rows may be combined in another order than one after the other.
    pub fn may_reorder(&self, combine: &Combine, neutral: &[Value]) -> bool {
        let is_free = |(k, value): (usize, &Value)| match combine.scalar_ops() {
            Some(ops) => ops[k].order_free(value.ty),
            None => !value.ty.is_float(),
        };
        !self.strict || neutral.iter().enumerate().all(is_free)
    }

    fn accumulator_shapes(
        &mut self,
        axes: &[Axis],
        body: &Body,
        combine: &Combine,
        neutral: &[Value],
    ) -> Vec<(ElemType, bool)> {
        let mut varying = self.varying();
        self.spread_body(&mut varying, body);
        let mut any = neutral.iter().any(Value::varies);
        any |= axes.iter().any(|a| self.spreads(&varying, &a.bound));
        any |= body.results.iter().any(|e| self.spreads(&varying, e));
        let own = |k: usize| neutral[k].varies() || self.spreads(&varying, &body.results[k]);
        let alone = combine.scalar_ops().is_some() && !axes.iter().any(|a| self.spreads(&varying, &a.bound));
        let in_lanes = self.lanes.is_some();
        (0..neutral.len()).map(|k| (neutral[k].ty, in_lanes && if alone { own(k) } else { any })).collect()
    }

    /// One application of the operator; a product that is added becomes a fused multiply-add.
    pub fn combined(
        &mut self,
        body: &Body,
        combine: &Combine,
        accs: &[Value],
        items: &[Value],
    ) -> Result<Vec<Value>, Refusal> {
        if let Some(ops) = combine.scalar_ops() {
            let mut results = Vec::with_capacity(ops.len());
            for (k, op) in ops.iter().enumerate() {
                results.push(self.apply(body, k, *op, &accs[k], &items[k])?);
            }
            return Ok(results);
        }
        self.bind_all(&combine.acc, accs);
        self.bind_all(&combine.item, items);
        self.body(&combine.body)
    }

    fn apply(
        &mut self,
        body: &Body,
        k: usize,
        op: ScalarOp,
        acc: &Value,
        item: &Value,
    ) -> Result<Value, Refusal> {
        let ty = acc.ty;
        let fuses = op == ScalarOp::Add
            && matches!(ty, ElemType::F32 | ElemType::F64)
            && !self.strict
            && self.target.vectors().fma;
        if fuses && let Some((x, y)) = product(body, &body.results[k]) {
            let (x, y) = (self.exp(x)?, self.exp(y)?);
            return self.scalar_op(ScalarOp::Fma, ty, &[x, y, acc.clone()]);
        }
        self.scalar_op(op, ty, &[acc.clone(), item.clone()])
    }

    /// Loops over the axes, outermost first, with `leaf` in the middle.
    pub fn fold_axes(
        &mut self,
        axes: &[Axis],
        range: Range,
        accs: &[Value],
        shapes: &[(ElemType, bool)],
        leaf: Leaf<'_, 'a>,
    ) -> Result<Vec<Value>, Refusal> {
        let Some((axis, inner)) = axes.split_first() else { return leaf(self, accs) };
        let bound = self.exp(&axis.bound)?;
        if bound.varies() {
            let more = |l: &mut Self, round: Value| {
                l.scalar_op(ScalarOp::Lt, ElemType::I64, &[round, bound.clone()])
            };
            let first = more(self, Value::int(0))?;
            return self.masked_loop(
                accs,
                &vec![true; accs.len()],
                &first,
                &mut |l, round, now| {
                    l.bind_scalar(axis.var, Value::uniform(ElemType::I64, round));
                    l.fold_axes(inner, None, now, shapes, leaf)
                },
                &mut |l, round, _| more(l, Value::uniform(ElemType::I64, round)),
            );
        }
        let (low, high) = match range {
            Some(range) => range,
            None => (self.b.int(0), self.uniform(&bound)),
        };
        let span = Span { low, high, step: 1, few: is_few(bound.known()) };
        let (_, results) = self.counted(span, accs, shapes, &mut |l, counter, now| {
            l.bind_scalar(axis.var, Value::uniform(ElemType::I64, counter));
            l.fold_axes(inner, None, now, shapes, leaf)
        })?;
        Ok(results)
    }

    /// Neighbouring rows in neighbouring lanes, and if some float turns out to be no number, all rows once more in parts.
    fn reduce_numbers(
        &mut self,
        axes: &[Axis],
        range: Range,
        body: &Body,
        combine: &Combine,
        neutral: &[Value],
    ) -> Result<Vec<Value>, Refusal> {
        let rows = Rows { body, combine, watch: true };
        let (values, odd) = self.reduce_neighbours(axes, range, rows, neutral)?;
        let odd = self.any_of(&odd);
        let shapes: Vec<(ElemType, bool)> = values.iter().map(|value| (value.ty, false)).collect();
        let fine = self.registers(&values, &shapes);
        let (again, join) = (self.b.block(), self.b.block());
        let done = self.b.block();
        let outside = self.b.current();
        self.b.open_from(Scope::Branch, outside);
        self.b.start(again);
        let values = self.reduce_parts(axes, range, body, combine, neutral)?;
        let values = self.registers(&values, &shapes);
        self.b.close();
        self.b.end(Op::Jump(join), &values);
        self.b.start(done);
        self.b.end(Op::Jump(join), &fine);
        self.b.end_of(outside, Op::BranchAny(again, done), &[odd]);
        let values = self.block_values(join, &shapes);
        self.b.start(join);
        Ok(values)
    }

    /// Every lane folds every so many-th row. With the values the lanes of masks in which some float was no number, if that
    /// is watched.
    fn reduce_neighbours(
        &mut self,
        axes: &[Axis],
        range: Range,
        rows: Rows<'_>,
        neutral: &[Value],
    ) -> Result<(Vec<Value>, Parts), Refusal> {
        let Some((last, outer)) = axes.split_last() else {
            return Err(Refusal::new("a reduction without axes"));
        };
        self.lanes = Some(Lanes { groups: self.planned_groups(last.var) });
        let mut start: Vec<Value> = neutral.iter().map(|n| self.shaped(n, true)).collect();
        if rows.watch {
            let nothing = Lower::zero(ElemType::Bool);
            start.push(self.shaped(&nothing, true));
        }
        let shapes: Vec<(ElemType, bool)> = start.iter().map(|n| (n.ty, true)).collect();
        // The piece's range belongs to the outermost axis, which may be the one across the lanes.
        let (outer_range, inner_range) = if outer.is_empty() { (None, range) } else { (range, None) };
        let accs = self.fold_axes(outer, outer_range, &start, &shapes, &mut |l, accs| {
            let (low, high) = match inner_range {
                Some(range) => range,
                None => {
                    let bound = l.exp(&last.bound)?;
                    (l.b.int(0), l.uniform(&bound))
                }
            };
            let step = l.lane_count() as i64;
            let (counter, accs) =
                l.counted(Span { low, high, step, few: false }, accs, &shapes, &mut |l, counter, now| {
                    l.bind_lane_axis(last.var, counter);
                    l.fold_row(&rows, now)
                })?;
            l.reduce_rest(last.var, counter, high, &accs, &rows)
        })?;
        let odd = if rows.watch { self.parts(&accs[neutral.len()]) } else { Parts::new() };
        let results = self.fold_lanes(rows.combine, &accs[..neutral.len()], None)?;
        self.lanes = None;
        Ok((results, odd))
    }

    /// The rows in the lanes combined with what is there.
    fn fold_row(&mut self, rows: &Rows<'_>, now: &[Value]) -> Result<Vec<Value>, Refusal> {
        let items = self.body(rows.body)?;
        let mut next = self.combined(rows.body, rows.combine, &now[..items.len()], &items)?;
        if rows.watch {
            let mut odd = now[items.len()].clone();
            for item in items.iter().filter(|item| item.ty.is_float()) {
                let is_odd = self.scalar_op(ScalarOp::IsNan, item.ty, std::slice::from_ref(item))?;
                odd = self.scalar_op(ScalarOp::Or, ElemType::Bool, &[odd, is_odd])?;
            }
            next.push(odd);
        }
        Ok(next)
    }

    /// The remainder, one group of lanes at a time, into the first group of the partial results.
    fn reduce_rest(
        &mut self,
        var: VarId,
        low: Reg,
        high: Reg,
        accs: &[Value],
        rows: &Rows<'_>,
    ) -> Result<Vec<Value>, Refusal> {
        let groups = self.groups();
        let split = |value: &Value| {
            let parts = if let Rep::Lanes(parts) = &value.rep { parts.clone() } else { Parts::new() };
            let first = parts.len() / groups;
            (Value { ty: value.ty, rep: Rep::Lanes(parts[..first].into()) }, Parts::from(&parts[first..]))
        };
        let (firsts, rests): (Vec<Value>, Vec<Parts>) = accs.iter().map(split).unzip();
        let shapes: Vec<(ElemType, bool)> = accs.iter().map(|a| (a.ty, true)).collect();
        let saved = self.lanes.replace(Lanes { groups: 1 });
        let end = self.end_of_rest(high);
        let step = self.target.lanes() as i64;
        let (_, firsts) = self.counted(
            Span { low, high: end, step, few: true },
            &firsts,
            &shapes,
            &mut |l, counter, now| {
                l.enter_rest(counter, high);
                l.bind_lane_axis(var, counter);
                let next = l.fold_row(rows, now)?;
                let mask = super::primitive::Raw::Many(l.mask_or_all());
                let next = next.iter().zip(now).map(|(new, old)| l.merge(&mask, new, old)).collect();
                l.mask = None;
                Ok(next)
            },
        )?;
        self.lanes = saved;
        let join = |(first, rest): (&Value, &Parts)| {
            let mut parts = if let Rep::Lanes(parts) = &first.rep { parts.clone() } else { Parts::new() };
            parts.extend_from_slice(rest);
            Value { ty: first.ty, rep: Rep::Lanes(parts) }
        };
        Ok(firsts.iter().zip(&rests).map(join).collect())
    }
}

/// The factors, if an expression of a body is a product or the name of one.
fn product<'e>(body: &'e Body, exp: &'e Exp) -> Option<(&'e Exp, &'e Exp)> {
    match exp {
        Exp::Op(ScalarOp::Mul, _, args) => Some((args.first()?, args.get(1)?)),
        Exp::Var(var) => body.stms.iter().find_map(|stm| match &stm.rhs {
            Rhs::Exps(exps) => {
                let at = stm.pat.iter().position(|p| p == var)?;
                match exps.get(at)? {
                    Exp::Op(ScalarOp::Mul, _, args) => Some((args.first()?, args.get(1)?)),
                    _ => None,
                }
            }
            _ => None,
        }),
        _ => None,
    }
}
