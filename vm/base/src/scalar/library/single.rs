//! Library functions on `f32`: computed in `f64` with at least 36 right digits, so that rounding gives the nearest number but
//! for few arguments (the error is below 0.501 units in the last place).

use super::super::table::ScalarOp;
use super::{
    LARGEST_ANGLE, QUARTER_1, QUARTER_2, SHIFT, exponent_and_fraction, negated_by, polynomial, power_of_two,
};
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, FRAC_PI_4, LN_2, LOG2_E, LOG10_2, LOG10_E, PI};

/// A function of one number, if it is one of these: the value, and whether that is it.
#[inline(always)]
pub(in super::super) fn quick1(op: ScalarOp, x: f32) -> Option<(f32, bool)> {
    let wide = f64::from(x);
    let (value, known) = match op {
        ScalarOp::Exp => (exp(wide), true),
        ScalarOp::Log => (log(wide), true),
        ScalarOp::Log2 => (log2(wide), true),
        ScalarOp::Log10 => (log10(wide), true),
        ScalarOp::Log1p => (log1p(wide), true),
        ScalarOp::Sin => (sin(wide), wide.abs() <= LARGEST_ANGLE),
        ScalarOp::Cos => (cos(wide), wide.abs() <= LARGEST_ANGLE),
        ScalarOp::Tan => (tan(wide), wide.abs() <= LARGEST_ANGLE),
        ScalarOp::Asin => (asin(wide), true),
        ScalarOp::Acos => (acos(wide), true),
        ScalarOp::Atan => (atan(wide), true),
        ScalarOp::Sinh => (sinh(wide), true),
        ScalarOp::Cosh => (cosh(wide), true),
        ScalarOp::Tanh => (tanh(wide), true),
        ScalarOp::Asinh => (asinh(wide), true),
        ScalarOp::Acosh => (acosh(wide), true),
        ScalarOp::Atanh => (atanh(wide), true),
        ScalarOp::Cbrt => (cbrt(wide), true),
        ScalarOp::Gamma => (libm::tgamma(wide), true),
        ScalarOp::Lgamma => (libm::lgamma(wide), true),
        ScalarOp::Erf => (libm::erf(wide), true),
        ScalarOp::Erfc => (libm::erfc(wide), true),
        _ => return None,
    };
    Some((value as f32, known))
}

/// A function of two numbers, if it is one of these: the value, and whether that is it.
#[inline(always)]
pub(in super::super) fn quick2(op: ScalarOp, a: f32, b: f32) -> Option<(f32, bool)> {
    let (wide, other) = (f64::from(a), f64::from(b));
    let (value, known) = match op {
        // A power of 0 or infinity is a matter of cases.
        ScalarOp::Pow => (
            pow(wide, other),
            (wide.abs() > 0.0) & (wide.abs() < f64::INFINITY) & (other.abs() < f64::INFINITY),
        ),
        ScalarOp::Atan2 => (
            atan2(wide, other),
            (wide.abs() + other.abs() > 0.0) & (wide.abs() + other.abs() < f64::INFINITY),
        ),
        ScalarOp::Hypot => (hypot(wide, other), true),
        _ => return None,
    };
    Some((value as f32, known))
}

/// 2^n, and e^r - 1, where x = n ln 2 + r. Below 2^-37.
#[inline(always)]
fn parts_of_exp(x: f64) -> (f64, f64) {
    let shifted = x * LOG2_E + SHIFT;
    let r = x - (shifted - SHIFT) * LN_2;
    let tail = polynomial(
        r,
        [
            0.500000000010496,
            0.16666666753924056,
            0.041666665954651814,
            0.008333289124894713,
            0.001388898511184966,
            0.00019904858284348857,
            2.4796389682926367e-05,
        ],
    );
    (power_of_two(shifted), r + r * r * tail)
}

/// A number not above a bound; NaN stays.
#[inline(always)]
fn at_most(x: f64, bound: f64) -> f64 {
    if x > bound { bound } else { x }
}

#[inline(always)]
fn exp(x: f64) -> f64 {
    // Outside everything is infinite or 0.
    let x = at_most(x, 90.0);
    let (scale, part) = parts_of_exp(if x < -110.0 { -110.0 } else { x });
    scale + scale * part
}

/// e^x - 1 for x from 0 on, as exact as x is.
#[inline(always)]
fn expm1(x: f64) -> f64 {
    let (scale, part) = parts_of_exp(x);
    scale * part + (scale - 1.0)
}

#[inline(always)]
fn sinh(x: f64) -> f64 {
    let e = expm1(at_most(x.abs(), 100.0));
    (0.5 * (e + e / (e + 1.0))).copysign(x)
}

#[inline(always)]
fn cosh(x: f64) -> f64 {
    let e = expm1(at_most(x.abs(), 100.0)) + 1.0;
    0.5 * (e + 1.0 / e)
}

