//! Functions of the mathematical library in registers: the steps that `galopvm_base` gives, one after the other.
//!
//! Numbers are wide lanes, or scalar floats; truths are masks of wide lanes, or 0 and 1; words are wide lanes, or general
//! registers. On `f32` the operands are widened and the value is rounded. What fills one register of narrow lanes goes through
//! all steps before the next does, so that a function takes few registers at a time. Where a value is not known, the helper
//! function mends it.

use super::Lower;
use super::primitive::Raw;
use super::value::{Parts, lane_of};
use crate::library::Helper;
use crate::lir::{Bin, Change, Cond, Extent, Lane, Op, Reg, Width};
use galopvm_base::scalar::{Step, Steps, steps_of};
use galopvm_base::{ElemType, ScalarOp};
use smallvec::smallvec;

/// The bit that is the sign of a number.
const SIGN: u64 = 1 << 63;

/// The result of a step.
enum Result {
    /// A number with these bits: an instruction may take it as it is.
    Constant(u64),
    /// Registers.
    There(Raw),
}

/// The results so far, for one number or for all lanes.
struct Results {
    extent: Extent,
    steps: Vec<Result>,
}

impl Lower<'_> {
    /// A library function on floats, if it has a form without branches.
    pub fn library_op(&mut self, op: ScalarOp, ty: ElemType, args: &[Raw]) -> Option<Raw> {
        let steps = steps_of(op, ty)?;
        let Some(Raw::Many(first)) = args.first() else {
            let (value, unknown) = self.value_and_unknown(&steps, ty, args);
            let regs: Parts = args.iter().map(|arg| arg.part(0)).collect();
            return Some(Raw::One(self.mended(op, ty, Extent::One, value.part(0), unknown, &regs)));
        };
        let each = if lane_of(ty).is_wide() { 2 } else { 1 };
        let mut parts = Parts::new();
        for group in 0..first.len() / each {
            let of_group = |arg: &Raw| Raw::Many((0..each).map(|k| arg.part(group * each + k)).collect());
            let args: Vec<Raw> = args.iter().map(of_group).collect();
            let (value, unknown) = self.value_and_unknown(&steps, ty, &args);
            let unknown = unknown.map(|unknown| match &self.mask {
                Some(mask) => self.b.op(Op::MaskLogic(Bin::And), &[mask[group], unknown]),
                None => unknown,
            });
            for k in 0..each {
                let regs: Parts = args.iter().map(|arg| arg.part(k)).collect();
                parts.push(self.mended(op, ty, Extent::All, value.part(k), unknown, &regs));
            }
        }
        Some(Raw::Many(parts))
    }

    /// A value that the helper mends where it is not known.
    fn mended(
        &mut self,
        op: ScalarOp,
        ty: ElemType,
        extent: Extent,
        value: Reg,
        unknown: Option<Reg>,
        args: &[Reg],
    ) -> Reg {
        let Some(unknown) = unknown else { return value };
        let operands: Parts = [value, unknown].iter().chain(args).copied().collect();
        self.b.op(Op::Mend(Helper::Apply(op, ty), extent), &operands)
    }

    /// The value that the steps give in the type, and a bool that says where it is not known, if that can be.
    fn value_and_unknown(&mut self, steps: &Steps, ty: ElemType, args: &[Raw]) -> (Raw, Option<Reg>) {
        let lane = lane_of(ty);
        let args: Vec<Raw> = args.iter().map(|arg| self.in_lanes(lane, Lane::F64, arg)).collect();
        let extent = if args[0].is_many() { Extent::All } else { Extent::One };
        let mut results = Results { extent, steps: Vec::with_capacity(steps.steps.len()) };
        for step in &steps.steps {
            let result = self.step(&steps.steps, *step, &results, &args);
            results.steps.push(result);
        }
        let value = self.there(&results, steps.value);
        let unknown = steps.known.map(|known| {
            let known = self.there(&results, known);
            let known = if known.is_many() { self.join_masks(known) } else { known };
            self.not(&known).part(0)
        });
        (self.in_lanes(Lane::F64, lane, &value), unknown)
    }

    /// Floats in lanes of another width.
    fn in_lanes(&mut self, from: Lane, to: Lane, a: &Raw) -> Raw {
        match a {
            _ if from == to => a.clone(),
            Raw::One(x) => Raw::One(self.b.op(Op::ConvertFloat(from, to), &[*x])),
            Raw::Many(_) => self.change(Change::Float, from, to, a),
        }
    }

    /// The registers of a result. A constant has one for all parts.
    fn there(&mut self, results: &Results, at: usize) -> Raw {
        match &results.steps[at] {
            Result::There(raw) => raw.clone(),
            Result::Constant(bits) => {
                let reg = self.b.op(Op::Constant(Lane::F64, results.extent, *bits as i64), &[]);
                if results.extent == Extent::All { Raw::Many(smallvec![reg]) } else { Raw::One(reg) }
            }
        }
    }

    fn step(&mut self, steps: &[Step], step: Step, results: &Results, args: &[Raw]) -> Result {
        Result::There(match step {
            Step::Operand(k) => args[k].clone(),
            Step::Constant(bits) => return Result::Constant(bits),
            Step::Add(a, b) => self.number(Bin::Add, results, a, b),
            Step::Sub(a, b) => self.number(Bin::Sub, results, a, b),
            Step::Mul(a, b) => self.number(Bin::Mul, results, a, b),
            Step::Div(a, b) => self.number(Bin::Div, results, a, b),
            Step::Sqrt(a) => {
                let a = self.there(results, a);
                self.sqrt(Lane::F64, &a)
            }
            Step::Neg(a) => {
                let a = self.there(results, a);
                self.number_and_constant(Bin::Xor, &a, SIGN)
            }
            Step::Abs(a) => {
                let a = self.there(results, a);
                self.number_and_constant(Bin::And, &a, !SIGN)
            }
            Step::CopySign(a, b) => {
                let (a, b) = (self.there(results, a), self.there(results, b));
                let size = self.number_and_constant(Bin::And, &a, !SIGN);
                let sign = self.number_and_constant(Bin::And, &b, SIGN);
                self.bin(Bin::Or, Lane::F64, &size, &sign)
            }
            Step::Less(a, b) => self.truth(Cond::Lt, results, a, b),
            Step::LessOrEqual(a, b) => self.truth(Cond::Le, results, a, b),
            Step::Equal(a, b) => self.truth(Cond::Eq, results, a, b),
            Step::Both(a, b) => {
                let (a, b) = (self.there(results, a), self.there(results, b));
                self.logic(Bin::And, &a, &b)
            }
            Step::Either(a, b) => {
                let (a, b) = (self.there(results, a), self.there(results, b));
                self.logic(Bin::Or, &a, &b)
            }
            Step::Not(a) => {
                let a = self.there(results, a);
                self.not(&a)
            }
            Step::Select(condition, yes, no) => {
                let (x, y) = (self.there(results, yes), self.there(results, no));
                // The instructions give their second operand for equal numbers and for NaN, as a choice after "less" does.
                let extreme = match steps[condition] {
                    Step::Less(a, b) if (a, b) == (yes, no) => Some(Bin::FMin),
                    Step::Less(a, b) if (b, a) == (yes, no) => Some(Bin::FMax),
                    _ => None,
                };
                match extreme {
                    Some(bin) => self.bin(bin, Lane::F64, &x, &y),
                    None => self.choice(results, condition, &x, &y),
                }
            }
            Step::Word(a) => match self.there(results, a) {
                Raw::One(reg) => Raw::One(self.b.op(Op::FromFloat(Lane::F64), &[reg])),
                many => many,
            },
            Step::Number(a) => match self.there(results, a) {
                Raw::One(reg) => Raw::One(self.b.op(Op::ToFloat(Lane::F64), &[reg])),
                many => many,
            },
            Step::Plus(a, other) => self.word(Bin::Add, results, a, other),
            Step::And(a, other) => self.word(Bin::And, results, a, other),
            Step::Or(a, other) => self.word(Bin::Or, results, a, other),
            Step::Xor(a, b) => {
                let (a, b) = (self.there(results, a), self.there(results, b));
                self.bin(Bin::Xor, Lane::I64, &a, &b)
            }
            Step::ShiftLeft(a, count) => {
                let a = self.there(results, a);
                self.shift(Bin::Shl, Lane::I64, &a, count as u8)
            }
            Step::ShiftRight(a, count) => {
                let a = self.there(results, a);
                self.shift(Bin::Shr, Lane::I64, &a, count as u8)
            }
            Step::IsZero(a) => match self.there(results, a) {
                Raw::One(reg) => {
                    let zero = self.b.int(0);
                    Raw::One(self.b.op(Op::Set(Cond::Eq, Width::W64), &[reg, zero]))
                }
                word => {
                    let zero = self.b.op(Op::Constant(Lane::I64, Extent::All, 0), &[]);
                    self.each(Op::Cmp(Cond::Eq, Lane::I64), &[&word, &Raw::One(zero)])
                }
            },
        })
    }

    fn choice(&mut self, results: &Results, condition: usize, yes: &Raw, no: &Raw) -> Raw {
        match self.there(results, condition) {
            Raw::One(condition) => {
                Raw::One(self.b.op(Op::ChooseFloat, &[condition, yes.part(0), no.part(0)]))
            }
            masks => self.each(Op::Blend(Lane::F64), &[&masks, yes, no]),
        }
    }

    /// Arithmetic on numbers. A constant need not be brought to a register where it is, or may be, the second operand.
    fn number(&mut self, bin: Bin, results: &Results, a: usize, b: usize) -> Raw {
        let commutes = matches!(bin, Bin::Add | Bin::Mul);
        match (&results.steps[a], &results.steps[b]) {
            (_, Result::Constant(bits)) => {
                let a = self.there(results, a);
                self.number_and_constant(bin, &a, *bits)
            }
            (Result::Constant(bits), _) if commutes => {
                let b = self.there(results, b);
                self.number_and_constant(bin, &b, *bits)
            }
            _ => {
                let (a, b) = (self.there(results, a), self.there(results, b));
                self.bin(bin, Lane::F64, &a, &b)
            }
        }
    }

    fn number_and_constant(&mut self, bin: Bin, a: &Raw, bits: u64) -> Raw {
        let op = |extent| Op::VConst(bin, Lane::F64, extent, bits as i64);
        match a {
            Raw::One(reg) => Raw::One(self.b.op(op(Extent::One), &[*reg])),
            Raw::Many(_) => self.each(op(Extent::All), &[a]),
        }
    }

    fn truth(&mut self, cond: Cond, results: &Results, a: usize, b: usize) -> Raw {
        let (a, b) = (self.there(results, a), self.there(results, b));
        match (&a, &b) {
            (Raw::One(x), Raw::One(y)) => Raw::One(self.b.op(Op::SetFloat(cond, Lane::F64), &[*x, *y])),
            _ => self.each(Op::Cmp(cond, Lane::F64), &[&a, &b]),
        }
    }

    /// Arithmetic on a word with another that is known.
    fn word(&mut self, bin: Bin, results: &Results, a: usize, other: u64) -> Raw {
        match self.there(results, a) {
            Raw::One(reg) => {
                let other = self.b.int(other as i64);
                Raw::One(self.b.op(Op::Alu(bin, Width::W64), &[reg, other]))
            }
            many => self.each(Op::VConst(bin, Lane::I64, Extent::All, other as i64), &[&many]),
        }
    }
}
