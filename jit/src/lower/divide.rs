//! Division and remainder of integers.
//!
//! Of one number, by the processor's instruction. Of lanes, which have none: by a number that is known, a multiplication whose high
//! half is the quotient (T. Granlund and P. Montgomery, "Division by invariant integers using multiplication", 1994); 32 bits and
//! less otherwise through doubles, which is exact; 64 bits through doubles where the operands are small, else by a helper.

use super::Lower;
use super::primitive::Raw;
use super::value::{Value, lane_of, width_of};
use crate::lir::build::Scope;
use crate::lir::{Bin, Change, Cond, Lane, Op, Round};
use galopvm_base::{ElemType, Scalar, ScalarOp};

/// What a number of 32 bits is multiplied by for the quotient by a number that is known: the quotient is the high half of the
/// product, shifted down by `shift`.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Reciprocal {
    /// The low 32 bits of the factor.
    factor: u32,
    /// True if the factor has 33 bits: of signed numbers, its low 32 bits are then a number of the other sign.
    is_long: bool,
    shift: u8,
}

impl Reciprocal {
    /// For unsigned numbers and a divisor of at least 2 that is no power of two.
    fn unsigned(divisor: u32) -> Reciprocal {
        let divisor = u128::from(divisor);
        let bits = (divisor - 1).ilog2() + 1;
        for shift in 0..bits {
            let power = 1u128 << (32 + shift);
            let factor = power.div_ceil(divisor);
            if factor < 1 << 32 && factor * divisor - power <= 1 << shift {
                return Reciprocal { factor: factor as u32, is_long: false, shift: shift as u8 };
            }
        }
        let factor = (((1 << bits) - divisor) << 32) / divisor + 1;
        Reciprocal { factor: factor as u32, is_long: true, shift: bits as u8 }
    }

    /// For signed numbers and a divisor of a magnitude of at least 2.
    fn signed(divisor: i32) -> Reciprocal {
        let magnitude = u128::from(divisor.unsigned_abs());
        // The dividend with the greatest magnitude of those that come right before a multiple.
        let limit = (1u128 << 31) + u128::from(divisor < 0);
        let last = limit - 1 - limit % magnitude;
        let mut shift = 0;
        loop {
            let power = 1u128 << (32 + shift);
            let missing = magnitude - power % magnitude;
            if power > last * missing {
                let factor = ((power + missing) / magnitude) as u32;
                let factor = if divisor < 0 { factor.wrapping_neg() } else { factor };
                let is_long = (factor as i32 > 0) != (divisor > 0);
                return Reciprocal { factor, is_long, shift };
            }
            shift += 1;
        }
    }
}