#[inline(always)]
fn tanh(x: f64) -> f64 {
    let e = expm1(2.0 * at_most(x.abs(), 20.0));
    (e / (e + 2.0)).copysign(x)
}

/// The logarithm of 1 + f, which lies around 1. Below 2^-44.
#[inline(always)]
fn log_of_fraction(f: f64) -> f64 {
    let s = f / (2.0 + f);
    let w = s * s;
    let tail = polynomial(
        w,
        [
            0.6666666667584641,
            0.3999999560464684,
            0.28572111147594814,
            0.22176099092772775,
            0.19585528703959348,
        ],
    );
    2.0 * s + s * w * tail
}

/// What a logarithm of x is, if it is `value` for positive finite numbers.
#[inline(always)]
fn logarithm(x: f64, value: f64) -> f64 {
    let value = if x < f64::INFINITY { value } else { x };
    let value = if x == 0.0 { f64::NEG_INFINITY } else { value };
    if x < 0.0 { f64::NAN } else { value }
}

#[inline(always)]
fn log(x: f64) -> f64 {
    let (k, f) = exponent_and_fraction(x);
    logarithm(x, k * LN_2 + log_of_fraction(f))
}

#[inline(always)]
fn log2(x: f64) -> f64 {
    let (k, f) = exponent_and_fraction(x);
    logarithm(x, k + log_of_fraction(f) * LOG2_E)
}

#[inline(always)]
fn log10(x: f64) -> f64 {
    let (k, f) = exponent_and_fraction(x);
    logarithm(x, k * LOG10_2 + log_of_fraction(f) * LOG10_E)
}

#[inline(always)]
fn log1p(x: f64) -> f64 {
    let sum = 1.0 + x;
    let (k, f) = exponent_and_fraction(sum);
    // What got lost in the sum counts where the result is small.
    let f = if k == 0.0 { x } else { f };
    let value = logarithm(sum, k * LN_2 + log_of_fraction(f));
    if x == 0.0 { x } else { value }
}

#[inline(always)]
fn asinh(x: f64) -> f64 {
    let a = x.abs();
    let value = log1p(a + a * a / (1.0 + (1.0 + a * a).sqrt()));
    (if a < f64::INFINITY { value } else { a }).copysign(x)
}

#[inline(always)]
fn acosh(x: f64) -> f64 {
    let t = x - 1.0;
    let value = log1p(t + (t * (t + 2.0)).sqrt());
    if x < 1.0 { f64::NAN } else { value }
}

#[inline(always)]
fn atanh(x: f64) -> f64 {
    let a = x.abs();
    let value = 0.5 * log1p(2.0 * a / (1.0 - a));
    (if a > 1.0 { f64::NAN } else { value }).copysign(x)
}

/// Sine and cosine of what x has beyond a multiple of pi/2, and the low bits of that multiple. Below 2^-37.
#[inline(always)]
fn parts_of_angle(x: f64) -> (f64, f64, u64) {
    let shifted = x * FRAC_2_PI + SHIFT;
    let n = shifted - SHIFT;
    let r = (x - n * QUARTER_1) - n * QUARTER_2;
    let w = r * r;
    let sine = polynomial(
        w,
        [-0.1666666664069279, 0.008333329292689996, -0.00019839308342534933, 2.718084033281584e-06],
    );
    let cosine = polynomial(
        w,
        [
            -0.4999999999948675,
            0.04166666655296204,
            -0.001388888063417482,
            2.479895538362009e-05,
            -2.717440211264514e-07,
        ],
    );
    (r + r * w * sine, 1.0 + w * cosine, shifted.to_bits())
}

#[inline(always)]
fn sin(x: f64) -> f64 {
    let (sine, cosine, n) = parts_of_angle(x);
    // The sign of a zero stays.
    if x == 0.0 { x } else { negated_by(if n & 1 == 0 { sine } else { cosine }, n, 1) }
}

#[inline(always)]
fn cos(x: f64) -> f64 {
    let (sine, cosine, n) = parts_of_angle(x);
    negated_by(if n & 1 == 0 { cosine } else { sine }, n.wrapping_add(1), 1)
}

#[inline(always)]
fn tan(x: f64) -> f64 {
    let (sine, cosine, n) = parts_of_angle(x);
    let (above, below) = if n & 1 == 0 { (sine, cosine) } else { (cosine, sine) };
    if x == 0.0 { x } else { negated_by(above / below, n, 0) }
}

/// The arc tangent of z, which is at most the tangent of pi/8. Below 2^-40.
#[inline(always)]
fn small_atan(z: f64) -> f64 {
    let w = z * z;
    let tail = polynomial(
        w,
        [
            -0.3333333329548637,
            0.19999994295780057,
            -0.14285422342271528,
            0.11103979485920133,
            -0.08996607120461747,
            0.06990129659455392,
            -0.03790457455523039,
        ],
    );
    z + z * w * tail
}

