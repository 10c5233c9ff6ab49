//! Scans: every prefix of what a body gives along an axis, each stored at its index.
//!
//! Where lanes are in use already, or the operator is more than a scalar operation for each component, one row comes after the
//! other. Otherwise the lanes go across the axis: each register is made prefixes of its own by combining it with itself
//! moved up by one lane, by two, by four and so on, and then combined with what came before it. That waits for nothing but
//! one operation for each register: its last lane is known before what came before it is. In strict mode lanes are used only where the
//! order of combination cannot be seen.
//!
//! What reads the prefixes index by index may take them as they are computed: a kernel or a scatter in the lanes of the scan, a histogram
//! one row after the other.

use super::access::View;
use super::control::Span;
use super::form::Form;
use super::primitive::Raw;
use super::scatter::Writes;
use super::value::{Factor, Parts, Rep, Value, lane_of};
use super::{Lanes, Lower};
use crate::lir::{Op, Reg};
use galopvm_base::{ElemType, ScalarOp};
use galopvm_kir::kernel::is_scalar_code;
use galopvm_kir::{Axis, Body, Combine, Refusal, VarId};

/// A scan, and where its prefixes go.
pub struct Prefixes<'f> {
    /// The axis.
    pub axis: &'f Axis,
    /// What is combined.
    pub body: &'f Body,
    /// The operator.
    pub combine: &'f Combine,
    /// What becomes of the prefixes.
    pub onward: Onward<'f>,
    /// What is written goes from one end to the other: past the caches, if the launch says so.
    pub is_one_run: bool,
}

/// What becomes of prefixes.
pub enum Onward<'f> {
    /// They go to arrays over the axis, each with the number of the value whose prefixes it is given.
    Stored(Vec<(usize, View)>),
    /// They are read by the kernel of a form, under these names, which makes these arrays.
    Mapped(&'f [VarId], &'f Form<'f>, Vec<View>),
    /// They are read by a scatter along an axis, under these names.
    Scattered(&'f [VarId], &'f Axis, &'f Writes<'f>),
}

