//! Scalar operations: each row of the table in steps of `primitive.rs`, by `library.rs`, or by the helper function.

use super::Lower;
use super::primitive::Raw;
use super::value::{Factor, Rep, Value, lane_of};
use crate::lir::build::Scope;
use crate::lir::{Bin, Cond, Lane, Op, Round, Width};
use galopvm_base::{ElemType, Scalar, ScalarOp, scalar};
use galopvm_kir::Refusal;

impl Lower<'_> {
    /// Applies an operation that works on `ty`.
    pub fn scalar_op(&mut self, op: ScalarOp, ty: ElemType, args: &[Value]) -> Result<Value, Refusal> {
        let known: Option<Vec<u64>> = args.iter().map(Value::known).collect();
        if let Some(bits) = known
            && let Ok(result) = scalar::eval(op, ty, &bits)
        {
            return Ok(Value::constant(Scalar::new(op.result_type(ty), result)));
        }
        if let Some(linear) = self.linear_op(op, ty, args) {
            return Ok(linear);
        }
        let many = args.iter().any(Value::varies);
        let is_remainder = op == ScalarOp::Mod && ty == ElemType::I64;
        if is_remainder && !many && args[1].known().is_none() {
            return Ok(self.remainder_of_one(&args[0], &args[1]));
        }
        if op.can_trap(ty) {
            self.trap_if_zero(&args[1]);
        }
        if is_remainder && let Some(value) = self.remainder_of_neighbours(&args[0], &args[1]) {
            return Ok(value);
        }
        if let Some(value) = self.power_of_two(op, ty, args) {
            return Ok(value);
        }
        if op == ScalarOp::Select {
            return Ok(self.select_op(ty, args, many));
        }
        let raws: Vec<Raw> = args.iter().map(|a| self.raw(a, many)).collect();
        if matches!(op, ScalarOp::ToBits | ScalarOp::FromBits) {
            return Ok(self.same_bits(ty, op.result_type(ty), &raws[0]));
        }
        let result = match ty {
            ElemType::Bool => self.bool_op(op, &raws),
            ElemType::F16 => None,
            ElemType::F32 | ElemType::F64 => self.float_op(op, ty, &raws, args),
            _ => self.int_op(op, ty, &raws, args),
        };
        Ok(match result {
            Some(raw) => raw.typed(op.result_type(ty)),
            None => self.help(op, ty, &raws),
        })
    }

    /// Sums and multiples of linear values stay linear: addresses are made of them.
    fn linear_op(&mut self, op: ScalarOp, ty: ElemType, args: &[Value]) -> Option<Value> {
        if ty != ElemType::I64 || args.len() != 2 || !args.iter().any(|a| matches!(a.rep, Rep::Linear { .. }))
        {
            return None;
        }
        let split = |l: &mut Self, value: &Value| match value.rep {
            Rep::Linear { start, step } => Some((start, step)),
            Rep::Lanes(_) | Rep::Around { .. } => None,
            _ => Some((l.uniform(value), Factor::Const(0))),
        };
        let (a, b) = (split(self, &args[0])?, split(self, &args[1])?);
        let alu = |l: &mut Self, bin| l.b.op(Op::Alu(bin, Width::W64), &[a.0, b.0]);
        let (start, step) = match op {
            ScalarOp::Add => (alu(self, Bin::Add), self.factor_sum(a.1, b.1)),
            ScalarOp::Sub => {
                let minus = self.factor_product(b.1, Factor::Const(-1));
                (alu(self, Bin::Sub), self.factor_sum(a.1, minus))
            }
            ScalarOp::Mul => {
                let ((linear, step), factor) = match (&args[0].rep, &args[1].rep) {
                    (_, Rep::Const(c)) => (a, Factor::Const(*c as i64)),
                    (Rep::Const(c), _) => (b, Factor::Const(*c as i64)),
                    (_, Rep::Uniform(r)) => (a, Factor::Reg(*r)),
                    (Rep::Uniform(r), _) => (b, Factor::Reg(*r)),
                    _ => return None,
                };
                (self.times(linear, factor), self.factor_product(step, factor))
            }
            _ => return None,
        };
        let rep = if step == Factor::Const(0) { Rep::Uniform(start) } else { Rep::Linear { start, step } };
        Some(Value { ty, rep })
    }

    /// One, divided by a condition as a number: it is one, or a trap.
    pub fn required(&mut self, ty: ElemType, cond: &Value) -> Value {
        if cond.known() != Some(1) {
            let raw = self.raw(cond, cond.varies());
            let broken = self.not(&raw);
            self.trap_where(&broken);
        }
        Value::constant(Scalar::new(ty, 1))
    }

    pub fn trap_if_zero(&mut self, divisor: &Value) {
        if divisor.known().is_some_and(|bits| bits != 0) {
            return;
        }
        let many = divisor.varies();
        let lane = lane_of(divisor.ty);
        let raw = self.raw(divisor, many);
        let zero = self.raw_const(lane, 0, many);
        let is_zero = self.cmp(Cond::Eq, lane, &raw, &zero);
        self.trap_where(&is_zero);
    }

    /// Division and remainder, rounding down, by powers of two.
    fn power_of_two(&mut self, op: ScalarOp, ty: ElemType, args: &[Value]) -> Option<Value> {
        if !ty.is_int() || !matches!(op, ScalarOp::Div | ScalarOp::Mod) {
            return None;
        }
        let divisor = args[1].known()?;
        let positive = divisor != 0 && (ty.is_unsigned() || divisor < 1 << (ty.bits() - 1));
        if !positive || !divisor.is_power_of_two() {
            return None;
        }
        let (many, lane) = (args[0].varies(), lane_of(ty));
        let a = self.raw(&args[0], many);
        let raw = if op == ScalarOp::Mod {
            let low = self.raw_const(lane, divisor - 1, many);
            self.bin(Bin::And, lane, &a, &low)
        } else {
            let bin = if ty.is_signed() { Bin::Sar } else { Bin::Shr };
            self.shift(bin, lane, &a, divisor.trailing_zeros() as u8)
        };
        Some(raw.typed(ty))
    }

    fn select_op(&mut self, ty: ElemType, args: &[Value], many: bool) -> Value {
        if let Some(bits) = args[0].known() {
            return if bits != 0 { args[1].clone() } else { args[2].clone() };
        }
        // A uniform condition chooses between whole values only if nothing else varies.
        let condition = self.raw(&args[0], many);
        let (a, b) = (self.raw(&args[1], many), self.raw(&args[2], many));
        if ty == ElemType::Bool && many {
            let yes = self.logic(Bin::And, &condition, &a);
            let no = self.logic(Bin::AndNot, &condition, &b);
            return self.logic(Bin::Or, &yes, &no).typed(ty);
        }
        self.select(&condition, lane_of(ty), &a, &b).typed(ty)
    }

    fn bool_op(&mut self, op: ScalarOp, args: &[Raw]) -> Option<Raw> {
        let a = &args[0];
        Some(match op {
            ScalarOp::Not => self.not(a),
            ScalarOp::And | ScalarOp::Min => self.logic(Bin::And, a, &args[1]),
            ScalarOp::Or | ScalarOp::Max => self.logic(Bin::Or, a, &args[1]),
            ScalarOp::Xor | ScalarOp::Ne => self.logic(Bin::Xor, a, &args[1]),
            ScalarOp::Eq => {
                let differ = self.logic(Bin::Xor, a, &args[1]);
                self.not(&differ)
            }
            ScalarOp::Lt => self.logic(Bin::AndNot, a, &args[1]),
            ScalarOp::Gt => self.logic(Bin::AndNot, &args[1], a),
            ScalarOp::Le => {
                let greater = self.logic(Bin::AndNot, &args[1], a);
                self.not(&greater)
            }
            ScalarOp::Ge => {
                let less = self.logic(Bin::AndNot, a, &args[1]);
                self.not(&less)
            }
            _ => return None,
        })
    }

    fn comparison(&mut self, op: ScalarOp, lane: Lane, unsigned: bool, args: &[Raw]) -> Option<Raw> {
        let (less, less_eq) = if unsigned { (Cond::Below, Cond::BelowEq) } else { (Cond::Lt, Cond::Le) };
        let (cond, swapped) = match op {
            ScalarOp::Eq => (Cond::Eq, false),
            ScalarOp::Ne => (Cond::Ne, false),
            ScalarOp::Lt => (less, false),
            ScalarOp::Le => (less_eq, false),
            ScalarOp::Gt => (less, true),
            ScalarOp::Ge => (less_eq, true),
            _ => return None,
        };
        let (a, b) = if swapped { (&args[1], &args[0]) } else { (&args[0], &args[1]) };
        Some(self.cmp(cond, lane, a, b))
    }

    fn int_op(&mut self, op: ScalarOp, ty: ElemType, args: &[Raw], values: &[Value]) -> Option<Raw> {
        let (lane, many, signed) = (lane_of(ty), args[0].is_many(), ty.is_signed());
        if let Some(answer) = self.comparison(op, lane, !signed, args) {
            return Some(answer);
        }
        let a = &args[0];
        let raw = match op {
            ScalarOp::Add => self.bin(Bin::Add, lane, a, &args[1]),
            ScalarOp::Sub => self.bin(Bin::Sub, lane, a, &args[1]),
            ScalarOp::Mul => self.bin(Bin::Mul, lane, a, &args[1]),
            ScalarOp::And => self.bin(Bin::And, lane, a, &args[1]),
            ScalarOp::Or => self.bin(Bin::Or, lane, a, &args[1]),
            ScalarOp::Xor => self.bin(Bin::Xor, lane, a, &args[1]),
            ScalarOp::Min | ScalarOp::Max => return Some(self.extreme(op, signed, lane, a, &args[1])),
            ScalarOp::Div | ScalarOp::Mod | ScalarOp::Quot | ScalarOp::Rem if many => {
                let divisor = values[1].known().filter(|bits| bits & ty.mask() != 0);
                self.divide_lanes(op, ty, a, &args[1], divisor)?
            }
            ScalarOp::Div | ScalarOp::Mod | ScalarOp::Quot | ScalarOp::Rem => {
                self.divide(op, ty, a, &args[1])
            }
            ScalarOp::Shl | ScalarOp::Shr | ScalarOp::Ushr => self.shift_op(op, ty, a, &args[1])?,
            ScalarOp::Neg => {
                let zero = self.raw_const(lane, 0, many);
                self.bin(Bin::Sub, lane, &zero, a)
            }
            ScalarOp::Not => {
                let ones = self.raw_const(lane, u64::MAX, many);
                self.bin(Bin::Xor, lane, a, &ones)
            }
            ScalarOp::Abs if !signed => return Some(a.clone()),
            ScalarOp::Abs => {
                let zero = self.raw_const(lane, 0, many);
                let minus = self.bin(Bin::Sub, lane, &zero, a);
                self.extreme(ScalarOp::Max, true, lane, a, &minus)
            }
            ScalarOp::Sgn => {
                let (zero, one) = (self.raw_const(lane, 0, many), self.raw_const(lane, 1, many));
                if !signed {
                    let some = self.cmp(Cond::Ne, lane, a, &zero);
                    return Some(self.select(&some, lane, &one, &zero));
                }
                let minus = self.raw_const(lane, u64::MAX, many);
                let (below, above) = (self.cmp(Cond::Lt, lane, a, &zero), self.cmp(Cond::Lt, lane, &zero, a));
                let low = self.select(&below, lane, &minus, &zero);
                return Some(self.select(&above, lane, &one, &low));
            }
            // Powers of two are shifts; no more than all bits are left of them.
            ScalarOp::Pow if values[0].known().map(|bits| bits & ty.mask()) == Some(2) => {
                let one = self.raw_const(lane, 1, many);
                let exponent = match ty.bits() {
                    // A negative exponent counts as a large one.
                    8 | 16 => {
                        let mask = self.raw_const(lane, ty.mask(), many);
                        self.bin(Bin::And, lane, &args[1], &mask)
                    }
                    _ => args[1].clone(),
                };
                self.shift_op(ScalarOp::Shl, ty, &one, &exponent)?
            }
            ScalarOp::Popc | ScalarOp::Clz | ScalarOp::Ctz if many => return self.count_bits(op, ty, a),
            ScalarOp::MulHi if !many && ty.bits() >= 32 => {
                let Raw::One(x) = a else { return None };
                let Raw::One(y) = &args[1] else { return None };
                Raw::One(self.b.op(Op::MulHigh(signed, super::value::width_of(lane)), &[*x, *y]))
            }
            _ => return None,
        };
        Some(self.normal(ty, raw))
    }

    fn extreme(&mut self, op: ScalarOp, signed: bool, lane: Lane, a: &Raw, b: &Raw) -> Raw {
        let least = op == ScalarOp::Min;
        let bin = match (least, signed) {
            (true, true) => Bin::MinS,
            (true, false) => Bin::MinU,
            (false, true) => Bin::MaxS,
            (false, false) => Bin::MaxU,
        };
        if self.has(bin, lane, a.is_many()) {
            return self.bin(bin, lane, a, b);
        }
        let b_is_less = self.cmp(if signed { Cond::Lt } else { Cond::Below }, lane, b, a);
        if least { self.select(&b_is_less, lane, b, a) } else { self.select(&b_is_less, lane, a, b) }
    }

    /// Counts are unsigned numbers of the type; one of the width or more leaves zeros or sign bits.
    fn shift_op(&mut self, op: ScalarOp, ty: ElemType, a: &Raw, count: &Raw) -> Option<Raw> {
        let (lane, many) = (lane_of(ty), a.is_many());
        let bin = match op {
            ScalarOp::Shl => Bin::Shl,
            ScalarOp::Shr if ty.is_signed() => Bin::Sar,
            _ => Bin::Shr,
        };
        let mut a = a.clone();
        if op == ScalarOp::Ushr && ty.is_signed() && ty.bits() < 32 {
            let mask = self.raw_const(lane, ty.mask(), many);
            a = self.bin(Bin::And, lane, &a, &mask);
        }
        if many && self.target.has_bin(bin, lane) {
            return Some(self.bin(bin, lane, &a, count));
        }
        let width = if lane.is_wide() { 64 } else { 32 };
        let limit = self.raw_const(lane, width, many);
        let fits = self.cmp(Cond::Below, lane, count, &limit);
        let (zero, most) = (self.raw_const(lane, 0, many), self.raw_const(lane, width - 1, many));
        if bin == Bin::Sar {
            let count = self.select(&fits, lane, count, &most);
            return Some(if many { self.sar_wide(&a, &count) } else { self.bin(bin, lane, &a, &count) });
        }
        let shifted = self.bin(bin, lane, &a, count);
        Some(self.select(&fits, lane, &shifted, &zero))
    }

    /// The divisor is not zero.
    pub fn divide(&mut self, op: ScalarOp, ty: ElemType, a: &Raw, b: &Raw) -> Raw {
        let (lane, signed) = (lane_of(ty), ty.is_signed());
        let width = super::value::width_of(lane);
        let (Raw::One(x), Raw::One(y)) = (a, b) else { return a.clone() };
        if !signed {
            let op = if matches!(op, ScalarOp::Div | ScalarOp::Quot) {
                Op::Quot(false, width)
            } else {
                Op::Rem(false, width)
            };
            return Raw::One(self.b.op(op, &[*x, *y]));
        }
        // Division by -1 overflows for the least number, so it is made a division by 1 and a negation.
        let (minus, one) = (self.raw_const(lane, u64::MAX, false), self.raw_const(lane, 1, false));
        let by_minus = self.cmp(Cond::Eq, lane, b, &minus);
        let Raw::One(divisor) = self.select(&by_minus, lane, &one, b) else { return a.clone() };
        let quotient = |l: &mut Self| {
            let q = Raw::One(l.b.op(Op::Quot(true, width), &[*x, divisor]));
            let zero = l.raw_const(lane, 0, false);
            let negated = l.bin(Bin::Sub, lane, &zero, a);
            l.select(&by_minus, lane, &negated, &q)
        };
        let remainder = |l: &mut Self| Raw::One(l.b.op(Op::Rem(true, width), &[*x, divisor]));
        match op {
            ScalarOp::Quot => quotient(self),
            ScalarOp::Rem => remainder(self),
            ScalarOp::Div => {
                let (q, r) = (quotient(self), remainder(self));
                self.floor_quotient(lane, &q, &r, b)
            }
            _ => {
                let r = remainder(self);
                self.floor_remainder(lane, &r, b)
            }
        }
    }

    /// True where rounding down differs from rounding to zero: a remainder whose sign is not the divisor's.
    fn rounds_down(&mut self, lane: Lane, r: &Raw, b: &Raw) -> Raw {
        let zero = self.raw_const(lane, 0, r.is_many());
        let mixed = self.bin(Bin::Xor, lane, r, b);
        let signs = self.cmp(Cond::Lt, lane, &mixed, &zero);
        let some = self.cmp(Cond::Ne, lane, r, &zero);
        self.logic(Bin::And, &signs, &some)
    }

    fn floor_quotient(&mut self, lane: Lane, q: &Raw, r: &Raw, b: &Raw) -> Raw {
        let down = self.rounds_down(lane, r, b);
        let one = self.raw_const(lane, 1, q.is_many());
        let less = self.bin(Bin::Sub, lane, q, &one);
        self.select(&down, lane, &less, q)
    }

    fn floor_remainder(&mut self, lane: Lane, r: &Raw, b: &Raw) -> Raw {
        let down = self.rounds_down(lane, r, b);
        let more = self.bin(Bin::Add, lane, r, b);
        self.select(&down, lane, &more, r)
    }

    /// 32-bit division through doubles, which is exact. Other lanes hold anything.
    fn divide_lanes(
        &mut self,
        op: ScalarOp,
        ty: ElemType,
        a: &Raw,
        b: &Raw,
        divisor: Option<u64>,
    ) -> Option<Raw> {
        use crate::lir::Change;
        let lane = lane_of(ty);
        if lane.is_wide() {
            return Some(self.divide_wide(op, ty, a, b));
        }
        if !self.target.has_change(Change::Signed, Lane::I32, Lane::F64) {
            return None;
        }
        let x = self.double_of(ty, a);
        let ratio = match divisor {
            Some(divisor) => self.ratio_to(ty, &x, divisor),
            None => {
                let y = self.double_of(ty, b);
                self.bin(Bin::Div, Lane::F64, &x, &y)
            }
        };
        let q = self.whole_of(ty, &ratio);
        if op == ScalarOp::Quot || op == ScalarOp::Div && !ty.is_signed() {
            return Some(q);
        }
        let product = self.bin(Bin::Mul, lane, &q, b);
        let r = self.bin(Bin::Sub, lane, a, &product);
        Some(match op {
            ScalarOp::Rem => r,
            ScalarOp::Mod if !ty.is_signed() => r,
            ScalarOp::Mod => self.floor_remainder(lane, &r, b),
            _ => self.floor_quotient(lane, &q, &r, b),
        })
    }

    /// What has the whole part of a quotient by a number that is known, without a division. Half a unit is added to the magnitude
    /// of the dividend, which leaves the whole part: the quotient is then at least `0.5 / divisor` from the next whole number, and
    /// the product with the reciprocal is off by at most `2^-20 / divisor`, since dividends are below 2^32.
    fn ratio_to(&mut self, ty: ElemType, x: &Raw, divisor: u64) -> Raw {
        let sign = self.raw_const(Lane::I64, 1 << 63, true);
        let half = self.raw_const(Lane::I64, 0.5f64.to_bits(), true);
        let reciprocal = 1.0 / Scalar::new(ty, divisor).as_f64();
        let reciprocal = self.raw_const(Lane::F64, reciprocal.to_bits(), true);
        let sign = self.bin(Bin::And, Lane::I64, x, &sign);
        let half = self.bin(Bin::Or, Lane::I64, &half, &sign);
        let farther = self.bin(Bin::Add, Lane::F64, x, &half);
        self.bin(Bin::Mul, Lane::F64, &farther, &reciprocal)
    }

    /// Integers of 32 bits as doubles. Unsigned ones, where no instruction takes them, are moved down by 2^31 and back.
    fn double_of(&mut self, ty: ElemType, a: &Raw) -> Raw {
        use crate::lir::Change;
        if ty != ElemType::U32 {
            return self.change(Change::Signed, Lane::I32, Lane::F64, a);
        }
        if self.target.has_change(Change::Unsigned, Lane::I32, Lane::F64) {
            return self.change(Change::Unsigned, Lane::I32, Lane::F64, a);
        }
        let top = self.raw_const(Lane::I32, 1 << 31, true);
        let moved = self.bin(Bin::Xor, Lane::I32, a, &top);
        let moved = self.change(Change::Signed, Lane::I32, Lane::F64, &moved);
        let back = self.raw_const(Lane::F64, 2f64.powi(31).to_bits(), true);
        self.bin(Bin::Add, Lane::F64, &moved, &back)
    }

    /// The whole parts of doubles as integers of 32 bits, which they fit.
    fn whole_of(&mut self, ty: ElemType, a: &Raw) -> Raw {
        use crate::lir::Change;
        if ty != ElemType::U32 {
            return self.change(Change::Signed, Lane::F64, Lane::I32, a);
        }
        if self.target.has_change(Change::Unsigned, Lane::F64, Lane::I32) {
            return self.change(Change::Unsigned, Lane::F64, Lane::I32, a);
        }
        let whole = self.round(Round::Trunc, Lane::F64, a);
        let down = self.raw_const(Lane::F64, 2f64.powi(31).to_bits(), true);
        let moved = self.bin(Bin::Sub, Lane::F64, &whole, &down);
        let moved = self.change(Change::Signed, Lane::F64, Lane::I32, &moved);
        let top = self.raw_const(Lane::I32, 1 << 31, true);
        self.bin(Bin::Xor, Lane::I32, &moved, &top)
    }

    /// 64-bit division through doubles where all operands are below 2^51 in magnitude, which makes the truncated
    /// quotient exact; by the helper function if some active lane has larger ones.
    pub fn divide_wide(&mut self, op: ScalarOp, ty: ElemType, a: &Raw, b: &Raw) -> Raw {
        // One unsigned comparison: signed numbers are moved to 0 .. 2^52 first.
        let (half, limit) = if ty.is_signed() { (1 << 51, 1 << 52) } else { (0, 1 << 51) };
        let (half, limit) = (self.raw_const(Lane::I64, half, true), self.raw_const(Lane::I64, limit, true));
        let mut large: Option<Raw> = None;
        for x in [a, b] {
            let shifted = self.bin(Bin::Add, Lane::I64, x, &half);
            let beyond = self.cmp(Cond::BelowEq, Lane::I64, &limit, &shifted);
            large = Some(match large {
                None => beyond,
                Some(other) => self.logic(Bin::Or, &other, &beyond),
            });
        }
        let Some(Raw::Many(large)) = large else { return a.clone() };
        let large = self.under_mask(&large);
        let any = self.any_of(&large);
        let (slow, fast, join) = (self.b.block(), self.b.block(), self.b.block());
        let (outside, shapes) = (self.b.current(), [(ty, true)]);
        for (label, through_doubles) in [(fast, true), (slow, false)] {
            self.b.open_from(Scope::Branch, outside);
            self.b.start(label);
            let result = if through_doubles {
                self.divide_doubles(op, ty, a, b).typed(ty)
            } else {
                self.help(op, ty, &[a.clone(), b.clone()])
            };
            let args = self.registers(&[result], &shapes);
            self.b.close();
            self.b.end(Op::Jump(join), &args);
        }
        self.b.end_of(outside, Op::BranchAny(slow, fast), &[any]);
        let values = self.block_values(join, &shapes);
        self.b.start(join);
        self.raw(&values[0], true)
    }

    fn divide_doubles(&mut self, op: ScalarOp, ty: ElemType, a: &Raw, b: &Raw) -> Raw {
        use crate::lir::Change;
        // The bits of 1.5 * 2^52: adding a small integer to them gives the double of the sum, and back.
        const SHIFT: u64 = 0x4338 << 48;
        let (bits, shift) = (self.raw_const(Lane::I64, SHIFT, true), self.raw_const(Lane::F64, SHIFT, true));
        let native = self.target.has_change(Change::Signed, Lane::I64, Lane::F64);
        let double = |l: &mut Self, x: &Raw| {
            if native {
                return l.change(Change::Signed, Lane::I64, Lane::F64, x);
            }
            let sum = l.bin(Bin::Add, Lane::I64, x, &bits);
            l.bin(Bin::Sub, Lane::F64, &sum, &shift)
        };
        let (x, y) = (double(self, a), double(self, b));
        let ratio = self.bin(Bin::Div, Lane::F64, &x, &y);
        let whole = self.round(Round::Trunc, Lane::F64, &ratio);
        let q = if native {
            self.change(Change::Signed, Lane::F64, Lane::I64, &whole)
        } else {
            let sum = self.bin(Bin::Add, Lane::F64, &whole, &shift);
            self.bin(Bin::Sub, Lane::I64, &sum, &bits)
        };
        if op == ScalarOp::Quot || op == ScalarOp::Div && !ty.is_signed() {
            return q;
        }
        let product = self.bin(Bin::Mul, Lane::I64, &q, b);
        let r = self.bin(Bin::Sub, Lane::I64, a, &product);
        match op {
            ScalarOp::Div => self.floor_quotient(Lane::I64, &q, &r, b),
            ScalarOp::Mod if ty.is_signed() => self.floor_remainder(Lane::I64, &r, b),
            _ => r,
        }
    }

    fn float_op(&mut self, op: ScalarOp, ty: ElemType, args: &[Raw], values: &[Value]) -> Option<Raw> {
        let (lane, many) = (lane_of(ty), args[0].is_many());
        if let Some(answer) = self.comparison(op, lane, false, args) {
            return Some(answer);
        }
        let a = &args[0];
        let sign = if lane.is_wide() { 1 << 63 } else { 1 << 31 };
        let magnitude = ty.mask() & !sign;
        Some(match op {
            ScalarOp::Add => self.bin(Bin::Add, lane, a, &args[1]),
            ScalarOp::Sub => self.bin(Bin::Sub, lane, a, &args[1]),
            ScalarOp::Mul => self.bin(Bin::Mul, lane, a, &args[1]),
            ScalarOp::Div => self.bin(Bin::Div, lane, a, &args[1]),
            // The instruction gives its second operand for ties and NaN.
            ScalarOp::Min | ScalarOp::Max => {
                let (bin, tie, zero) = match op {
                    ScalarOp::Min => (Bin::FMin, Bin::Or, sign),
                    _ => (Bin::FMax, Bin::And, 0),
                };
                let b = &args[1];
                // A number that is right for ties with it stands there: any, but for the zero that gives way.
                let is_right = |value: &Value| {
                    let right = |bits: u64| {
                        let number = Scalar::new(ty, bits).as_f64();
                        !number.is_nan() && (number != 0.0 || bits & ty.mask() == zero)
                    };
                    value.known().is_some_and(right)
                };
                if is_right(&values[0]) {
                    return Some(self.bin(bin, lane, b, a));
                }
                if is_right(&values[1]) {
                    return Some(self.bin(bin, lane, a, b));
                }
                let extreme = self.bin(bin, lane, b, a);
                let nan = self.cmp(Cond::Ne, lane, a, a);
                let extreme = self.select(&nan, lane, b, &extreme);
                // Equal numbers have the same bits, but for the sign of zeros.
                let (equal, either) = (self.cmp(Cond::Eq, lane, a, b), self.bin(tie, lane, a, b));
                self.select(&equal, lane, &either, &extreme)
            }
            ScalarOp::Neg => {
                let sign = self.raw_const(lane, sign, many);
                self.bin(Bin::Xor, lane, a, &sign)
            }
            ScalarOp::Abs => {
                let mask = self.raw_const(lane, magnitude, many);
                self.bin(Bin::And, lane, a, &mask)
            }
            ScalarOp::CopySign => {
                let (sign, mask) = (self.raw_const(lane, sign, many), self.raw_const(lane, magnitude, many));
                let size = self.bin(Bin::And, lane, a, &mask);
                let sign = self.bin(Bin::And, lane, &args[1], &sign);
                self.bin(Bin::Or, lane, &size, &sign)
            }
            ScalarOp::Sgn => {
                let zero = self.raw_const(lane, 0, many);
                let (one, minus) = (self.raw_float(lane, 1.0, many), self.raw_float(lane, -1.0, many));
                let (below, above) = (self.cmp(Cond::Lt, lane, a, &zero), self.cmp(Cond::Lt, lane, &zero, a));
                let low = self.select(&below, lane, &minus, a);
                self.select(&above, lane, &one, &low)
            }
            ScalarOp::Sqrt => self.sqrt(lane, a),
            ScalarOp::Rsqrt => {
                let (root, one) = (self.sqrt(lane, a), self.raw_float(lane, 1.0, many));
                self.bin(Bin::Div, lane, &one, &root)
            }
            ScalarOp::Floor | ScalarOp::Ceil | ScalarOp::Trunc | ScalarOp::Round
                if self.target.vectors().fma =>
            {
                let round = match op {
                    ScalarOp::Floor => Round::Floor,
                    ScalarOp::Ceil => Round::Ceil,
                    ScalarOp::Trunc => Round::Trunc,
                    _ => Round::Nearest,
                };
                self.round(round, lane, a)
            }
            ScalarOp::IsNan => self.cmp(Cond::Ne, lane, a, a),
            ScalarOp::IsInf => {
                let mask = self.raw_const(lane, magnitude, many);
                let size = self.bin(Bin::And, lane, a, &mask);
                let infinity = self.raw_float(lane, f64::INFINITY, many);
                self.cmp(Cond::Eq, lane, &size, &infinity)
            }
            ScalarOp::Fma if self.target.vectors().fma => self.fma(lane, a, &args[1], &args[2]),
            _ => return self.library_op(op, ty, args),
        })
    }
}
