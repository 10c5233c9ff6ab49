//! Library functions in shaders: exponentials, logarithms, circular and hyperbolic functions.
//!
//! The device's own are far too coarse for singles and absent for doubles, so these are ours. All compute in
//! doubles, whatever the type: a single or half rounds at the end and is then right to within a unit in the last
//! place; doubles are right to within a few. Arguments of circular functions beyond [`FAR`] trap: their reduction
//! needs more digits of pi, and the interpreter, which runs the launch again, has them.

use super::float::{copy_sign, is_nan};
use super::scalar::{Trap, reg};
use crate::shader::{BinOp, Code, Ty, UnOp, Val};
use galopvm_base::{ElemType, ScalarOp};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, LN_2, LOG2_E, PI};

/// Beyond this, the multiple of pi/2 no longer multiplies exactly with the parts of pi/2 below.
const FAR: f64 = 1_000_000.0;

/// pi/2 in parts of 33 bits: multiples below 2^20 of the first two are exact.
const HALF_PI: [f64; 3] = [1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21];

/// ln 2, and log10 2, in parts: multiples of the first by an exponent are exact.
const LN2: [f64; 2] = [0.6931471805598903, 5.497923018708371e-14];
const LOG10_2: [f64; 2] = [0.30102999566395283, 2.8363394551044964e-14];

/// A library function of one operand, if there is one.
pub fn unary(c: &mut Code, op: ScalarOp, ty: ElemType, a: Val, trap: Trap) -> Option<Val> {
    let function: fn(&mut Math<'_>, Val) -> Val = match op {
        ScalarOp::Exp => |m, x| m.exp(x),
        ScalarOp::Log => |m, x| m.log(x),
        ScalarOp::Log2 => |m, x| m.log2(x),
        ScalarOp::Log10 => |m, x| m.log10(x),
        ScalarOp::Log1p => |m, x| m.log1p(x),
        ScalarOp::Sin => |m, x| m.circular(x, Circular::Sin),
        ScalarOp::Cos => |m, x| m.circular(x, Circular::Cos),
        ScalarOp::Tan => |m, x| m.circular(x, Circular::Tan),
        ScalarOp::Asin => |m, x| m.asin(x),
        ScalarOp::Acos => |m, x| m.acos(x),
        ScalarOp::Atan => |m, x| m.atan(x),
        ScalarOp::Sinh => |m, x| m.sinh(x),
        ScalarOp::Cosh => |m, x| m.cosh(x),
        ScalarOp::Tanh => |m, x| m.tanh(x),
        ScalarOp::Asinh => |m, x| m.asinh(x),
        ScalarOp::Acosh => |m, x| m.acosh(x),
        ScalarOp::Atanh => |m, x| m.atanh(x),
        ScalarOp::Cbrt => |m, x| m.cbrt(x),
        _ => return None,
    };
    let x = widen(c, a);
    let y = function(&mut Math { c, trap }, x);
    Some(narrow(c, ty, y))
}

/// A library function of two operands, if there is one.
pub fn binary(c: &mut Code, op: ScalarOp, ty: ElemType, a: Val, b: Val, trap: Trap) -> Option<Val> {
    let function: fn(&mut Math<'_>, Val, Val) -> Val = match op {
        // The logarithm would need more digits than a double has.
        ScalarOp::Pow if ty == ElemType::F64 => return None,
        ScalarOp::Pow => |m, x, y| m.pow(x, y),
        ScalarOp::Atan2 => |m, y, x| m.atan2(y, x),
        ScalarOp::Hypot => |m, x, y| m.hypot(x, y),
        _ => return None,
    };
    let (x, y) = (widen(c, a), widen(c, b));
    let z = function(&mut Math { c, trap }, x, y);
    Some(narrow(c, ty, z))
}

fn widen(c: &mut Code, a: Val) -> Val {
    if c.ty(a) == Ty::F64 { a } else { c.un(UnOp::Float(Ty::F64), a) }
}

