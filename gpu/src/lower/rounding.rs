//! Quotients and square roots that are the nearest numbers, for devices whose own are only close to them.
//!
//! Significands are integers: the device's answer for numbers between 1 and 4 is a guess at the integer result, the remainder says how
//! far it is off. A remainder is much smaller than what it is the difference of, so it needs the lower half of the products alone.
//! Subnormal numbers are taken apart by their bits as well: nothing here depends on whether the device keeps them.

use super::float::highest_bit;
use crate::shader::{BinOp, Code, Format, Ty, UnOp, Val};

/// A guess is first taken to be too great by so many units in the last place, and then raised by steps. Vulkan allows 2.5 units for a
/// quotient, and some five for a root by way of an inverse root and a quotient; above a power of two, units are twice as large.
const TOO_GREAT: u64 = 12;
const STEPS: [u64; 5] = [16, 8, 4, 2, 1];

/// A float taken apart: `significand * 2^(exponent - bias - fraction)`, the significand with its highest bit set. Both are integers of the
/// float's width. What it says of zero, infinities and NaN has no meaning.
struct Parts {
    significand: Val,
    exponent: Val,
}

struct Integers<'c> {
    c: &'c mut Code,
    f: Format,
}

impl Integers<'_> {
    fn k(&mut self, value: u64) -> Val {
        self.c.constant(self.f.bits, value)
    }

    fn bin(&mut self, op: BinOp, a: Val, b: Val) -> Val {
        self.c.bin(op, a, b)
    }

    fn plus(&mut self, op: BinOp, a: Val, value: u64) -> Val {
        let b = self.k(value);
        self.c.bin(op, a, b)
    }

    fn parts(&mut self, float: Val) -> Parts {
        let size = self.c.magnitude(float);
        let width = u64::from(self.f.fraction);
        let exponent = self.plus(BinOp::ShrU, size, width);
        let fraction = self.plus(BinOp::And, size, (1 << width) - 1);
        let hidden = self.plus(BinOp::Or, fraction, 1 << width);
        let some = self.plus(BinOp::Or, fraction, 1);
        let zero = self.k(0);
        let is_subnormal = self.bin(BinOp::Eq, exponent, zero);
        let some = self.c.select(is_subnormal, some, hidden);
        let top =
            if self.f.bits == Ty::B64 { highest_bit(self.c, some) } else { self.c.un(UnOp::HighBit, some) };
        let all = self.k(width);
        let shift = self.bin(BinOp::Sub, all, top);
        let raised = self.bin(BinOp::Shl, fraction, shift);
        let one = self.k(1);
        let lowered = self.bin(BinOp::Sub, one, shift);
        Parts {
            significand: self.c.select(is_subnormal, raised, hidden),
            exponent: self.c.select(is_subnormal, lowered, exponent),
        }
    }

    /// The float with this significand and this exponent before the bias.
    fn float(&mut self, significand: Val, exponent: Val) -> Val {
        let fraction = self.plus(BinOp::And, significand, (1 << self.f.fraction) - 1);
        let biased = self.plus(BinOp::Add, exponent, self.f.bias());
        let high = self.plus(BinOp::Shl, biased, u64::from(self.f.fraction));
        let bits = self.bin(BinOp::Or, fraction, high);
        self.c.un(UnOp::OfBits, bits)
    }

    /// A float from a half to four, times two to the `scale` and to the width of the fraction, as an integer. `scale` is 0 or 1.
    fn whole(&mut self, float: Val, scale: Val) -> Val {
        let Parts { significand, exponent } = self.parts(float);
        let above = self.plus(BinOp::Sub, exponent, self.f.bias());
        let twice = self.plus(BinOp::Add, above, 1);
        let shift = self.bin(BinOp::Add, twice, scale);
        let shift = self.plus(BinOp::And, shift, 3);
        let raised = self.bin(BinOp::Shl, significand, shift);
        self.plus(BinOp::ShrU, raised, 1)
    }

    /// 1 where it is true, else 0.
    fn number(&mut self, truth: Val) -> Val {
        let (one, zero) = (self.k(1), self.k(0));
        self.c.select(truth, one, zero)
    }

    /// A NaN.
    fn nan(&mut self) -> Val {
        self.k(self.f.infinity | 1 << (self.f.fraction - 1))
    }
}

