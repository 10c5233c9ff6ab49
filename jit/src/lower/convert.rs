//! Conversions between element types.

use super::Lower;
use super::primitive::Raw;
use super::value::{Rep, Value, lane_of, width_of};
use crate::lir::{Bin, Change, Cond, Lane, Mem, Op, Width};
use galopvm_base::{ElemType, Scalar, scalar};

/// Numbers whose last bits count in units, and in units of 2^32.
const LOW_HALF: f64 = 4_503_599_627_370_496.0;
const HIGH_HALF: f64 = 19_342_813_113_834_066_795_298_816.0;

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
            (false, false) => Some(self.int_to_int(from, to, raw.clone())),
            (false, true) => self.try_int_to_float(from, to, &raw),
            (true, true) => Some(match &raw {
                Raw::One(x) => Raw::One(self.b.op(Op::ConvertFloat(source, target), &[*x])),
                Raw::Many(_) => self.change(Change::Float, source, target, &raw),
            }),
            (true, false) => self.float_to_int(from, to, &raw),
        };
        match result {
            Some(raw) => raw.typed(to),
            None => self.help_convert(from, to, &raw),
        }
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
        if source.is_wide() == target.is_wide() {
            return self.normal(to, raw);
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

    fn try_int_to_float(&mut self, from: ElemType, to: ElemType, raw: &Raw) -> Option<Raw> {
        let (source, target) = (lane_of(from), lane_of(to));
        // Only the unsigned types that fill their lane need an unsigned conversion.
        let unsigned = matches!(from, ElemType::U32 | ElemType::U64);
        match raw {
            Raw::One(x) if from == ElemType::U32 => {
                let wide = self.b.op(Op::Extend(Mem::B64), &[*x]);
                Some(Raw::One(self.b.op(Op::IntToFloat(Width::W64, target), &[wide])))
            }
            Raw::One(_) if from == ElemType::U64 => None,
            Raw::One(_) => Some(self.int_to_float(from, to, raw)),
            Raw::Many(_) => {
                let change = if unsigned { Change::Unsigned } else { Change::Signed };
                if self.target.has_change(change, source, target) {
                    return Some(self.change(change, source, target, raw));
                }
                match (from, target) {
                    (ElemType::U32, _) => {
                        // It is exact as a double, which is rounded once.
                        let wide = self.change(Change::ExtendZero, Lane::I32, Lane::I64, raw);
                        let double = self.half_to_double(&wide);
                        Some(self.change(Change::Float, Lane::F64, target, &double))
                    }
                    (_, Lane::F64) => Some(self.wide_to_double(from.is_signed(), raw)),
                    _ => None,
                }
            }
        }
    }

    /// Integers below 2^32 in wide lanes as doubles: they are the low bits of numbers from 2^52 on.
    fn half_to_double(&mut self, raw: &Raw) -> Raw {
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
    fn float_to_int(&mut self, from: ElemType, to: ElemType, raw: &Raw) -> Option<Raw> {
        let (source, target, many) = (lane_of(from), lane_of(to), raw.is_many());
        let full_unsigned = matches!(to, ElemType::U32 | ElemType::U64);
        let change = if full_unsigned { Change::Unsigned } else { Change::Signed };
        if full_unsigned && !many || many && !self.target.has_change(change, source, target) {
            return None;
        }
        let result = if full_unsigned {
            // Too large gives all ones, which is the greatest number already.
            let zero = self.raw_const(source, 0, true);
            let positive = self.bin(Bin::FMax, source, raw, &zero);
            self.change(change, source, target, &positive)
        } else {
            // Out of range gives the least number, which is wrong for large operands only.
            let truncated = match raw {
                Raw::One(x) => Raw::One(self.b.op(Op::FloatToInt(source, width_of(target)), &[*x])),
                Raw::Many(_) => self.change(change, source, target, raw),
            };
            let bits = if target.is_wide() { 63 } else { 31 };
            let limit = self.raw_float(source, 2f64.powi(bits), many);
            let too_large = self.cmp(Cond::Le, source, &limit, raw);
            let greatest = self.raw_const(target, (1u64 << bits) - 1, many);
            self.select(&too_large, target, &greatest, &truncated)
        };
        let mask = self.raw_const(source, from.mask() >> 1, many);
        let size = self.bin(Bin::And, source, raw, &mask);
        let infinity = self.raw_float(source, f64::INFINITY, many);
        let finite = self.cmp(Cond::Lt, source, &size, &infinity);
        let zero = self.raw_const(target, 0, many);
        let result = self.select(&finite, target, &result, &zero);
        if to.bits() >= 32 {
            return Some(result);
        }
        let (least, greatest) = if to.is_signed() {
            (-1i64 << (to.bits() - 1), (1i64 << (to.bits() - 1)) - 1)
        } else {
            (0, to.mask() as i64)
        };
        let (least, greatest) =
            (self.raw_const(Lane::I32, least as u64, many), self.raw_const(Lane::I32, greatest as u64, many));
        let result = self.bin(Bin::MaxS, Lane::I32, &result, &least);
        Some(self.bin(Bin::MinS, Lane::I32, &result, &greatest))
    }
}