/// The tangents of pi/8 and 3 pi/8.
const TAN_EIGHTH: f64 = 0.414_213_562_373_095_03;
const TAN_THREE_EIGHTHS: f64 = 2.414_213_562_373_095;

#[inline(always)]
fn atan(x: f64) -> f64 {
    let a = x.abs();
    let (large, middle) = (a > TAN_THREE_EIGHTHS, a > TAN_EIGHTH);
    let above = if large {
        -1.0
    } else if middle {
        a - 1.0
    } else {
        a
    };
    let below = if large {
        a
    } else if middle {
        a + 1.0
    } else {
        1.0
    };
    let base = if large {
        FRAC_PI_2
    } else if middle {
        FRAC_PI_4
    } else {
        0.0
    };
    (base + small_atan(above / below)).copysign(x)
}

/// The angle of a point that is neither at the centre nor infinitely far away.
#[inline(always)]
fn atan2(y: f64, x: f64) -> f64 {
    let (a, b) = (x.abs(), y.abs());
    let steep = b > a;
    let (long, short) = if steep { (b, a) } else { (a, b) };
    let middle = short > TAN_EIGHTH * long;
    let above = if middle { short - long } else { short };
    let below = if middle { short + long } else { long };
    let angle = if middle { FRAC_PI_4 } else { 0.0 } + small_atan(above / below);
    let angle = if steep { FRAC_PI_2 - angle } else { angle };
    (if x < 0.0 { PI - angle } else { angle }).copysign(y)
}

/// The arc sine of a number up to 1/2, or from there on what it is of a smaller number; and that it is. Below 2^-39.
#[inline(always)]
fn part_of_asin(a: f64) -> (f64, bool) {
    let large = a > 0.5;
    let w = if large { 0.5 * (1.0 - a) } else { a * a };
    let s = if large { w.sqrt() } else { a };
    let tail = polynomial(
        w,
        [
            0.16666666627328022,
            0.07500004982495528,
            0.04464070764933331,
            0.0304265260846367,
            0.02186568948101788,
            0.020646535528932183,
            0.001978653029863607,
            0.03291223519363166,
        ],
    );
    (s + s * w * tail, large)
}

#[inline(always)]
fn asin(x: f64) -> f64 {
    let (part, large) = part_of_asin(x.abs());
    (if large { FRAC_PI_2 - 2.0 * part } else { part }).copysign(x)
}

#[inline(always)]
fn acos(x: f64) -> f64 {
    let (part, large) = part_of_asin(x.abs());
    let near = if x < 0.0 { PI - 2.0 * part } else { 2.0 * part };
    if large { near } else { FRAC_PI_2 - part.copysign(x) }
}

#[inline(always)]
fn hypot(a: f64, b: f64) -> f64 {
    let infinite = (a.abs() == f64::INFINITY) | (b.abs() == f64::INFINITY);
    if infinite { f64::INFINITY } else { (a * a + b * b).sqrt() }
}

/// A power of a positive finite number. Below 2^-38.
#[inline(always)]
fn positive_pow(a: f64, exponent: f64) -> f64 {
    let (k, f) = exponent_and_fraction(a);
    let exponent = (k + log_of_fraction(f) * LOG2_E) * exponent;
    // Outside everything is infinite or 0.
    let exponent = at_most(exponent, 200.0);
    let exponent = if exponent < -200.0 { -200.0 } else { exponent };
    let shifted = exponent + SHIFT;
    let r = exponent - (shifted - SHIFT);
    let part = polynomial(
        r,
        [
            0.6931471805481955,
            0.24022650698114886,
            0.05550410935344763,
            0.009618128615392995,
            0.0013333454780672912,
            0.0001540382578345846,
            1.5309178183114444e-05,
            1.3178902612078992e-06,
        ],
    );
    let scale = power_of_two(shifted);
    scale + scale * (r * part)
}

/// A power of a finite number that is not 0, with a finite exponent.
#[inline(always)]
fn pow(x: f64, exponent: f64) -> f64 {
    let value = positive_pow(x.abs(), exponent);
    let shifted = exponent + SHIFT;
    // From 2^24 on all numbers are even.
    let small = exponent.abs() < 16_777_216.0;
    let whole = !small | (shifted - SHIFT == exponent);
    let odd = if small { shifted.to_bits() } else { 0 };
    let signed = negated_by(value, odd, 0);
    let of_negative = if whole { signed } else { f64::NAN };
    if x < 0.0 { of_negative } else { value }
}

#[inline(always)]
fn cbrt(x: f64) -> f64 {
    let a = x.abs();
    let value = positive_pow(a, 1.0 / 3.0);
    // Zeros, infinities and NaN are their own.
    if (a > 0.0) & (a < f64::INFINITY) { value.copysign(x) } else { x }
}
