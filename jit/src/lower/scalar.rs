//! Scalar operations: each row of the table in steps of `primitive.rs`, by `library.rs`, or by the helper function.

use super::Lower;
use super::primitive::Raw;
use super::value::{Factor, Rep, Value, lane_of, vector};
use crate::lir::{Bin, Cond, Lane, Op, Round, Width};
use galopvm_base::{ElemType, Scalar, ScalarOp, scalar};
use galopvm_kir::Refusal;
use smallvec::SmallVec;

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

    fn select_op(&mut self, ty: ElemType, args: &[Value], many: bool) -> Value {
        if let Some(bits) = args[0].known() {
            return if bits != 0 { args[1].clone() } else { args[2].clone() };
        }
        if many && !args[0].varies() && args[2].known() == Some(0) && ty != ElemType::Bool {
            return self.value_or_zero(ty, &args[0], &args[1]);
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

    /// The lanes of a value where a condition that is the same for all of them holds, else zeros: all bits of each, or none.
    fn value_or_zero(&mut self, ty: ElemType, condition: &Value, value: &Value) -> Value {
        let lane = lane_of(ty);
        let condition = self.uniform(condition);
        let others = self.b.op(Op::AluImm(Bin::Sub, Width::W64, 1), &[condition]);
        let others = self.b.op(Op::Splat(lane.as_int()), &[others]);
        let others = Raw::Many(SmallVec::from_elem(others, self.part_count(ty)));
        let value = self.raw(value, true);
        self.each(vector(Bin::AndNot, lane), &[&others, &value]).typed(ty)
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
            ScalarOp::MulHi if ty.bits() < 32 => {
                let product = self.bin(Bin::Mul, lane, a, &args[1]);
                let down = if signed { Bin::Sar } else { Bin::Shr };
                self.shift(down, lane, &product, ty.bits() as u8)
            }
            ScalarOp::MulHi if many && ty.bits() == 32 => self.each(Op::VMulHigh(signed), &[a, &args[1]]),
            ScalarOp::MulHi if !many => {
                let Raw::One(x) = a else { return None };
                let Raw::One(y) = &args[1] else { return None };
                Raw::One(self.b.op(Op::MulHigh(signed, super::value::width_of(lane)), &[*x, *y]))
            }
            _ => return None,
        };
        // What is made of normal operands bit by bit, or is no greater than one of them, is normal.
        let is_normal = match op {
            ScalarOp::And | ScalarOp::Or | ScalarOp::Xor | ScalarOp::Shr | ScalarOp::Rem | ScalarOp::Mod => {
                true
            }
            ScalarOp::Div | ScalarOp::Quot | ScalarOp::MulHi => !signed,
            _ => false,
        };
        Some(if is_normal { raw } else { self.normal(ty, raw) })
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
