//! Conversions between element types.

use super::Lower;
use super::primitive::Raw;
use super::value::{Rep, Value, lane_of, width_of};
use crate::lir::{Bin, Change, Cond, Lane, Mem, Op, Round, Width};
use galopvm_base::{ElemType, Scalar, scalar};

/// Numbers whose last bits count in units, and in units of 2^32.
const LOW_HALF: f64 = 4_503_599_627_370_496.0;
const HIGH_HALF: f64 = 19_342_813_113_834_066_795_298_816.0;

/// Set in a number of more than 2^53, for all bits from there on: far below what single precision has room for.
const BETWEEN: u64 = 1 << 11;

impl Lower<'_> {
    /// The value in another type.
    pub fn convert(&mut self, value: &Value, to: ElemType) -> Value {
        let from = value.ty;
        if from == to {
            return value.clone();
        }
        if let Some(bits) = value.known() {
            return Value::constant(Scalar::new(to, scalar::convert(from, to, bits)));
        }
        let many = value.varies();
        if let (Rep::Linear { start, step }, true) = (&value.rep, to.is_int() && !lane_of(to).is_wide()) {
            let low = Raw::Many(self.linear_narrow(*start, *step));
            return self.normal(to, low).typed(to);
        }
        let raw = self.raw(value, many);
        if from == ElemType::F16 || to == ElemType::F16 {
            return self.convert_half(value, raw, to);
        }
        let (source, target) = (lane_of(from), lane_of(to));
        if to == ElemType::Bool {
            let zero = self.raw_const(source, 0, many);
            return self.cmp(Cond::Ne, source, &raw, &zero).typed(to);
        }
        if from == ElemType::Bool {
            let one = match (many, to.is_float()) {
                (false, false) => return raw.typed(to),
                (false, true) => return self.int_to_float(ElemType::I32, to, &raw).typed(to),
                (true, true) => self.raw_float(target, 1.0, true),
                (true, false) => self.raw_const(target, 1, true),
            };
            let zero = self.raw_const(target, 0, true);
            return self.select(&raw, target, &one, &zero).typed(to);
        }
        let result = match (from.is_float(), to.is_float()) {
            (false, false) => self.int_to_int(from, to, raw.clone()),
            (false, true) => self.any_int_to_float(from, to, &raw),
            (true, true) => match &raw {
                Raw::One(x) => Raw::One(self.b.op(Op::ConvertFloat(source, target), &[*x])),
                Raw::Many(_) => self.change(Change::Float, source, target, &raw),
            },
            (true, false) => self.float_to_int(from, to, &raw),
        };
        result.typed(to)
    }

    fn convert_half(&mut self, value: &Value, raw: Raw, to: ElemType) -> Value {
        if value.ty == ElemType::Bool {
            let wide = self.convert(value, ElemType::I32);
            return self.convert(&wide, to);
        }
        if to == ElemType::Bool {
            let wide = self.help_convert(value.ty, ElemType::F32, &raw);
            return self.convert(&wide, to);
        }
        self.help_convert(value.ty, to, &raw)
    }

    fn int_to_int(&mut self, from: ElemType, to: ElemType, raw: Raw) -> Raw {
        let (source, target) = (lane_of(from), lane_of(to));
        let fits = from.bits() < to.bits() && (from.is_unsigned() || to.is_signed());
        if source.is_wide() == target.is_wide() {
            return if fits { raw } else { self.normal(to, raw) };
        }
        let change = if from.is_signed() { Change::Extend } else { Change::ExtendZero };
        let moved = match (&raw, target.is_wide()) {
            (Raw::Many(_), true) => self.change(change, source, target, &raw),
            (Raw::Many(_), false) => self.change(Change::Extend, source, target, &raw),
            (Raw::One(x), true) => {
                Raw::One(self.b.op(Op::Extend(if from.is_signed() { Mem::B32 } else { Mem::B64 }), &[*x]))
            }
            (Raw::One(_), false) => raw,
        };
        self.normal(to, moved)
    }

    fn int_to_float(&mut self, from: ElemType, to: ElemType, raw: &Raw) -> Raw {
        match raw {
            Raw::One(x) => Raw::One(self.b.op(Op::IntToFloat(width_of(lane_of(from)), lane_of(to)), &[*x])),
            Raw::Many(_) => self.change(Change::Signed, lane_of(from), lane_of(to), raw),
        }
    }

    fn any_int_to_float(&mut self, from: ElemType, to: ElemType, raw: &Raw) -> Raw {
        let (source, target) = (lane_of(from), lane_of(to));
        // Only the unsigned types that fill their lane need an unsigned conversion.
        let unsigned = matches!(from, ElemType::U32 | ElemType::U64);
        match raw {
            Raw::One(x) if from == ElemType::U32 => {
                let wide = self.b.op(Op::Extend(Mem::B64), &[*x]);
                Raw::One(self.b.op(Op::IntToFloat(Width::W64, target), &[wide]))
            }
            Raw::One(_) if from == ElemType::U64 => self.unsigned_to_float(to, raw),
            Raw::One(_) => self.int_to_float(from, to, raw),
            Raw::Many(_) => {
                let change = if unsigned { Change::Unsigned } else { Change::Signed };
                if self.target.has_change(change, source, target) {
                    return self.change(change, source, target, raw);
                }
                // It is exact as a double, or rounded once.
                let double = match (from, target) {
                    (ElemType::U32, _) => {
                        let wide = self.change(Change::ExtendZero, Lane::I32, Lane::I64, raw);
                        self.half_to_double(&wide)
                    }
                    (_, Lane::F64) => self.wide_to_double(from.is_signed(), raw),
                    _ => {
                        let short = self.shortened(from.is_signed(), raw);
                        self.wide_to_double(from.is_signed(), &short)
                    }
                };
                self.change(Change::Float, Lane::F64, target, &double)
            }
        }
    }

    /// A 64-bit number without a sign: where it is 2^63 or more, twice half of it, whose last bit says whether anything was cut off.
    fn unsigned_to_float(&mut self, to: ElemType, raw: &Raw) -> Raw {
        let zero = self.raw_const(Lane::I64, 0, false);
        let is_large = self.cmp(Cond::Lt, Lane::I64, raw, &zero);
        let half = self.shift(Bin::Shr, Lane::I64, raw, 1);
        let one = self.raw_const(Lane::I64, 1, false);
        let last = self.bin(Bin::And, Lane::I64, raw, &one);
        let half = self.bin(Bin::Or, Lane::I64, &half, &last);
        let fitting = self.select(&is_large, Lane::I64, &half, raw);
        let float = self.int_to_float(ElemType::I64, to, &fitting);
        let twice = self.bin(Bin::Add, lane_of(to), &float, &float);
        self.select(&is_large, lane_of(to), &twice, &float)
    }

    /// 64-bit integers that are exact as doubles, and that are rounded to the same single-precision numbers: of more than 2^53 the last
    /// bits only say whether a number lies between two others.
    fn shortened(&mut self, signed: bool, raw: &Raw) -> Raw {
        let zero = self.raw_const(Lane::I64, 0, true);
        let is_large = if signed {
            let [least, greatest] =
                [-1i64 << 53, 1 << 53].map(|limit| self.raw_const(Lane::I64, limit as u64, true));
            let above = self.cmp(Cond::Lt, Lane::I64, &greatest, raw);
            let below = self.cmp(Cond::Lt, Lane::I64, raw, &least);
            self.logic(Bin::Or, &above, &below)
        } else {
            let upper = self.shift(Bin::Shr, Lane::I64, raw, 53);
            self.cmp(Cond::Ne, Lane::I64, &upper, &zero)
        };
        let last = self.raw_const(Lane::I64, BETWEEN * 2 - 1, true);
        let rest = self.raw_const(Lane::I64, !(BETWEEN * 2 - 1), true);
        let [last, rest] = [last, rest].map(|mask| self.bin(Bin::And, Lane::I64, raw, &mask));
        let mark = self.raw_const(Lane::I64, BETWEEN, true);
        let marked = self.bin(Bin::Or, Lane::I64, &rest, &mark);
        let is_multiple = self.cmp(Cond::Eq, Lane::I64, &last, &zero);
        let short = self.select(&is_multiple, Lane::I64, &rest, &marked);
        self.select(&is_large, Lane::I64, &short, raw)
    }

    /// Integers below 2^32 in wide lanes as doubles: they are the low bits of numbers from 2^52 on.
    pub fn half_to_double(&mut self, raw: &Raw) -> Raw {
        let bits = self.raw_const(Lane::I64, LOW_HALF.to_bits(), true);
        let shifted = self.bin(Bin::Or, Lane::I64, raw, &bits);
        let shift = self.raw_float(Lane::F64, LOW_HALF, true);
        self.bin(Bin::Sub, Lane::F64, &shifted, &shift)
    }

    /// 64-bit integers as doubles without an instruction: the halves are the low bits of numbers from 2^84 and from 2^52 on,
    /// from which both shifts are taken at once; only the last sum is rounded.
    fn wide_to_double(&mut self, signed: bool, raw: &Raw) -> Raw {
        // A signed number is made positive: 2^63 more, by flipping its sign bit.
        let (flipped, more) = if signed { (1 << 31, 2f64.powi(63)) } else { (0, 0.0) };
        let upper = self.shift(Bin::Shr, Lane::I64, raw, 32);
        let bits = self.raw_const(Lane::I64, HIGH_HALF.to_bits() ^ flipped, true);
        let upper = self.bin(Bin::Xor, Lane::I64, &upper, &bits);
        let shifts = self.raw_float(Lane::F64, HIGH_HALF + LOW_HALF + more, true);
        let upper = self.bin(Bin::Sub, Lane::F64, &upper, &shifts);
        let mask = self.raw_const(Lane::I64, u64::from(u32::MAX), true);
        let lower = self.bin(Bin::And, Lane::I64, raw, &mask);
        let bits = self.raw_const(Lane::I64, LOW_HALF.to_bits(), true);
        let lower = self.bin(Bin::Or, Lane::I64, &lower, &bits);
        self.bin(Bin::Add, Lane::F64, &upper, &lower)
    }

    /// Truncation; out of range goes to the nearest value of the type, NaN and the infinities to 0.
    fn float_to_int(&mut self, from: ElemType, to: ElemType, raw: &Raw) -> Raw {
        let (source, target, many) = (lane_of(from), lane_of(to), raw.is_many());
        let full_unsigned = matches!(to, ElemType::U32 | ElemType::U64);
        let change = if full_unsigned { Change::Unsigned } else { Change::Signed };
        // What is not less than the limit gives anything. What is too small gives the least number.
        let truncated = match raw {
            _ if full_unsigned => {
                let zero = self.raw_const(source, 0, many);
                let positive = self.bin(Bin::FMax, source, raw, &zero);
                match &positive {
                    Raw::One(_) => self.float_to_unsigned(from, to, &positive),
                    Raw::Many(_) if self.target.has_change(change, source, target) => {
                        self.change(change, source, target, &positive)
                    }
                    Raw::Many(_) => self.floats_to_wide(from, to, &positive),
                }
            }
            Raw::One(x) => Raw::One(self.b.op(Op::FloatToInt(source, width_of(target)), &[*x])),
            Raw::Many(_) if self.target.has_change(change, source, target) => {
                self.change(change, source, target, raw)
            }
            Raw::Many(_) => self.floats_to_wide(from, to, raw),
        };
        let bits = if target.is_wide() { 64 } else { 32 } - usize::from(!full_unsigned);
        let limit = self.raw_float(source, 2f64.powi(bits as i32), many);
        let too_large = self.cmp(Cond::Le, source, &limit, raw);
        let greatest = self.raw_const(target, u64::MAX >> (64 - bits), many);
        let result = self.select(&too_large, target, &greatest, &truncated);
        let mask = self.raw_const(source, from.mask() >> 1, many);
        let size = self.bin(Bin::And, source, raw, &mask);
        let infinity = self.raw_float(source, f64::INFINITY, many);
        let finite = self.cmp(Cond::Lt, source, &size, &infinity);
        let zero = self.raw_const(target, 0, many);
        let result = self.select(&finite, target, &result, &zero);
        if to.bits() >= 32 {
            return result;
        }
        let (least, greatest) = if to.is_signed() {
            (-1i64 << (to.bits() - 1), (1i64 << (to.bits() - 1)) - 1)
        } else {
            (0, to.mask() as i64)
        };
        let (least, greatest) =
            (self.raw_const(Lane::I32, least as u64, many), self.raw_const(Lane::I32, greatest as u64, many));
        let result = self.bin(Bin::MaxS, Lane::I32, &result, &least);
        self.bin(Bin::MinS, Lane::I32, &result, &greatest)
    }

    /// A number that is not negative as an unsigned integer of 32 or 64 bits, if it is one.
    fn float_to_unsigned(&mut self, from: ElemType, to: ElemType, raw: &Raw) -> Raw {
        let lane = lane_of(from);
        let whole = |l: &mut Self, x: &Raw| Raw::One(l.b.op(Op::FloatToInt(lane, Width::W64), &[x.part(0)]));
        if to == ElemType::U32 {
            return whole(self, raw);
        }
        let limit = self.raw_float(lane, 2f64.powi(63), false);
        let is_large = self.cmp(Cond::Le, lane, &limit, raw);
        let less = self.bin(Bin::Sub, lane, raw, &limit);
        let fitting = self.select(&is_large, lane, &less, raw);
        let whole = whole(self, &fitting);
        let [top, zero] = [1 << 63, 0].map(|bits| self.raw_const(Lane::I64, bits, false));
        let top = self.select(&is_large, Lane::I64, &top, &zero);
        self.bin(Bin::Xor, Lane::I64, &whole, &top)
    }

    /// Truncation to 64 bits, or to 32 without a sign, by the bits of doubles.
    fn floats_to_wide(&mut self, from: ElemType, to: ElemType, raw: &Raw) -> Raw {
        let double = self.change(Change::Float, lane_of(from), Lane::F64, raw);
        let whole = self.round(Round::Trunc, Lane::F64, &double);
        if to == ElemType::U32 {
            let greatest = self.raw_float(Lane::F64, u32::MAX.into(), true);
            let whole = self.bin(Bin::FMin, Lane::F64, &whole, &greatest);
            let wide = self.double_to_half(&whole);
            return self.change(Change::Extend, Lane::I64, Lane::I32, &wide);
        }
        let least = self.raw_float(Lane::F64, -2f64.powi(63), true);
        let whole = self.bin(Bin::FMax, Lane::F64, &whole, &least);
        // Both halves are exact, the upper one with a sign.
        let [down, up] = [-32, 32].map(|power| self.raw_float(Lane::F64, 2f64.powi(power), true));
        let upper = self.bin(Bin::Mul, Lane::F64, &whole, &down);
        let upper = self.round(Round::Floor, Lane::F64, &upper);
        let above = self.bin(Bin::Mul, Lane::F64, &upper, &up);
        let lower = self.bin(Bin::Sub, Lane::F64, &whole, &above);
        let shift = self.raw_float(Lane::F64, LOW_HALF * 1.5, true);
        let upper = self.bin(Bin::Add, Lane::F64, &upper, &shift);
        let upper = self.shift(Bin::Shl, Lane::I64, &upper, 32);
        let lower = self.double_to_half(&lower);
        self.bin(Bin::Or, Lane::I64, &upper, &lower)
    }

    /// Doubles that are integers below 2^32, not negative, as integers in wide lanes.
    fn double_to_half(&mut self, raw: &Raw) -> Raw {
        let shift = self.raw_float(Lane::F64, LOW_HALF, true);
        let shifted = self.bin(Bin::Add, Lane::F64, raw, &shift);
        let bits = self.raw_const(Lane::I64, LOW_HALF.to_bits(), true);
        self.bin(Bin::Xor, Lane::I64, &shifted, &bits)
    }
}
