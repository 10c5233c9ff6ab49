//! Library functions on `f64` that loops can do for many values at once. How far they are from the true values is in the
//! table's rows.

use super::super::table::ScalarOp;
use super::pair::Pair;
use super::{LARGEST_ANGLE, QUARTER_1, SHIFT, exponent_and_fraction, negated_by, polynomial, power_of_two};
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, FRAC_PI_4, LOG2_E};

/// The first 32 digits of ln 2, and the next 53.
const LN_2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// After the first 33 digits of pi/2 twice the next 33, and the next 53.
const QUARTER_2: f64 = 6.077_100_506_303_966e-11;
const QUARTER_3: f64 = 2.022_266_248_711_166_5e-21;
const QUARTER_4: f64 = 8.478_427_660_368_9e-32;

/// What pi/4 has beyond its nearest number; pi/2 has twice of it.
const PI_4_LOW: f64 = 3.061_616_997_868_383e-17;

/// Up to here the exponential and what it is made of are normal numbers.
const LARGEST_EXPONENT: f64 = 700.0;

/// A function of one number, if it is one of these: the value, and whether that is it.
#[inline(always)]
pub(in super::super) fn quick1(op: ScalarOp, x: f64) -> Option<(f64, bool)> {
    let normal = (f64::MIN_POSITIVE..f64::INFINITY).contains(&x);
    Some(match op {
        ScalarOp::Exp => (exp(x), x.abs() <= LARGEST_EXPONENT),
        ScalarOp::Log => (log(x), normal),
        ScalarOp::Log2 => (log2(x), normal),
        ScalarOp::Sin => (sin(x), x.abs() <= LARGEST_ANGLE),
        ScalarOp::Cos => (cos(x), x.abs() <= LARGEST_ANGLE),
        ScalarOp::Tan => (tan(x), x.abs() <= LARGEST_ANGLE),
        ScalarOp::Atan => (atan(x), true),
        ScalarOp::Tanh => (tanh(x), true),
        _ => return None,
    })
}

/// 2^n, and e^r - 1, where x = n ln 2 + r. Below 2^-61.
#[inline(always)]
fn parts_of_exp(x: f64) -> (f64, Pair) {
    let shifted = x * LOG2_E + SHIFT;
    let n = shifted - SHIFT;
    let r = (x - n * LN_2_HIGH) - n * LN_2_LOW;
    let tail = polynomial(
        r,
        [
            0.5,
            0.16666666666666677,
            0.04166666666666658,
            0.008333333333322158,
            0.0013888888888942657,
            0.00019841269884945327,
            2.4801587198241855e-05,
            2.75572452911665e-06,
            2.755738702523806e-07,
            2.5108687573447886e-08,
            2.087891831561124e-09,
        ],
    );
    (power_of_two(shifted), Pair::new(r, r * r * tail))
}

#[inline(always)]
fn exp(x: f64) -> f64 {
    let (scale, part) = parts_of_exp(x);
    scale + scale * part.value()
}

#[inline(always)]
fn tanh(x: f64) -> f64 {
    let a = x.abs();
    // From there on the nearest number is 1.
    let (scale, part) = parts_of_exp(2.0 * if a > 22.0 { 22.0 } else { a });
    let e = part.settled().times_power(scale) + (scale - 1.0);
    e.ratio(e + 2.0).copysign(x)
}

/// The logarithm of 1 + f, which lies around 1, as `f` less what this gives, to which `low` was added. Below 2^-59.
#[inline(always)]
fn log_of_fraction(f: f64, low: f64) -> f64 {
    let s = f / (2.0 + f);
    let w = s * s;
    let tail = polynomial(
        w,
        [
            0.6666666666666735,
            0.39999999999411057,
            0.28571428743269656,
            0.2222219847535528,
            0.18183569769448693,
            0.15313902547941224,
            0.14797514255056626,
        ],
    );
    let half_square = 0.5 * f * f;
    half_square - (s * (half_square + w * tail) + low)
}