impl Lower<'_> {
    /// The prefixes of the rows of a range, after `start`; gives the last one.
    pub fn scan(
        &mut self,
        scan: &Prefixes<'_>,
        (low, high): (Reg, Reg),
        start: &[Value],
    ) -> Result<Vec<Value>, Refusal> {
        if let Some(ops) = self.scanned_in_lanes(scan, start) {
            return self.scan_lanes(scan, &ops, (low, high), start);
        }
        let varies = self.lanes.is_some();
        let shapes: Vec<(ElemType, bool)> = start.iter().map(|value| (value.ty, varies)).collect();
        let span = Span { low, high, step: 1, few: false };
        let (_, last) = self.counted(span, start, &shapes, &mut |l, counter, before| {
            let index = Value::uniform(ElemType::I64, counter);
            l.bind_scalar(scan.axis.var, index.clone());
            let items = l.body(scan.body)?;
            let next = l.operate(scan.combine, before, &items)?;
            l.hand_on(scan, &index, &next)?;
            Ok(next)
        })?;
        Ok(last)
    }

    fn hand_on(&mut self, scan: &Prefixes<'_>, index: &Value, prefixes: &[Value]) -> Result<(), Refusal> {
        let mut feed = |names: &[VarId], axis: &Axis| {
            for (name, value) in names.iter().zip(prefixes) {
                self.fed.insert(*name, value.clone());
            }
            self.bind_scalar(axis.var, index.clone());
        };
        match &scan.onward {
            Onward::Stored(places) => {
                for (number, place) in places {
                    self.store(&place.row(std::slice::from_ref(index)), &prefixes[*number]);
                }
                Ok(())
            }
            Onward::Mapped(names, form, places) => {
                feed(names, &form.axes[0]);
                let values = self.body(form.body())?;
                self.store_element(form, places, &values)
            }
            Onward::Scattered(names, axis, writes) => {
                feed(names, axis);
                self.scatter_here(writes)
            }
        }
    }

    /// The operations of the components, if lanes can go across the axis.
    fn scanned_in_lanes(&self, scan: &Prefixes<'_>, start: &[Value]) -> Option<Vec<ScalarOp>> {
        let ops = scan.combine.scalar_ops()?;
        let is_free =
            self.lanes.is_none() && self.target.lanes() > 1 && self.may_reorder(scan.combine, start);
        let as_numbers =
            |op| matches!(op, ScalarOp::And | ScalarOp::Or | ScalarOp::Xor | ScalarOp::Min | ScalarOp::Max);
        let fit = |(op, value): (&ScalarOp, &Value)| value.ty != ElemType::Bool || as_numbers(*op);
        let in_lanes = match scan.onward {
            Onward::Stored(_) | Onward::Mapped(..) => true,
            Onward::Scattered(.., writes) => self.stores_lanes(writes),
        };
        let fits = is_free && in_lanes && ops.iter().zip(start).all(fit);
        (fits && is_scalar_code(self.region.region(), scan.body)).then_some(ops)
    }

    fn scan_lanes(
        &mut self,
        scan: &Prefixes<'_>,
        ops: &[ScalarOp],
        (low, high): (Reg, Reg),
        start: &[Value],
    ) -> Result<Vec<Value>, Refusal> {
        let neutral = self.exps(&scan.combine.neutral)?;
        let shapes: Vec<(ElemType, bool)> = start.iter().map(|value| (value.ty, false)).collect();
        self.lanes = Some(Lanes { groups: self.planned_groups(scan.axis.var) });
        let step = self.lane_count() as i64;
        let whole = self.past_the_caches(scan.is_one_run, &mut |l| {
            let span = Span { low, high, step, few: false };
            let (counter, carried) = l.counted(span, start, &shapes, &mut |l, counter, before| {
                l.scan_vectors(scan, ops, counter, &neutral, before)
            })?;
            let mut regs = vec![counter];
            regs.extend(l.registers(&carried, &shapes));
            Ok(regs)
        })?;
        let carried: Vec<Value> =
            whole[1..].iter().zip(start).map(|(reg, value)| Value::uniform(value.ty, *reg)).collect();
        self.lanes = Some(Lanes { groups: 1 });
        let end = self.end_of_rest(high);
        let span = Span { low: whole[0], high: end, step: self.target.lanes() as i64, few: true };
        let (_, last) = self.counted(span, &carried, &shapes, &mut |l, counter, before| {
            l.enter_rest(counter, high);
            let next = l.scan_vectors(scan, ops, counter, &neutral, before);
            l.mask = None;
            next
        })?;
        self.lanes = None;
        Ok(last)
    }

    /// The prefixes of the rows in the lanes; gives the last one.
    fn scan_vectors(
        &mut self,
        scan: &Prefixes<'_>,
        ops: &[ScalarOp],
        counter: Reg,
        neutral: &[Value],
        before: &[Value],
    ) -> Result<Vec<Value>, Refusal> {
        self.bind_lane_axis(scan.axis.var, counter);
        let items = self.body(scan.body)?;
        let (mut prefixes, mut last) = (Vec::with_capacity(ops.len()), Vec::with_capacity(ops.len()));
        for (k, op) in ops.iter().enumerate() {
            let (all, end) = self.prefixes(*op, &items[k], &neutral[k], &before[k])?;
            prefixes.push(all);
            last.push(end);
        }
        let rep = Rep::Linear { start: counter, step: Factor::Const(1) };
        self.hand_on(scan, &Value { ty: ElemType::I64, rep }, &prefixes)?;
        Ok(last)
    }

    /// The prefixes of a value's lanes after `before`, and the last one as a uniform value.
    fn prefixes(
        &mut self,
        op: ScalarOp,
        item: &Value,
        neutral: &Value,
        before: &Value,
    ) -> Result<(Value, Value), Refusal> {
        if item.ty == ElemType::Bool {
            let [item, neutral, before] =
                [item, neutral, before].map(|value| self.convert(value, ElemType::I32));
            let (all, last) = self.prefixes(op, &item, &neutral, &before)?;
            return Ok((self.convert(&all, ElemType::Bool), Value { ty: ElemType::Bool, ..last }));
        }
        let (ty, lane) = (item.ty, lane_of(item.ty));
        let registers = self.parts(item);
        let lanes = self.lanes.replace(Lanes { groups: 1 });
        let (fill, sum) = (self.parts(neutral)[0], self.parts(before)[0]);
        let (prefixes, sum) = self.prefix_registers(op, ty, registers, (fill, sum))?;
        self.lanes = lanes;
        let last = if lane.is_float() { sum } else { self.b.op(Op::FromFloat(lane), &[sum]) };
        Ok((Raw::Many(prefixes).typed(ty), Value::uniform(ty, last)))
    }

    /// The prefixes of the lanes of registers after a number that all lanes of `sum` hold, and the last one likewise. `fill` holds
    /// the neutral element.
    pub fn prefix_registers(
        &mut self,
        op: ScalarOp,
        ty: ElemType,
        registers: Parts,
        (fill, mut sum): (Reg, Reg),
    ) -> Result<(Parts, Reg), Refusal> {
        let mut prefixes = Parts::new();
        for reg in registers {
            let reg = self.prefixes_of_lanes(op, ty, reg, fill)?;
            let total = self.b.op(Op::SplatLast(lane_of(ty).as_int()), &[reg]);
            prefixes.push(self.one_register(op, ty, sum, reg)?);
            sum = self.one_register(op, ty, sum, total)?;
        }
        Ok((prefixes, sum))
    }

    /// The prefixes of the lanes of a register.
    pub fn prefixes_of_lanes(
        &mut self,
        op: ScalarOp,
        ty: ElemType,
        mut reg: Reg,
        fill: Reg,
    ) -> Result<Reg, Refusal> {
        let mut bytes = lane_of(ty).bytes();
        while bytes < self.target.vectors().bytes() {
            let moved = self.b.op(Op::MoveUp(bytes as u8), &[fill, reg]);
            reg = self.one_register(op, ty, moved, reg)?;
            bytes *= 2;
        }
        Ok(reg)
    }

    /// The operation on the lanes of single registers.
    pub fn one_register(&mut self, op: ScalarOp, ty: ElemType, a: Reg, b: Reg) -> Result<Reg, Refusal> {
        // A group of wide lanes has two registers: the one twice.
        let count = self.part_count(ty);
        let value = |reg: Reg| Raw::Many(std::iter::repeat_n(reg, count).collect()).typed(ty);
        match self.scalar_op(op, ty, &[value(a), value(b)])?.rep {
            Rep::Lanes(parts) => Ok(parts[0]),
            _ => Err(Refusal::new("internal: a vector became a scalar")),
        }
    }
}