/// `a / b`, where `guess` is the device's way of dividing numbers from 1 to 2.
pub fn quotient(c: &mut Code, a: Val, b: Val, guess: impl FnOnce(&mut Code, Val, Val) -> Val) -> Val {
    let f = Format::of(c.ty(a));
    let width = u64::from(f.fraction);
    let mut i = Integers { c, f };
    let (above, below) = (i.parts(a), i.parts(b));
    let none = i.k(0);
    // The quotient of the significands is taken twice where it is below one.
    let is_less = i.bin(BinOp::Ult, above.significand, below.significand);
    let twice = i.number(is_less);
    let (first, second) = (i.float(above.significand, none), i.float(below.significand, none));
    let guess = guess(i.c, first, second);
    let start = i.whole(guess, twice);
    let mut quotient = i.plus(BinOp::Sub, start, TOO_GREAT);
    let shift = i.plus(BinOp::Add, twice, width);
    let wanted = i.bin(BinOp::Shl, above.significand, shift);
    let had = i.bin(BinOp::Mul, quotient, below.significand);
    let mut rest = i.bin(BinOp::Sub, wanted, had);
    for step in STEPS {
        let part = i.plus(BinOp::Mul, below.significand, step);
        let fits = i.bin(BinOp::Ule, part, rest);
        let (less, more) = (i.bin(BinOp::Sub, rest, part), i.plus(BinOp::Add, quotient, step));
        rest = i.c.select(fits, less, rest);
        quotient = i.c.select(fits, more, quotient);
    }
    let exponent = i.bin(BinOp::Sub, above.exponent, below.exponent);
    let exponent = i.plus(BinOp::Add, exponent, f.bias());
    let exponent = i.bin(BinOp::Sub, exponent, twice);

    // Usual numbers. Rounding up may carry into the exponent, up to infinity: the bits are right.
    let doubled = i.plus(BinOp::Shl, rest, 1);
    let is_more = i.bin(BinOp::Ult, below.significand, doubled);
    let up = i.number(is_more);
    let high = i.plus(BinOp::Shl, exponent, width);
    let low = i.plus(BinOp::Sub, quotient, 1 << width);
    let usual = i.bin(BinOp::Add, high, low);
    let usual = i.bin(BinOp::Add, usual, up);
    // Subnormal ones: fewer digits, so the tie between two of them exists.
    let is_subnormal = i.bin(BinOp::Sle, exponent, none);
    let one = i.k(1);
    let lost = i.bin(BinOp::Sub, one, exponent);
    let lost = i.c.select(is_subnormal, lost, one);
    let most = i.k(width + 2);
    let is_far = i.bin(BinOp::Ult, most, lost);
    let lost = i.c.select(is_far, most, lost);
    let kept = i.bin(BinOp::ShrU, quotient, lost);
    let unit = i.bin(BinOp::Shl, one, lost);
    let mask = i.bin(BinOp::Sub, unit, one);
    let dropped = i.bin(BinOp::And, quotient, mask);
    let half = i.plus(BinOp::ShrU, unit, 1);
    let is_above = i.bin(BinOp::Ult, half, dropped);
    let is_half = i.bin(BinOp::Eq, half, dropped);
    let has_rest = i.bin(BinOp::Ne, rest, none);
    let low = i.plus(BinOp::And, kept, 1);
    let is_odd = i.bin(BinOp::Ne, low, none);
    let is_up = i.bin(BinOp::LOr, has_rest, is_odd);
    let is_up = i.bin(BinOp::LAnd, is_half, is_up);
    let is_up = i.bin(BinOp::LOr, is_above, is_up);
    let up = i.number(is_up);
    let subnormal = i.bin(BinOp::Add, kept, up);

    let infinity = i.k(f.infinity);
    let greatest = i.k((f.infinity >> width) - 1);
    let is_over = i.bin(BinOp::Slt, greatest, exponent);
    let size = i.c.select(is_over, infinity, usual);
    let size = i.c.select(is_subnormal, subnormal, size);
    // Zeros, infinities and NaNs.
    let (a_size, b_size) = (i.c.magnitude(a), i.c.magnitude(b));
    let is = |i: &mut Integers<'_>, size, what| i.bin(BinOp::Eq, size, what);
    let (a_none, b_none) = (is(&mut i, a_size, none), is(&mut i, b_size, none));
    let (a_all, b_all) = (is(&mut i, a_size, infinity), is(&mut i, b_size, infinity));
    let is_zero = i.bin(BinOp::LOr, a_none, b_all);
    let is_infinite = i.bin(BinOp::LOr, a_all, b_none);
    let size = i.c.select(is_zero, none, size);
    let size = i.c.select(is_infinite, infinity, size);
    let both = i.bin(BinOp::LAnd, is_zero, is_infinite);
    let (a_nan, b_nan) = (i.bin(BinOp::Ult, infinity, a_size), i.bin(BinOp::Ult, infinity, b_size));
    let undefined = i.bin(BinOp::LOr, a_nan, b_nan);
    let undefined = i.bin(BinOp::LOr, undefined, both);
    let nan = i.nan();
    let size = i.c.select(undefined, nan, size);
    let (a_bits, b_bits) = (i.c.un(UnOp::BitsOf, a), i.c.un(UnOp::BitsOf, b));
    let signs = i.bin(BinOp::Xor, a_bits, b_bits);
    let sign = i.plus(BinOp::And, signs, f.sign);
    let bits = i.bin(BinOp::Or, size, sign);
    i.c.un(UnOp::OfBits, bits)
}

