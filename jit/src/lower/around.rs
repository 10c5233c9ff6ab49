//! Remainders of numbers that are hardly more than the divisor away, as where a program turns at the end of an array.
//!
//! A number from minus the divisor to below twice the divisor takes an addition or a subtraction, and a division is made for others
//! only. Remainders of neighbours by one divisor stay neighbours, but for one place where they begin anew: as such they are
//! carried on (`Rep::Around`), and a vector of elements at such places is read in the runs of neighbours that it has. They become
//! numbers where somebody computes with them.
//!
//! Invariants: the divisor is no zero where code gets here. What is read for a lane is the element at its own remainder; the lanes
//! of other runs are masked, so nothing else is touched.

use super::Lower;
use super::access::{View, mem_of};
use super::control::with;
use super::primitive::Raw;
use super::value::{Factor, Parts, Rep, Value, lane_of};
use crate::lir::build::Scope;
use crate::lir::{Bin, Class, Cond, Lane, Op, Reg, Width};
use galopvm_base::{ElemType, ScalarOp};

impl Lower<'_> {
    /// The remainder of neighbours' numbers by one divisor.
    pub fn remainder_of_neighbours(&mut self, moving: &Value, divisor: &Value) -> Option<Value> {
        let Rep::Linear { start, step: Factor::Const(1) } = moving.rep else { return None };
        if divisor.varies() || self.lanes.is_none() {
            return None;
        }
        let by = match divisor.known() {
            Some(bits) => Factor::Const(bits as i64),
            None => Factor::Reg(self.uniform(divisor)),
        };
        Some(Value { ty: ElemType::I64, rep: Rep::Around { start, by } })
    }

    /// The remainder of a number, rounded down: most are what they are, since they lie inside of an array. Traps if the divisor is 0.
    pub fn remainder_of_one(&mut self, number: &Value, by: &Value) -> Value {
        let (x, y) = (self.uniform(number), self.uniform(by));
        let zero = self.b.int(0);
        let is_positive = self.holds(Cond::Lt, zero, y);
        let limit = self.b.op(Op::Choose, &[is_positive, y, zero]);
        self.either((Cond::Below, x, limit), ElemType::I64, false, &mut |l, is_inside| match is_inside {
            true => Value::uniform(ElemType::I64, x),
            false => {
                l.trap_if_zero(by);
                l.divide(ScalarOp::Mod, ElemType::I64, &Raw::One(x), &Raw::One(y)).typed(ElemType::I64)
            }
        })
    }

    /// The remainders of neighbours as numbers.
    pub fn around_parts(&mut self, start: Reg, by: Factor) -> Parts {
        let moving = Value { ty: ElemType::I64, rep: Rep::Linear { start, step: Factor::Const(1) } };
        if let Factor::Const(by) = by
            && u64::try_from(by).is_ok_and(u64::is_power_of_two)
        {
            let (numbers, low) = (self.raw(&moving, true), self.raw_const(Lane::I64, by as u64 - 1, true));
            let remainder = self.bin(Bin::And, Lane::I64, &numbers, &low).typed(ElemType::I64);
            return self.parts(&remainder);
        }
        let by = self.factor_reg(by);
        let last = self.b.op(Op::AluImm(Bin::Add, Width::W64, self.lane_count() as i32 - 1), &[start]);
        let (zero, large) = (self.b.int(0), self.b.int(1 << 61));
        let minus = self.b.op(Op::Alu(Bin::Sub, Width::W64), &[zero, by]);
        let twice = self.b.op(Op::Alu(Bin::Add, Width::W64), &[by, by]);
        let tests = [
            self.holds(Cond::Lt, by, large),
            self.holds(Cond::Le, minus, start),
            self.holds(Cond::Le, start, last),
            self.holds(Cond::Lt, last, twice),
        ];
        let is_positive = self.holds(Cond::Lt, zero, by);
        let is_near = tests.into_iter().fold(is_positive, |all, test| self.both(all, test));
        let found = self.either((Cond::Ne, is_near, zero), ElemType::I64, true, &mut |l, is_near| {
            let (numbers, by) = (l.raw(&moving, true), l.raw(&Value::uniform(ElemType::I64, by), true));
            let remainder = match is_near {
                true => l.remainders_of_near(&numbers, &by),
                false => l.divide_wide(ScalarOp::Mod, ElemType::I64, &numbers, &by),
            };
            remainder.typed(ElemType::I64)
        });
        self.parts(&found)
    }

    /// The remainders of numbers from `-by` to below `2 * by`.
    fn remainders_of_near(&mut self, numbers: &Raw, by: &Raw) -> Raw {
        let (lane, zero) = (Lane::I64, self.raw_const(Lane::I64, 0, true));
        let is_below = self.cmp(Cond::Lt, lane, numbers, &zero);
        let raised = self.bin(Bin::Add, lane, numbers, by);
        let from_zero = self.select(&is_below, lane, &raised, numbers);
        let is_beyond = self.cmp(Cond::Le, lane, by, &from_zero);
        let lowered = self.bin(Bin::Sub, lane, &from_zero, by);
        self.select(&is_beyond, lane, &lowered, &from_zero)
    }

    /// The elements at neighbours' remainders, if that is how a view without dimensions moves with the lanes.
    pub fn load_around(&mut self, view: &View, stay: bool) -> Option<Value> {
        let is_around = |(index, _): &&(Value, Factor)| matches!(index.rep, Rep::Around { .. });
        let at = view.fixed.iter().position(|entry| is_around(&entry))?;
        let (Rep::Around { start, by }, Factor::Const(1)) = (&view.fixed[at].0.rep, view.fixed[at].1) else {
            return None;
        };
        let (start, divisor) = (*start, *by);
        let by = self.factor_reg(divisor);
        let are_same = view.fixed.iter().enumerate().all(|(k, (index, _))| k == at || !index.varies());
        if !are_same || view.made.is_some_and(|made| made.across) {
            return None;
        }
        let (zero, lanes) = (self.b.int(0), self.b.int(self.lane_count() as i64));
        let fits = self.holds(Cond::Le, lanes, by);
        let behind_last = self.b.op(Op::AluImm(Bin::Sub, Width::W64, self.lane_count() as i32 - 1), &[by]);
        let limit = self.b.op(Op::Choose, &[fits, behind_last, zero]);
        let from = |first: Reg| {
            let mut view = view.clone();
            let rep = Rep::Linear { start: first, step: Factor::Const(1) };
            view.fixed[at].0 = Value { ty: ElemType::I64, rep };
            view
        };
        let can_mask = self.target.has_masked(mem_of(view.elem));
        Some(self.either(
            (Cond::Below, start, limit),
            view.elem,
            true,
            &mut |l, is_straight| match is_straight {
                true => l.load(&from(start), stay),
                false if can_mask => l.load_around_the_end(&from, (start, by), fits, stay),
                false => {
                    let mut view = view.clone();
                    view.fixed[at].0.rep = Rep::Lanes(l.around_parts(start, divisor));
                    l.load(&view, stay)
                }
            },
        ))
    }

    /// The elements at neighbours' remainders that are hardly more than the divisor away: those in front of the end, and those
    /// behind it, which begin anew. `from` gives the view for the place of lane 0; `fits`: the divisor is no less than the lanes.
    fn load_around_the_end(
        &mut self,
        from: &dyn Fn(Reg) -> View,
        (start, by): (Reg, Reg),
        fits: Reg,
        stay: bool,
    ) -> Value {
        let (zero, large) = (self.b.int(0), self.b.int(1 << 61));
        let is_small = self.holds(Cond::Lt, by, large);
        let fits = self.both(fits, is_small);
        let limit = self.b.op(Op::Choose, &[fits, by, zero]);
        // By one more divisor if it is below 0, and by one less if it is not below that.
        let raised = |l: &mut Self, number: Reg| {
            let sign = l.b.op(Op::AluImm(Bin::Sar, Width::W64, 63), &[number]);
            let more = l.both(sign, by);
            l.b.op(Op::Alu(Bin::Add, Width::W64), &[number, more])
        };
        let from_zero = raised(self, start);
        let lowered = self.b.op(Op::Alu(Bin::Sub, Width::W64), &[from_zero, by]);
        let place = raised(self, lowered);
        let elem = from(zero).elem;
        self.either((Cond::Below, place, limit), elem, true, &mut |l, is_near| {
            if !is_near {
                return l.load_in_runs(from, (start, by), stay);
            }
            let left = l.b.op(Op::Alu(Bin::Sub, Width::W64), &[by, place]);
            let left = l.b.op(Op::Splat(Lane::I32), &[left]);
            let is_left = (0..l.groups()).map(|group| {
                let numbers = l.b.op(Op::Iota(Lane::I32, (group * l.target.lanes()) as u32), &[]);
                l.b.op(Op::Cmp(Cond::Lt, Lane::I32), &[numbers, left])
            });
            let is_left: Parts = is_left.collect();
            let (own, others) = (l.under_mask(&is_left), l.mask_without(&is_left));
            let again = l.b.op(Op::Alu(Bin::Sub, Width::W64), &[place, by]);
            let (lane, mem) = (lane_of(elem), mem_of(elem));
            let fetches = l.fetches;
            let [first, rest] = [(place, own), (again, others)].map(|(place, mask)| {
                let spot = l.spot(&from(place));
                let part = l.load_neighbours(mem, lane, &spot, Some(mask), stay);
                // Once is enough.
                l.fetches = false;
                part
            });
            l.fetches = fetches;
            let both = l.select(&Raw::Many(is_left), lane, &first, &rest);
            l.as_read(elem, both)
        })
    }

    /// The elements at neighbours' remainders, one run of neighbours after the other: a run ends in front of a multiple of the
    /// divisor, or of the least number of all. `from` gives the view for the place of lane 0.
    fn load_in_runs(&mut self, from: &dyn Fn(Reg) -> View, (start, by): (Reg, Reg), stay: bool) -> Value {
        let (zero, most) = (self.b.int(0), self.b.int(i64::MAX));
        let lanes = self.b.int(self.lane_count() as i64);
        let is_positive = self.holds(Cond::Lt, zero, by);
        let below = self.b.op(Op::AluImm(Bin::Sub, Width::W64, 1), &[by]);
        let last = self.b.op(Op::Choose, &[is_positive, below, zero]);
        let elem = from(zero).elem;
        let (mem, lane) = (mem_of(elem), lane_of(elem));
        let (header, back, out, after) = (self.b.block(), self.b.block(), self.b.block(), self.b.block());
        let nothing = self.raw_const(lane, 0, true);
        let Raw::Many(nothing) = nothing else { return Value::int(0) };
        let outside = self.b.current();
        self.b.open_from(Scope::Loop, outside);
        let done = self.b.param(header, Class::Int);
        let now: Parts = nothing.iter().map(|_| self.b.param(header, Class::Vec)).collect();
        self.b.start(header);
        let number = self.b.op(Op::Alu(Bin::Add, Width::W64), &[start, done]);
        let [number_of, by_of] = [number, by].map(|reg| Value::uniform(ElemType::I64, reg));
        let place = self.remainder_of_one(&number_of, &by_of);
        let place = self.uniform(&place);
        let left = self.b.op(Op::Alu(Bin::Sub, Width::W64), &[last, place]);
        let left_of_all = self.b.op(Op::Alu(Bin::Sub, Width::W64), &[most, number]);
        let length = [left_of_all, lanes]
            .into_iter()
            .fold(Raw::One(left), |least, other| self.bin(Bin::MinU, Lane::I64, &least, &Raw::One(other)));
        let end = self.b.op(Op::Alu(Bin::Add, Width::W64), &[done, length.part(0)]);
        let end = self.b.op(Op::AluImm(Bin::Add, Width::W64, 1), &[end]);
        let (first, behind) =
            (self.b.op(Op::Splat(Lane::I32), &[done]), self.b.op(Op::Splat(Lane::I32), &[end]));
        let masks: Parts = (0..self.groups())
            .map(|group| {
                let numbers = self.b.op(Op::Iota(Lane::I32, (group * self.target.lanes()) as u32), &[]);
                let is_begun = self.b.op(Op::Cmp(Cond::Le, Lane::I32), &[first, numbers]);
                let is_left = self.b.op(Op::Cmp(Cond::Lt, Lane::I32), &[numbers, behind]);
                self.b.op(Op::MaskLogic(Bin::And), &[is_begun, is_left])
            })
            .collect();
        let masks = self.under_mask(&masks);
        let of_lane_0 = self.b.op(Op::Alu(Bin::Sub, Width::W64), &[place, done]);
        let spot = self.spot(&from(of_lane_0));
        let read = self.load_neighbours(mem, lane, &spot, Some(masks.clone()), stay);
        let Raw::Many(next) = self.select(&Raw::Many(masks), lane, &read, &Raw::Many(now)) else {
            return Value::int(0);
        };
        self.b.end(Op::BranchIf(Cond::Lt, Width::W64, back, out), &[end, lanes]);
        self.b.close();
        self.b.end_of(outside, Op::Jump(header), &with(zero, &nothing));
        self.b.start(back);
        self.b.end(Op::Jump(header), &with(end, &next));
        self.b.start(out);
        self.b.end(Op::Jump(after), &next);
        let parts = next.iter().map(|_| self.b.param(after, Class::Vec)).collect();
        self.b.start(after);
        self.as_read(elem, Raw::Many(parts))
    }

    /// One of two values by a comparison, each computed where it is wanted.
    fn either(
        &mut self,
        (cond, a, b): (Cond, Reg, Reg),
        ty: ElemType,
        varies: bool,
        value: &mut dyn FnMut(&mut Self, bool) -> Value,
    ) -> Value {
        let (yes, no, join) = (self.b.block(), self.b.block(), self.b.block());
        let (outside, shapes) = (self.b.current(), [(ty, varies)]);
        for label in [yes, no] {
            self.b.open_from(Scope::Branch, outside);
            self.b.start(label);
            let given = value(self, label == yes);
            let registers = self.registers(&[given], &shapes);
            self.b.close();
            self.b.end(Op::Jump(join), &registers);
        }
        self.b.end_of(outside, Op::BranchIf(cond, Width::W64, yes, no), &[a, b]);
        let values = self.block_values(join, &shapes);
        self.b.start(join);
        values.into_iter().next().unwrap_or(Value::int(0))
    }

    fn both(&mut self, a: Reg, b: Reg) -> Reg {
        self.b.op(Op::Alu(Bin::And, Width::W64), &[a, b])
    }
}
