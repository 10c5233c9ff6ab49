//! Library functions on `f32`: computed in `f64` with at least 36 right digits, so that rounding gives the nearest number but
//! for few arguments (the error is below 0.501 units in the last place).

use super::super::table::ScalarOp;
use super::number::{Number, Quick, Word};
use super::{
    LARGEST_ANGLE, QUARTER_1, QUARTER_2, SHIFT, exponent_and_fraction, negated_by, polynomial, power_of_two,
};
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, FRAC_PI_4, LN_2, LOG2_E, LOG10_2, LOG10_E, PI};

/// A function of one number, if it is one of these: the value, and whether that is it.
#[inline(always)]
pub(in super::super) fn quick1(op: ScalarOp, x: f32) -> Option<(f32, bool)> {
    let wide = f64::from(x);
    if let Some(quick) = function1(op, wide) {
        return Some((quick.value as f32, quick.known.unwrap_or(true)));
    }
    let value = match op {
        ScalarOp::Gamma => libm::tgamma(wide),
        ScalarOp::Lgamma => libm::lgamma(wide),
        ScalarOp::Erf => libm::erf(wide),
        ScalarOp::Erfc => libm::erfc(wide),
        _ => return None,
    };
    Some((value as f32, true))
}

/// A function of two numbers, if it is one of these: the value, and whether that is it.
#[inline(always)]
pub(in super::super) fn quick2(op: ScalarOp, a: f32, b: f32) -> Option<(f32, bool)> {
    let quick = function2(op, f64::from(a), f64::from(b))?;
    Some((quick.value as f32, quick.known.unwrap_or(true)))
}

/// A function of one number that has a form without branches, before it is rounded.
#[inline(always)]
pub(super) fn function1<N: Number>(op: ScalarOp, x: N) -> Option<Quick<N>> {
    let of_angle = |value: N| Quick::where_known(x.abs().is_at_most(LARGEST_ANGLE), value);
    Some(match op {
        ScalarOp::Exp => Quick::always(exp(x)),
        ScalarOp::Log => Quick::always(log(x)),
        ScalarOp::Log2 => Quick::always(log2(x)),
        ScalarOp::Log10 => Quick::always(log10(x)),
        ScalarOp::Log1p => Quick::always(log1p(x)),
        ScalarOp::Sin => of_angle(sin(x)),
        ScalarOp::Cos => of_angle(cos(x)),
        ScalarOp::Tan => of_angle(tan(x)),
        ScalarOp::Asin => Quick::always(asin(x)),
        ScalarOp::Acos => Quick::always(acos(x)),
        ScalarOp::Atan => Quick::always(atan(x)),
        ScalarOp::Sinh => Quick::always(sinh(x)),
        ScalarOp::Cosh => Quick::always(cosh(x)),
        ScalarOp::Tanh => Quick::always(tanh(x)),
        ScalarOp::Asinh => Quick::always(asinh(x)),
        ScalarOp::Acosh => Quick::always(acosh(x)),
        ScalarOp::Atanh => Quick::always(atanh(x)),
        ScalarOp::Cbrt => Quick::always(cbrt(x)),
        _ => return None,
    })
}

/// A function of two numbers that has a form without branches, before it is rounded.
#[inline(always)]
pub(super) fn function2<N: Number>(op: ScalarOp, a: N, b: N) -> Option<Quick<N>> {
    Some(match op {
        // A power of 0 or infinity is a matter of cases.
        ScalarOp::Pow => Quick::where_known(
            a.abs().is_above(0.0) & a.abs().is_below(f64::INFINITY) & b.abs().is_below(f64::INFINITY),
            N::select(b.is(2.0), a * a, pow(a, b)),
        ),
        ScalarOp::Atan2 => {
            let size = a.abs() + b.abs();
            Quick::where_known(size.is_above(0.0) & size.is_below(f64::INFINITY), atan2(a, b))
        }
        ScalarOp::Hypot => Quick::always(hypot(a, b)),
        _ => return None,
    })
}