/// The square root of `a`, where `guess` is the device's way of taking roots of numbers from 1 to 4.
pub fn root(c: &mut Code, a: Val, guess: impl FnOnce(&mut Code, Val) -> Val) -> Val {
    let f = Format::of(c.ty(a));
    let width = u64::from(f.fraction);
    let mut i = Integers { c, f };
    let parts = i.parts(a);
    let none = i.k(0);
    // An even exponent is left; the significand makes up for it.
    let above = i.plus(BinOp::Sub, parts.exponent, f.bias());
    let odd = i.plus(BinOp::And, above, 1);
    let even = i.bin(BinOp::Sub, above, odd);
    let halved = i.plus(BinOp::ShrS, even, 1);
    let exponent = i.plus(BinOp::Add, halved, f.bias());
    let start = i.float(parts.significand, odd);
    let guess = guess(i.c, start);
    let start = i.whole(guess, none);
    let mut root = i.plus(BinOp::Sub, start, TOO_GREAT);
    let shift = i.plus(BinOp::Add, odd, width);
    let wanted = i.bin(BinOp::Shl, parts.significand, shift);
    let had = i.bin(BinOp::Mul, root, root);
    let mut rest = i.bin(BinOp::Sub, wanted, had);
    for step in STEPS {
        let doubled = i.plus(BinOp::Shl, root, 1);
        let sum = i.plus(BinOp::Add, doubled, step);
        let part = i.plus(BinOp::Mul, sum, step);
        let fits = i.bin(BinOp::Ule, part, rest);
        let (less, more) = (i.bin(BinOp::Sub, rest, part), i.plus(BinOp::Add, root, step));
        rest = i.c.select(fits, less, rest);
        root = i.c.select(fits, more, root);
    }
    let is_up = i.bin(BinOp::Ult, root, rest);
    let up = i.number(is_up);
    let high = i.plus(BinOp::Shl, exponent, width);
    let low = i.plus(BinOp::Sub, root, 1 << width);
    let bits = i.bin(BinOp::Add, high, low);
    let bits = i.bin(BinOp::Add, bits, up);
    // Zeros and positive infinity are their own roots; of NaN and whatever is below zero there is none.
    let own = i.c.un(UnOp::BitsOf, a);
    let infinity = i.k(f.infinity);
    let size = i.c.magnitude(a);
    let is_none = i.bin(BinOp::Eq, size, none);
    let is_infinite = i.bin(BinOp::Eq, own, infinity);
    let is_own = i.bin(BinOp::LOr, is_none, is_infinite);
    let is_undefined = i.bin(BinOp::Ult, infinity, own);
    let nan = i.nan();
    let bits = i.c.select(is_undefined, nan, bits);
    let bits = i.c.select(is_own, own, bits);
    i.c.un(UnOp::OfBits, bits)
}