#[inline(always)]
fn log(x: f64) -> f64 {
    let (k, f) = exponent_and_fraction(x);
    k * LN_2_HIGH - (log_of_fraction(f, k * LN_2_LOW) - f)
}

#[inline(always)]
fn log2(x: f64) -> f64 {
    let (k, f) = exponent_and_fraction(x);
    k + (f - log_of_fraction(f, 0.0)) * LOG2_E
}

/// Sine and cosine of what x has beyond a multiple of pi/2, and the low bits of that multiple. Below 2^-57.
#[inline(always)]
fn parts_of_angle(x: f64) -> (Pair, Pair, u64) {
    let shifted = x * FRAC_2_PI + SHIFT;
    let n = shifted - SHIFT;
    // The products are exact, and so is the first difference.
    let left = Pair::sum(x - n * QUARTER_1, -n * QUARTER_2) + (-n * QUARTER_3);
    let left = Pair::new(left.high, left.low - n * QUARTER_4).settled();
    let (r, rest) = (left.high, left.low);
    let w = r * r;
    let sine = polynomial(
        w,
        [
            -0.1666666666666663,
            0.008333333333322061,
            -0.0001984126982954192,
            2.755731360429687e-06,
            -2.505074500368721e-08,
            1.5896065635168964e-10,
        ],
    );
    let cosine = polynomial(
        w,
        [
            0.041666666666666595,
            -0.0013888888888872975,
            2.4801587288800245e-05,
            -2.7557314164035075e-07,
            2.0875698715896737e-09,
            -1.1358423869550367e-11,
        ],
    );
    let half_square = 0.5 * w;
    let near = 1.0 - half_square;
    let sine = Pair::new(r, r * w * sine + rest * near);
    let cosine = Pair::new(near, ((1.0 - near) - half_square) + (w * w * cosine - r * rest));
    (sine, cosine, shifted.to_bits())
}

#[inline(always)]
fn sin(x: f64) -> f64 {
    let (sine, cosine, n) = parts_of_angle(x);
    // The sign of a zero stays.
    if x == 0.0 { x } else { negated_by(if n & 1 == 0 { sine.value() } else { cosine.value() }, n, 1) }
}

#[inline(always)]
fn cos(x: f64) -> f64 {
    let (sine, cosine, n) = parts_of_angle(x);
    negated_by(if n & 1 == 0 { cosine.value() } else { sine.value() }, n.wrapping_add(1), 1)
}

#[inline(always)]
fn tan(x: f64) -> f64 {
    let (sine, cosine, n) = parts_of_angle(x);
    let (above, below) = if n & 1 == 0 { (sine, cosine) } else { (cosine, sine) };
    if x == 0.0 { x } else { negated_by(above.ratio(below), n, 0) }
}

/// The tangents of pi/8 and 3 pi/8.
const TAN_EIGHTH: f64 = 0.414_213_562_373_095_03;
const TAN_THREE_EIGHTHS: f64 = 2.414_213_562_373_095;

/// Below 2^-59.
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
    let low = if large {
        2.0 * PI_4_LOW
    } else if middle {
        PI_4_LOW
    } else {
        0.0
    };
    let z = above / below;
    let w = z * z;
    let tail = polynomial(
        w,
        [
            -0.3333333333333319,
            0.1999999999995281,
            -0.1428571428012056,
            0.11111110779761829,
            -0.09090897654066794,
            0.07692058413273099,
            -0.06663083985840806,
            0.05847745901989409,
            -0.05038668516957763,
            0.03804861614264018,
            -0.017889957597291697,
        ],
    );
    (base + (z + (z * w * tail + low))).copysign(x)
}

/// A function of two numbers, if it is one of these.
#[inline(always)]
pub(in super::super) fn quick2(_: ScalarOp, _: f64, _: f64) -> Option<(f64, bool)> {
    None
}