/// 2^n, and e^r - 1, where x = n ln 2 + r. Below 2^-37.
#[inline(always)]
fn parts_of_exp<N: Number>(x: N) -> (N, N) {
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
fn at_most<N: Number>(x: N, bound: f64) -> N {
    N::select(x.is_above(bound), x.constant(bound), x)
}

#[inline(always)]
fn exp<N: Number>(x: N) -> N {
    // Outside everything is infinite or 0.
    let x = at_most(x, 90.0);
    let (scale, part) = parts_of_exp(N::select(x.is_below(-110.0), x.constant(-110.0), x));
    scale + scale * part
}

/// e^x - 1 for x from 0 on, as exact as x is.
#[inline(always)]
fn expm1<N: Number>(x: N) -> N {
    let (scale, part) = parts_of_exp(x);
    scale * part + (scale - 1.0)
}

#[inline(always)]
fn sinh<N: Number>(x: N) -> N {
    let e = expm1(at_most(x.abs(), 100.0));
    ((e + e / (e + 1.0)) * 0.5).copysign(x)
}

#[inline(always)]
fn cosh<N: Number>(x: N) -> N {
    let e = expm1(at_most(x.abs(), 100.0)) + 1.0;
    (e + e.constant(1.0) / e) * 0.5
}

#[inline(always)]
fn tanh<N: Number>(x: N) -> N {
    let e = expm1(at_most(x.abs(), 20.0) * 2.0);
    (e / (e + 2.0)).copysign(x)
}

/// The logarithm of 1 + f, which lies around 1. Below 2^-44.
#[inline(always)]
fn log_of_fraction<N: Number>(f: N) -> N {
    let s = f / (f + 2.0);
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
    s * 2.0 + s * w * tail
}

/// What a logarithm of x is, if it is `value` for positive finite numbers.
#[inline(always)]
fn logarithm<N: Number>(x: N, value: N) -> N {
    let value = N::select(x.is_below(f64::INFINITY), value, x);
    let value = N::select(x.is(0.0), x.constant(f64::NEG_INFINITY), value);
    N::select(x.is_below(0.0), x.constant(f64::NAN), value)
}

#[inline(always)]
fn log<N: Number>(x: N) -> N {
    let (k, f) = exponent_and_fraction(x);
    logarithm(x, k * LN_2 + log_of_fraction(f))
}

#[inline(always)]
fn log2<N: Number>(x: N) -> N {
    let (k, f) = exponent_and_fraction(x);
    logarithm(x, k + log_of_fraction(f) * LOG2_E)
}

#[inline(always)]
fn log10<N: Number>(x: N) -> N {
    let (k, f) = exponent_and_fraction(x);
    logarithm(x, k * LOG10_2 + log_of_fraction(f) * LOG10_E)
}

#[inline(always)]
fn log1p<N: Number>(x: N) -> N {
    let sum = x + 1.0;
    let (k, f) = exponent_and_fraction(sum);
    // What got lost in the sum counts where the result is small.
    let f = N::select(k.is(0.0), x, f);
    let value = logarithm(sum, k * LN_2 + log_of_fraction(f));
    N::select(x.is(0.0), x, value)
}

#[inline(always)]
fn asinh<N: Number>(x: N) -> N {
    let a = x.abs();
    let value = log1p(a + a * a / ((a * a + 1.0).sqrt() + 1.0));
    N::select(a.is_below(f64::INFINITY), value, a).copysign(x)
}

#[inline(always)]
fn acosh<N: Number>(x: N) -> N {
    let t = x - 1.0;
    let value = log1p(t + (t * (t + 2.0)).sqrt());
    N::select(x.is_below(1.0), x.constant(f64::NAN), value)
}

#[inline(always)]
fn atanh<N: Number>(x: N) -> N {
    let a = x.abs();
    let value = log1p(a * 2.0 / (a.constant(1.0) - a)) * 0.5;
    N::select(a.is_above(1.0), a.constant(f64::NAN), value).copysign(x)
}

/// Sine and cosine of what x has beyond a multiple of pi/2, and the low bits of that multiple. Below 2^-37.
#[inline(always)]
fn parts_of_angle<N: Number>(x: N) -> (N, N, N::Word) {
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
    (r + r * w * sine, w * cosine + 1.0, shifted.word())
}

#[inline(always)]
fn sin<N: Number>(x: N) -> N {
    let (sine, cosine, n) = parts_of_angle(x);
    // The sign of a zero stays.
    N::select(x.is(0.0), x, negated_by(N::select(n.and(1).is_zero(), sine, cosine), n, 1))
}

#[inline(always)]
fn cos<N: Number>(x: N) -> N {
    let (sine, cosine, n) = parts_of_angle(x);
    negated_by(N::select(n.and(1).is_zero(), cosine, sine), n.plus(1), 1)
}

#[inline(always)]
fn tan<N: Number>(x: N) -> N {
    let (sine, cosine, n) = parts_of_angle(x);
    let even = n.and(1).is_zero();
    let (above, below) = (N::select(even, sine, cosine), N::select(even, cosine, sine));
    N::select(x.is(0.0), x, negated_by(above / below, n, 0))
}

/// The arc tangent of z, which is at most the tangent of pi/8. Below 2^-40.
#[inline(always)]
fn small_atan<N: Number>(z: N) -> N {
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
fn atan<N: Number>(x: N) -> N {
    let a = x.abs();
    let (large, middle) = (a.is_above(TAN_THREE_EIGHTHS), a.is_above(TAN_EIGHTH));
    let one_of =
        |of_large, of_middle, of_small| N::select(large, of_large, N::select(middle, of_middle, of_small));
    let above = one_of(a.constant(-1.0), a - 1.0, a);
    let below = one_of(a, a + 1.0, a.constant(1.0));
    let base = one_of(a.constant(FRAC_PI_2), a.constant(FRAC_PI_4), a.constant(0.0));
    (base + small_atan(above / below)).copysign(x)
}

/// The angle of a point that is neither at the centre nor infinitely far away.
#[inline(always)]
fn atan2<N: Number>(y: N, x: N) -> N {
    let (a, b) = (x.abs(), y.abs());
    let steep = a.less(b);
    let (long, short) = (N::select(steep, b, a), N::select(steep, a, b));
    let middle = (long * TAN_EIGHTH).less(short);
    let above = N::select(middle, short - long, short);
    let below = N::select(middle, short + long, long);
    let angle = N::select(middle, a.constant(FRAC_PI_4), a.constant(0.0)) + small_atan(above / below);
    let angle = N::select(steep, a.constant(FRAC_PI_2) - angle, angle);
    N::select(x.is_below(0.0), a.constant(PI) - angle, angle).copysign(y)
}

/// The arc sine of a number up to 1/2, or from there on what it is of a smaller number; and that it is. Below 2^-39.
#[inline(always)]
fn part_of_asin<N: Number>(a: N) -> (N, N::Truth) {
    let large = a.is_above(0.5);
    let w = N::select(large, (a.constant(1.0) - a) * 0.5, a * a);
    let s = N::select(large, w.sqrt(), a);
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
fn asin<N: Number>(x: N) -> N {
    let (part, large) = part_of_asin(x.abs());
    N::select(large, x.constant(FRAC_PI_2) - part * 2.0, part).copysign(x)
}

#[inline(always)]
fn acos<N: Number>(x: N) -> N {
    let (part, large) = part_of_asin(x.abs());
    let near = N::select(x.is_below(0.0), x.constant(PI) - part * 2.0, part * 2.0);
    N::select(large, near, x.constant(FRAC_PI_2) - part.copysign(x))
}

#[inline(always)]
fn hypot<N: Number>(a: N, b: N) -> N {
    let infinite = a.abs().is(f64::INFINITY) | b.abs().is(f64::INFINITY);
    N::select(infinite, a.constant(f64::INFINITY), (a * a + b * b).sqrt())
}

/// A power of a positive finite number. Below 2^-38.
#[inline(always)]
fn positive_pow<N: Number>(a: N, exponent: N) -> N {
    let (k, f) = exponent_and_fraction(a);
    let exponent = (k + log_of_fraction(f) * LOG2_E) * exponent;
    // Outside everything is infinite or 0.
    let exponent = at_most(exponent, 200.0);
    let exponent = N::select(exponent.is_below(-200.0), exponent.constant(-200.0), exponent);
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
fn pow<N: Number>(x: N, exponent: N) -> N {
    let value = positive_pow(x.abs(), exponent);
    let shifted = exponent + SHIFT;
    // From 2^24 on all numbers are even.
    let small = exponent.abs().is_below(16_777_216.0);
    let whole = !small | (shifted - SHIFT).equal(exponent);
    let odd = N::select(small, shifted, x.constant(0.0)).word();
    let signed = negated_by(value, odd, 0);
    let of_negative = N::select(whole, signed, x.constant(f64::NAN));
    N::select(x.is_below(0.0), of_negative, value)
}

#[inline(always)]
fn cbrt<N: Number>(x: N) -> N {
    let a = x.abs();
    let value = positive_pow(a, a.constant(1.0 / 3.0));
    // Zeros, infinities and NaN are their own.
    N::select(a.is_above(0.0) & a.is_below(f64::INFINITY), value.copysign(x), x)
}