impl Lower<'_> {
    /// Division and remainder, rounding down, by powers of two.
    pub fn power_of_two(&mut self, op: ScalarOp, ty: ElemType, args: &[Value]) -> Option<Value> {
        let is_quotient = op == ScalarOp::Div || op == ScalarOp::Quot && ty.is_unsigned();
        let is_remainder = op == ScalarOp::Mod || op == ScalarOp::Rem && ty.is_unsigned();
        if !ty.is_int() || !is_quotient && !is_remainder {
            return None;
        }
        let divisor = args[1].known()?;
        let positive = divisor != 0 && (ty.is_unsigned() || divisor < 1 << (ty.bits() - 1));
        if !positive || !divisor.is_power_of_two() {
            return None;
        }
        let (many, lane) = (args[0].varies(), lane_of(ty));
        let a = self.raw(&args[0], many);
        let raw = if is_remainder {
            let low = self.raw_const(lane, divisor - 1, many);
            self.bin(Bin::And, lane, &a, &low)
        } else {
            let bin = if ty.is_signed() { Bin::Sar } else { Bin::Shr };
            self.shift(bin, lane, &a, divisor.trailing_zeros() as u8)
        };
        Some(raw.typed(ty))
    }

    /// The divisor is not zero.
    pub fn divide(&mut self, op: ScalarOp, ty: ElemType, a: &Raw, b: &Raw) -> Raw {
        let (lane, signed) = (lane_of(ty), ty.is_signed());
        let width = width_of(lane);
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

    /// Division of lanes. Lanes that are not taken hold anything.
    pub fn divide_lanes(
        &mut self,
        op: ScalarOp,
        ty: ElemType,
        a: &Raw,
        b: &Raw,
        divisor: Option<u64>,
    ) -> Option<Raw> {
        let lane = lane_of(ty);
        if lane.is_wide() {
            return Some(self.divide_wide(op, ty, a, b));
        }
        let known = divisor.map(|bits| Scalar::new(ty, bits).as_i64());
        let q = match known {
            Some(number) if number.unsigned_abs() > 1 => self.quotient_by(ty, a, number),
            _ => self.quotient_of_doubles(ty, a, b)?,
        };
        if op == ScalarOp::Quot || op == ScalarOp::Div && !ty.is_signed() {
            return Some(q);
        }
        let product = self.bin(Bin::Mul, lane, &q, b);
        let r = self.bin(Bin::Sub, lane, a, &product);
        if op == ScalarOp::Rem || !ty.is_signed() {
            return Some(r);
        }
        if known.is_some_and(|number| number > 0) {
            // All ones where the remainder is negative.
            let below = self.shift(Bin::Sar, lane, &r, 31);
            if op == ScalarOp::Div {
                return Some(self.bin(Bin::Add, lane, &q, &below));
            }
            let more = self.bin(Bin::And, lane, &below, b);
            return Some(self.bin(Bin::Add, lane, &r, &more));
        }
        Some(match op {
            ScalarOp::Mod => self.floor_remainder(lane, &r, b),
            _ => self.floor_quotient(lane, &q, &r, b),
        })
    }

    /// The quotient, rounded to zero, by a number of a magnitude above 1; for unsigned types no power of two.
    fn quotient_by(&mut self, ty: ElemType, a: &Raw, divisor: i64) -> Raw {
        let lane = Lane::I32;
        let high = |l: &mut Self, factor: u32| {
            let factor = l.raw_const(lane, factor.into(), true);
            l.each(Op::VMulHigh(ty.is_signed()), &[a, &factor])
        };
        if ty.is_signed() {
            let Reciprocal { factor, is_long, shift } = Reciprocal::signed(divisor as i32);
            let mut q = high(self, factor);
            if is_long {
                q = self.bin(if divisor > 0 { Bin::Add } else { Bin::Sub }, lane, &q, a);
            }
            if shift > 0 {
                q = self.shift(Bin::Sar, lane, &q, shift);
            }
            let negative = self.shift(Bin::Shr, lane, &q, 31);
            return self.bin(Bin::Add, lane, &q, &negative);
        }
        let Reciprocal { factor, is_long, shift } = Reciprocal::unsigned(divisor as u32);
        let q = high(self, factor);
        if !is_long {
            return if shift > 0 { self.shift(Bin::Shr, lane, &q, shift) } else { q };
        }
        // The sum with the dividend has 33 bits, half of it has not.
        let rest = self.bin(Bin::Sub, lane, a, &q);
        let half = self.shift(Bin::Shr, lane, &rest, 1);
        let q = self.bin(Bin::Add, lane, &half, &q);
        if shift > 1 { self.shift(Bin::Shr, lane, &q, shift - 1) } else { q }
    }

    /// The quotient of 32 bits, rounded to zero, through doubles, which is exact.
    fn quotient_of_doubles(&mut self, ty: ElemType, a: &Raw, b: &Raw) -> Option<Raw> {
        if !self.target.has_change(Change::Signed, Lane::I32, Lane::F64) {
            return None;
        }
        let (x, y) = (self.double_of(ty, a), self.double_of(ty, b));
        let ratio = self.bin(Bin::Div, Lane::F64, &x, &y);
        Some(self.whole_of(ty, &ratio))
    }

    /// Integers of 32 bits as doubles. Unsigned ones, where no instruction takes them, are moved down by 2^31 and back.
    fn double_of(&mut self, ty: ElemType, a: &Raw) -> Raw {
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
}

#[cfg(test)]
mod tests {
    use super::Reciprocal;

    /// Dividends about multiples, and the ends of the range.
    fn near(divisor: i64, ends: [i64; 2]) -> impl Iterator<Item = i64> {
        let most = ends[1] / divisor.abs();
        let multiples = (0..200).flat_map(move |k| [k, most - k, most / 2 + k, most / 3 * k % (most + 1)]);
        let all = multiples.flat_map(move |k| [-1, 0, 1].map(|off| divisor * k + off));
        all.flat_map(|n| [n, -n]).chain(ends).filter(move |n| (ends[0]..=ends[1]).contains(n))
    }

    fn divisors() -> impl Iterator<Item = i64> {
        (2..3000).chain((1..32).flat_map(|k| [-3, -1, 0, 1, 5].map(|off| (1 << k) + off)))
    }

    #[test]
    fn unsigned_quotients() {
        let ends = [0, u32::MAX.into()];
        for divisor in divisors().filter(|d| *d > 1 && !(*d as u64).is_power_of_two()) {
            let Reciprocal { factor, is_long, shift } = Reciprocal::unsigned(divisor as u32);
            for number in near(divisor, ends) {
                let high = (number as u128 * u128::from(factor)) >> 32;
                let sum = if is_long { high + number as u128 } else { high };
                assert_eq!((sum >> shift) as i64, number / divisor, "{number} / {divisor}");
            }
        }
    }

    #[test]
    fn signed_quotients() {
        let ends = [i32::MIN.into(), i32::MAX.into()];
        let both = divisors().flat_map(|d| [d, -d]).chain([i32::MIN.into(), i32::MAX.into()]);
        for divisor in both.filter(|d| d.abs() > 1 && (ends[0]..=ends[1]).contains(d)) {
            let Reciprocal { factor, is_long, shift } = Reciprocal::signed(divisor as i32);
            for number in near(divisor, ends) {
                let high = ((number * i64::from(factor as i32)) >> 32) as i32;
                let sum = match (is_long, divisor > 0) {
                    (false, _) => high,
                    (true, true) => high.wrapping_add(number as i32),
                    (true, false) => high.wrapping_sub(number as i32),
                };
                let down = sum >> shift;
                assert_eq!(i64::from(down - (down >> 31)), number / divisor, "{number} / {divisor}");
            }
        }
    }
}