fn narrow(c: &mut Code, ty: ElemType, a: Val) -> Val {
    if reg(ty) == Ty::F64 { a } else { c.un(UnOp::Float(reg(ty)), a) }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Circular {
    Sin,
    Cos,
    Tan,
}

struct Math<'c> {
    c: &'c mut Code,
    trap: Trap,
}

impl Math<'_> {
    fn k(&mut self, value: f64) -> Val {
        self.c.f64(value)
    }

    fn add(&mut self, a: Val, b: Val) -> Val {
        self.c.bin(BinOp::FAdd, a, b)
    }

    fn sub(&mut self, a: Val, b: Val) -> Val {
        self.c.bin(BinOp::FSub, a, b)
    }

    fn mul(&mut self, a: Val, b: Val) -> Val {
        self.c.bin(BinOp::FMul, a, b)
    }

    fn div(&mut self, a: Val, b: Val) -> Val {
        self.c.bin(BinOp::FDiv, a, b)
    }

    fn less(&mut self, a: Val, b: Val) -> Val {
        self.c.bin(BinOp::FLt, a, b)
    }

    fn abs(&mut self, a: Val) -> Val {
        self.c.un(UnOp::FAbs, a)
    }

    fn sqrt(&mut self, a: Val) -> Val {
        self.c.un(UnOp::Sqrt, a)
    }

    fn bits(&mut self, value: u64) -> Val {
        self.c.constant(Ty::B64, value)
    }

    /// `c0 + z * (c1 + z * (c2 + ..))`
    fn polynomial(&mut self, z: Val, coefficients: &[f64]) -> Val {
        let mut sum = self.k(coefficients.last().copied().unwrap_or(0.0));
        for c in coefficients.iter().rev().skip(1) {
            let (product, c) = (self.mul(sum, z), self.k(*c));
            sum = self.add(c, product);
        }
        sum
    }

    /// `value` where it is a number, the NaN `x` where it is not.
    fn unless_nan(&mut self, x: Val, value: Val) -> Val {
        let nan = is_nan(self.c, x);
        self.c.select(nan, x, value)
    }

    /// `x * 2^e` for an integer `e` (a float), in two steps so that neither factor leaves the range.
    fn scale(&mut self, x: Val, e: Val) -> Val {
        let half = self.k(0.5);
        let first = self.mul(e, half);
        let first = self.c.un(UnOp::Floor, first);
        let second = self.sub(e, first);
        let (first, second) = (self.power_of_two(first), self.power_of_two(second));
        let x = self.mul(x, first);
        self.mul(x, second)
    }

    fn power_of_two(&mut self, e: Val) -> Val {
        let e = self.c.un(UnOp::ToSigned(Ty::B64), e);
        let (bias, place) = (self.bits(1023), self.bits(52));
        let e = self.c.bin(BinOp::Add, e, bias);
        let bits = self.c.bin(BinOp::Shl, e, place);
        self.c.un(UnOp::OfBits, bits)
    }

    fn exp(&mut self, x: Val) -> Val {
        // Held to where the result is 0 or infinite anyway; NaN is held to the lower end and comes back below.
        let (low, high) = (self.k(-760.0), self.k(720.0));
        let inside = self.less(low, x);
        let y = self.c.select(inside, x, low);
        let over = self.less(high, y);
        let y = self.c.select(over, high, y);
        let per = self.k(LOG2_E);
        let k = self.mul(y, per);
        let k = self.c.un(UnOp::RoundEven, k);
        let (hi, lo) = (self.k(LN2[0]), self.k(LN2[1]));
        let (hi, lo) = (self.mul(k, hi), self.mul(k, lo));
        let r = self.sub(y, hi);
        let r = self.sub(r, lo);
        // 1 + (r + r^2/2! + r^3/3! + ..), |r| <= ln 2 / 2
        let mut factorial = 1.0;
        let coefficients: Vec<f64> = (2..=14)
            .map(|n| {
                factorial *= f64::from(n);
                1.0 / factorial
            })
            .collect();
        let tail = self.polynomial(r, &coefficients);
        let square = self.mul(r, r);
        let tail = self.mul(square, tail);
        let tail = self.add(r, tail);
        let one = self.k(1.0);
        let value = self.add(one, tail);
        let value = self.scale(value, k);
        self.unless_nan(x, value)
    }

    /// Exponent and logarithm of the significand, which lies around 1.
    fn split_log(&mut self, x: Val) -> (Val, Val) {
        let (least, up) = (self.k(f64::MIN_POSITIVE), self.k(2f64.powi(54)));
        let tiny = self.less(x, least);
        let scaled = self.mul(x, up);
        let y = self.c.select(tiny, scaled, x);
        let bits = self.c.un(UnOp::BitsOf, y);
        // The exponent for significands from sqrt(1/2) to sqrt(2): add what makes a larger one carry.
        let (root, place) = (self.bits(2f64.sqrt().to_bits() & ((1 << 52) - 1)), self.bits(52));
        let carry = self.bits((1 << 52) - (2f64.sqrt().to_bits() & ((1 << 52) - 1)));
        let moved = self.c.bin(BinOp::Add, bits, carry);
        let exponent = self.c.bin(BinOp::ShrU, moved, place);
        let mask = self.bits((1 << 52) - 1);
        let fraction = self.c.bin(BinOp::And, moved, mask);
        // Back to the significand, with the exponent of 1/2 or 1.
        let base = self.bits(1022 << 52);
        let significand = self.c.bin(BinOp::Add, fraction, base);
        let significand = self.c.bin(BinOp::Add, significand, root);
        let m = self.c.un(UnOp::OfBits, significand);
        let (bias, offset) = (self.bits(1023), self.bits(54));
        let exponent = self.c.bin(BinOp::Sub, exponent, bias);
        let lower = self.c.bin(BinOp::Sub, exponent, offset);
        let exponent = self.c.select(tiny, lower, exponent);
        let e = self.c.un(UnOp::FromSigned(Ty::F64), exponent);
        // log m = 2 atanh s = 2 s + 2 s z (1/3 + z/5 + ..), s = (m - 1) / (m + 1), z = s^2 <= 0.0295
        let (one, two) = (self.k(1.0), self.k(2.0));
        let (above, below) = (self.sub(m, one), self.add(m, one));
        let s = self.div(above, below);
        let z = self.mul(s, s);
        let coefficients: Vec<f64> = (1..=11).map(|n| 1.0 / f64::from(2 * n + 1)).collect();
        let tail = self.polynomial(z, &coefficients);
        let tail = self.mul(z, tail);
        // 2 s = f - s f with f = m - 1, whose error does not grow: log m = f - s (f - 2 z tail')
        let twice = self.mul(two, tail);
        let inner = self.sub(above, twice);
        let product = self.mul(s, inner);
        (e, self.sub(above, product))
    }

    /// Logarithms of what is not positive and finite.
    fn log_edges(&mut self, x: Val, value: Val) -> Val {
        let (zero, infinity) = (self.k(0.0), self.k(f64::INFINITY));
        let (nothing, nan) = (self.k(f64::NEG_INFINITY), self.k(f64::NAN));
        let none = self.c.bin(BinOp::FEq, x, zero);
        let value = self.c.select(none, nothing, value);
        let negative = self.less(x, zero);
        let value = self.c.select(negative, nan, value);
        let all = self.c.bin(BinOp::FEq, x, infinity);
        let value = self.c.select(all, infinity, value);
        self.unless_nan(x, value)
    }

    fn log(&mut self, x: Val) -> Val {
        let (e, log) = self.split_log(x);
        let (hi, lo) = (self.k(LN2[0]), self.k(LN2[1]));
        let (hi, lo) = (self.mul(e, hi), self.mul(e, lo));
        let rest = self.add(log, lo);
        let value = self.add(hi, rest);
        self.log_edges(x, value)
    }

    fn log2(&mut self, x: Val) -> Val {
        let (e, log) = self.split_log(x);
        let per = self.k(LOG2_E);
        let rest = self.mul(log, per);
        let value = self.add(e, rest);
        self.log_edges(x, value)
    }

    fn log10(&mut self, x: Val) -> Val {
        let (e, log) = self.split_log(x);
        let (hi, lo, per) = (self.k(LOG10_2[0]), self.k(LOG10_2[1]), self.k(std::f64::consts::LOG10_E));
        let (hi, lo, rest) = (self.mul(e, hi), self.mul(e, lo), self.mul(log, per));
        let rest = self.add(rest, lo);
        let value = self.add(hi, rest);
        self.log_edges(x, value)
    }

    fn log1p(&mut self, x: Val) -> Val {
        // What 1 + x lost in rounding is put back by the quotient.
        let one = self.k(1.0);
        let u = self.add(one, x);
        let kept = self.sub(u, one);
        let log = self.log(u);
        let ratio = self.div(x, kept);
        let value = self.mul(log, ratio);
        let same = self.c.bin(BinOp::FEq, u, one);
        let value = self.c.select(same, x, value);
        let infinity = self.k(f64::INFINITY);
        let all = self.c.bin(BinOp::FEq, x, infinity);
        self.c.select(all, infinity, value)
    }

    fn circular(&mut self, x: Val, which: Circular) -> Val {
        let (far, size) = (self.k(FAR), self.abs(x));
        let beyond = self.less(far, size);
        let infinity = self.k(f64::INFINITY);
        let infinite = self.c.bin(BinOp::FEq, size, infinity);
        let finite = self.c.un(UnOp::Not, infinite);
        let outside = self.c.bin(BinOp::LAnd, beyond, finite);
        self.trap.when(self.c, outside);
        let near = self.c.bin(BinOp::FLe, size, far);
        let zero = self.k(0.0);
        let y = self.c.select(near, x, zero);
        // y = k pi/2 + r, with what each subtraction lost.
        let per = self.k(1.0 / FRAC_PI_2);
        let k = self.mul(y, per);
        let k = self.c.un(UnOp::RoundEven, k);
        let [p0, p1, p2] = HALF_PI.map(|part| {
            let part = self.k(part);
            self.mul(k, part)
        });
        let a = self.sub(y, p0);
        let r = self.sub(a, p1);
        let back = self.sub(a, r);
        let lost = self.sub(back, p1);
        let low = self.sub(lost, p2);
        let r = self.add(r, low);
        let z = self.mul(r, r);
        let series = |first: u32, count: u32| -> Vec<f64> {
            (0..count)
                .map(|n| {
                    let factorial: f64 = (1..=first + 2 * n).map(f64::from).product();
                    if n % 2 == 0 { 1.0 / factorial } else { -1.0 / factorial }
                })
                .collect()
        };
        // sin r = r - z r (1/3! - z/5! + ..); cos r = 1 - z/2 + z^2 (1/4! - z/6! + ..)
        let tail = self.polynomial(z, &series(3, 9));
        let cubic = self.mul(z, r);
        let tail = self.mul(cubic, tail);
        let sine = self.sub(r, tail);
        let tail = self.polynomial(z, &series(4, 9));
        let square = self.mul(z, z);
        let tail = self.mul(square, tail);
        let (half, one) = (self.k(0.5), self.k(1.0));
        let first = self.mul(half, z);
        let w = self.sub(one, first);
        let lost = self.sub(one, w);
        let lost = self.sub(lost, first);
        let tail = self.add(lost, tail);
        let cosine = self.add(w, tail);
        // The quadrant.
        let n = self.c.un(UnOp::ToSigned(Ty::B32), k);
        let [none, first, second] = [0, 1, 2].map(|v| self.c.constant(Ty::B32, v));
        let odd = self.c.bin(BinOp::And, n, first);
        let odd = self.c.bin(BinOp::Ne, odd, none);
        let turned = |m: &mut Self, plain: Val, other: Val, n: Val| {
            let value = m.c.select(odd, other, plain);
            let half = m.c.bin(BinOp::And, n, second);
            let negative = m.c.bin(BinOp::Ne, half, none);
            let negated = m.c.un(UnOp::FNeg, value);
            m.c.select(negative, negated, value)
        };
        let next = self.c.bin(BinOp::Add, n, first);
        let value = match which {
            Circular::Sin => turned(self, sine, cosine, n),
            Circular::Cos => turned(self, cosine, sine, next),
            Circular::Tan => {
                let sine_here = turned(self, sine, cosine, n);
                let cosine_here = turned(self, cosine, sine, next);
                self.div(sine_here, cosine_here)
            }
        };
        // -0 stays -0.
        let value = if which == Circular::Cos {
            value
        } else {
            let nothing = self.c.bin(BinOp::FEq, x, zero);
            self.c.select(nothing, x, value)
        };
        let nan = self.k(f64::NAN);
        let value = self.c.select(infinite, nan, value);
        self.unless_nan(x, value)
    }

    /// The arc tangent of a number from 0 to 1.
    fn atan_unit(&mut self, t: Val) -> Val {
        let (limit, one) = (self.k(0.414213562373095), self.k(1.0));
        let upper = self.less(limit, t);
        let (above, below) = (self.sub(t, one), self.add(t, one));
        let moved = self.div(above, below);
        let u = self.c.select(upper, moved, t);
        let z = self.mul(u, u);
        let coefficients: Vec<f64> =
            (1..=22).map(|n: i32| if n % 2 == 0 { 1.0 } else { -1.0 } / f64::from(2 * n + 1)).collect();
        let tail = self.polynomial(z, &coefficients);
        let cubic = self.mul(z, u);
        let tail = self.mul(cubic, tail);
        let low = self.add(u, tail);
        let quarter = self.k(FRAC_PI_4);
        let high = self.add(quarter, low);
        self.c.select(upper, high, low)
    }

    fn atan(&mut self, x: Val) -> Val {
        let (size, one) = (self.abs(x), self.k(1.0));
        let steep = self.less(one, size);
        let inverse = self.div(one, size);
        let t = self.c.select(steep, inverse, size);
        let angle = self.atan_unit(t);
        let right = self.k(FRAC_PI_2);
        let rest = self.sub(right, angle);
        let angle = self.c.select(steep, rest, angle);
        let value = copy_sign(self.c, angle, x);
        self.unless_nan(x, value)
    }

    fn atan2(&mut self, y: Val, x: Val) -> Val {
        let (ax, ay) = (self.abs(x), self.abs(y));
        let steep = self.less(ax, ay);
        let (small, large) = (self.c.select(steep, ax, ay), self.c.select(steep, ay, ax));
        let t = self.div(small, large);
        let (zero, one) = (self.k(0.0), self.k(1.0));
        let nothing = self.c.bin(BinOp::FEq, large, zero);
        let t = self.c.select(nothing, zero, t);
        let infinity = self.k(f64::INFINITY);
        let both = self.c.bin(BinOp::FEq, small, infinity);
        let t = self.c.select(both, one, t);
        let angle = self.atan_unit(t);
        let right = self.k(FRAC_PI_2);
        let rest = self.sub(right, angle);
        let angle = self.c.select(steep, rest, angle);
        let (half, none) = (self.k(PI), self.bits(0));
        let bits = self.c.un(UnOp::BitsOf, x);
        let left = self.c.bin(BinOp::Slt, bits, none);
        let rest = self.sub(half, angle);
        let angle = self.c.select(left, rest, angle);
        let value = copy_sign(self.c, angle, y);
        let value = self.unless_nan(x, value);
        self.unless_nan(y, value)
    }

    fn asin(&mut self, x: Val) -> Val {
        let one = self.k(1.0);
        let (below, above) = (self.sub(one, x), self.add(one, x));
        let product = self.mul(below, above);
        let root = self.sqrt(product);
        let ratio = self.div(x, root);
        self.atan(ratio)
    }

    fn acos(&mut self, x: Val) -> Val {
        let (one, two) = (self.k(1.0), self.k(2.0));
        let (below, above) = (self.sub(one, x), self.add(one, x));
        let ratio = self.div(below, above);
        let root = self.sqrt(ratio);
        let half = self.atan(root);
        self.mul(two, half)
    }

    /// The hyperbolic sine of a small number, by its series.
    fn sinh_small(&mut self, x: Val) -> Val {
        let z = self.mul(x, x);
        let coefficients: Vec<f64> =
            (1..=9u32).map(|n| 1.0 / (1..=2 * n + 1).map(f64::from).product::<f64>()).collect();
        let tail = self.polynomial(z, &coefficients);
        let cubic = self.mul(z, x);
        let tail = self.mul(cubic, tail);
        self.add(x, tail)
    }

    /// Half of `e^x` with `e^(-x)` added or subtracted, without overflow on the way.
    fn exponentials(&mut self, size: Val, plus: bool) -> Val {
        let half = self.k(0.5);
        let middle = self.mul(half, size);
        let root = self.exp(middle);
        let first = self.mul(half, root);
        let first = self.mul(first, root);
        let second = self.div(half, root);
        let second = self.div(second, root);
        if plus { self.add(first, second) } else { self.sub(first, second) }
    }

    fn sinh(&mut self, x: Val) -> Val {
        let (size, one) = (self.abs(x), self.k(1.0));
        let (near, far) = (self.sinh_small(x), self.exponentials(size, false));
        let far = copy_sign(self.c, far, x);
        let small = self.less(size, one);
        let value = self.c.select(small, near, far);
        self.unless_nan(x, value)
    }

    fn cosh(&mut self, x: Val) -> Val {
        let size = self.abs(x);
        let value = self.exponentials(size, true);
        self.unless_nan(x, value)
    }

    fn tanh(&mut self, x: Val) -> Val {
        let (size, one, two) = (self.abs(x), self.k(1.0), self.k(2.0));
        let (s, c) = (self.sinh_small(x), self.exponentials(size, true));
        let near = self.div(s, c);
        let twice = self.mul(two, size);
        let power = self.exp(twice);
        let below = self.add(power, one);
        let part = self.div(two, below);
        let far = self.sub(one, part);
        let far = copy_sign(self.c, far, x);
        let small = self.less(size, one);
        let value = self.c.select(small, near, far);
        self.unless_nan(x, value)
    }

    /// `log(2 x)`, where `x` is so large that 1 beside its square does not count.
    fn log_twice(&mut self, x: Val) -> Val {
        let (log, two) = (self.log(x), self.k(LN_2));
        self.add(log, two)
    }

    fn asinh(&mut self, x: Val) -> Val {
        let (size, one) = (self.abs(x), self.k(1.0));
        let square = self.mul(size, size);
        let root = self.add(one, square);
        let root = self.sqrt(root);
        let below = self.add(one, root);
        let part = self.div(square, below);
        let sum = self.add(size, part);
        let near = self.log1p(sum);
        let far = self.log_twice(size);
        let limit = self.k(1e10);
        let large = self.less(limit, size);
        let value = self.c.select(large, far, near);
        let value = copy_sign(self.c, value, x);
        self.unless_nan(x, value)
    }

    fn acosh(&mut self, x: Val) -> Val {
        let (one, two) = (self.k(1.0), self.k(2.0));
        let t = self.sub(x, one);
        let (double, square) = (self.mul(two, t), self.mul(t, t));
        let root = self.add(double, square);
        let root = self.sqrt(root);
        let sum = self.add(t, root);
        let near = self.log1p(sum);
        let far = self.log_twice(x);
        let limit = self.k(1e10);
        let large = self.less(limit, x);
        let value = self.c.select(large, far, near);
        let (nan, outside) = (self.k(f64::NAN), self.less(x, one));
        let value = self.c.select(outside, nan, value);
        self.unless_nan(x, value)
    }

    fn atanh(&mut self, x: Val) -> Val {
        let (size, one, two, half) = (self.abs(x), self.k(1.0), self.k(2.0), self.k(0.5));
        let (twice, below) = (self.mul(two, size), self.sub(one, size));
        let ratio = self.div(twice, below);
        let log = self.log1p(ratio);
        let value = self.mul(half, log);
        let value = copy_sign(self.c, value, x);
        self.unless_nan(x, value)
    }

    fn cbrt(&mut self, x: Val) -> Val {
        let (size, third) = (self.abs(x), self.k(1.0 / 3.0));
        let log = self.log(size);
        let part = self.mul(log, third);
        let guess = self.exp(part);
        // One step of Newton's method: y - (y - x / y^2) / 3
        let square = self.mul(guess, guess);
        let quotient = self.div(size, square);
        let error = self.sub(guess, quotient);
        let error = self.mul(error, third);
        let better = self.sub(guess, error);
        let value = copy_sign(self.c, better, x);
        // Zeros and infinities are their own cube roots.
        let (zero, infinity) = (self.k(0.0), self.k(f64::INFINITY));
        let none = self.c.bin(BinOp::FEq, x, zero);
        let all = self.c.bin(BinOp::FEq, size, infinity);
        let edge = self.c.bin(BinOp::LOr, none, all);
        let value = self.c.select(edge, x, value);
        self.unless_nan(x, value)
    }

    fn hypot(&mut self, x: Val, y: Val) -> Val {
        let (ax, ay) = (self.abs(x), self.abs(y));
        let other = self.less(ax, ay);
        let (small, large) = (self.c.select(other, ax, ay), self.c.select(other, ay, ax));
        let ratio = self.div(small, large);
        let (zero, one, infinity) = (self.k(0.0), self.k(1.0), self.k(f64::INFINITY));
        let nothing = self.c.bin(BinOp::FEq, large, zero);
        let ratio = self.c.select(nothing, zero, ratio);
        let square = self.mul(ratio, ratio);
        let sum = self.add(one, square);
        let root = self.sqrt(sum);
        let value = self.mul(large, root);
        let value = self.unless_nan(x, value);
        let value = self.unless_nan(y, value);
        let (all, both) = (self.c.bin(BinOp::FEq, ax, infinity), self.c.bin(BinOp::FEq, ay, infinity));
        let edge = self.c.bin(BinOp::LOr, all, both);
        self.c.select(edge, infinity, value)
    }

    fn pow(&mut self, x: Val, y: Val) -> Val {
        let (zero, one, half, two) = (self.k(0.0), self.k(1.0), self.k(0.5), self.k(2.0));
        let (ax, ay, infinity) = (self.abs(x), self.abs(y), self.k(f64::INFINITY));
        let log = self.log(ax);
        let product = self.mul(y, log);
        let value = self.exp(product);
        // An odd exponent keeps the sign of the base.
        let whole = self.c.un(UnOp::Floor, y);
        let is_whole = self.c.bin(BinOp::FEq, whole, y);
        let halves = self.mul(whole, half);
        let halves = self.c.un(UnOp::Floor, halves);
        let even = self.mul(halves, two);
        let is_even = self.c.bin(BinOp::FEq, even, whole);
        let not_even = self.c.un(UnOp::Not, is_even);
        let odd = self.c.bin(BinOp::LAnd, is_whole, not_even);
        let signed = copy_sign(self.c, value, x);
        let value = self.c.select(odd, signed, value);
        // A negative base has no other powers.
        let negative = self.less(x, zero);
        let (x_finite, y_finite) = (self.less(ax, infinity), self.less(ay, infinity));
        let broken = self.c.un(UnOp::Not, is_whole);
        let invalid = self.c.bin(BinOp::LAnd, negative, x_finite);
        let invalid = self.c.bin(BinOp::LAnd, invalid, broken);
        let invalid = self.c.bin(BinOp::LAnd, invalid, y_finite);
        let nan = self.k(f64::NAN);
        let value = self.c.select(invalid, nan, value);
        let value = self.unless_nan(x, value);
        let value = self.unless_nan(y, value);
        // 1 to any power, any number to the power 0, and -1 to an infinite one.
        let is_one = self.c.bin(BinOp::FEq, x, one);
        let no_power = self.c.bin(BinOp::FEq, y, zero);
        let unit = self.c.bin(BinOp::FEq, ax, one);
        let endless = self.c.bin(BinOp::FEq, ay, infinity);
        let endless = self.c.bin(BinOp::LAnd, unit, endless);
        let trivial = self.c.bin(BinOp::LOr, is_one, no_power);
        let trivial = self.c.bin(BinOp::LOr, trivial, endless);
        self.c.select(trivial, one, value)
    }
}
