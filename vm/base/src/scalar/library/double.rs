//! Library functions on `f64` that loops can do for many values at once. How far they are from the true values is in the
//! table's rows.

use super::super::table::ScalarOp;
use super::number::{Number, Quick, Word};
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

/// Below it the nearest number to the exponential is 0.
const NO_EXPONENT: f64 = -745.2;

/// A function of one number, if it is one of these: the value, and whether that is it.
#[inline(always)]
pub(in super::super) fn quick1(op: ScalarOp, x: f64) -> Option<(f64, bool)> {
    let quick = function1(op, x)?;
    Some((quick.value, quick.known.unwrap_or(true)))
}

/// A function of two numbers, if it is one of these: none is.
#[inline(always)]
pub(in super::super) fn quick2(_: ScalarOp, _: f64, _: f64) -> Option<(f64, bool)> {
    None
}

/// A function of one number that has a form without branches.
#[inline(always)]
pub(super) fn function1<N: Number>(op: ScalarOp, x: N) -> Option<Quick<N>> {
    let of_positive = |value| {
        let normal = x.is_at_least(f64::MIN_POSITIVE) & x.is_below(f64::INFINITY);
        let zero = x.is(0.0);
        Quick::where_known(normal | zero, N::select(zero, x.constant(f64::NEG_INFINITY), value))
    };
    let of_angle = |value| Quick::where_known(x.abs().is_at_most(LARGEST_ANGLE), value);
    Some(match op {
        ScalarOp::Exp => {
            let tiny = x.is_below(NO_EXPONENT);
            let known = x.abs().is_at_most(LARGEST_EXPONENT) | tiny;
            Quick::where_known(known, N::select(tiny, x.constant(0.0), exp(x)))
        }
        ScalarOp::Log => of_positive(log(x)),
        ScalarOp::Log2 => of_positive(log2(x)),
        ScalarOp::Sin => of_angle(sin(x)),
        ScalarOp::Cos => of_angle(cos(x)),
        ScalarOp::Tan => of_angle(tan(x)),
        ScalarOp::Atan => Quick::always(atan(x)),
        ScalarOp::Tanh => Quick::always(tanh(x)),
        _ => return None,
    })
}

/// 2^n, and e^r - 1, where x = n ln 2 + r. Below 2^-61.
#[inline(always)]
fn parts_of_exp<N: Number>(x: N) -> (N, Pair<N>) {
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
fn exp<N: Number>(x: N) -> N {
    let (scale, part) = parts_of_exp(x);
    scale + scale * part.value()
}

#[inline(always)]
fn tanh<N: Number>(x: N) -> N {
    let a = x.abs();
    // From there on the nearest number is 1.
    let (scale, part) = parts_of_exp(N::select(a.is_above(22.0), a.constant(22.0), a) * 2.0);
    let e = part.settled().times_power(scale) + (scale - 1.0);
    e.ratio(e + scale.constant(2.0)).copysign(x)
}

/// The logarithm of 1 + f, which lies around 1, as `f` less what this gives, to which `low` was added. Below 2^-59.
#[inline(always)]
fn log_of_fraction<N: Number>(f: N, low: N) -> N {
    let s = f / (f + 2.0);
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
    let half_square = f * 0.5 * f;
    half_square - (s * (half_square + w * tail) + low)
}

#[inline(always)]
fn log<N: Number>(x: N) -> N {
    let (k, f) = exponent_and_fraction(x);
    k * LN_2_HIGH - (log_of_fraction(f, k * LN_2_LOW) - f)
}

#[inline(always)]
fn log2<N: Number>(x: N) -> N {
    let (k, f) = exponent_and_fraction(x);
    k + (f - log_of_fraction(f, f.constant(0.0))) * LOG2_E
}

/// Sine and cosine of what x has beyond a multiple of pi/2, and the low bits of that multiple. Below 2^-57.
#[inline(always)]
fn parts_of_angle<N: Number>(x: N) -> (Pair<N>, Pair<N>, N::Word) {
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
    let half_square = w * 0.5;
    let one = w.constant(1.0);
    let near = one - half_square;
    let sine = Pair::new(r, r * w * sine + rest * near);
    let cosine = Pair::new(near, ((one - near) - half_square) + (w * w * cosine - r * rest));
    (sine, cosine, shifted.word())
}

#[inline(always)]
fn sin<N: Number>(x: N) -> N {
    let (sine, cosine, n) = parts_of_angle(x);
    // The sign of a zero stays.
    N::select(x.is(0.0), x, negated_by(N::select(n.and(1).is_zero(), sine.value(), cosine.value()), n, 1))
}

#[inline(always)]
fn cos<N: Number>(x: N) -> N {
    let (sine, cosine, n) = parts_of_angle(x);
    negated_by(N::select(n.and(1).is_zero(), cosine.value(), sine.value()), n.plus(1), 1)
}

#[inline(always)]
fn tan<N: Number>(x: N) -> N {
    let (sine, cosine, n) = parts_of_angle(x);
    let even = n.and(1).is_zero();
    let (above, below) = (Pair::select(even, sine, cosine), Pair::select(even, cosine, sine));
    N::select(x.is(0.0), x, negated_by(above.ratio(below), n, 0))
}

/// The tangents of pi/8 and 3 pi/8.
const TAN_EIGHTH: f64 = 0.414_213_562_373_095_03;
const TAN_THREE_EIGHTHS: f64 = 2.414_213_562_373_095;

/// Below 2^-59.
#[inline(always)]
fn atan<N: Number>(x: N) -> N {
    let a = x.abs();
    let (large, middle) = (a.is_above(TAN_THREE_EIGHTHS), a.is_above(TAN_EIGHTH));
    let one_of =
        |of_large, of_middle, of_small| N::select(large, of_large, N::select(middle, of_middle, of_small));
    let above = one_of(a.constant(-1.0), a - 1.0, a);
    let below = one_of(a, a + 1.0, a.constant(1.0));
    let base = one_of(a.constant(FRAC_PI_2), a.constant(FRAC_PI_4), a.constant(0.0));
    let low = one_of(a.constant(2.0 * PI_4_LOW), a.constant(PI_4_LOW), a.constant(0.0));
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
