//! The gamma function and the logarithm of its magnitude on `f64`.
//!
//! All is computed in pairs, with an error below 2^-65 of the gamma function, and rounded once:
//!
//! - Between 1 and 2 the reciprocal of the gamma function, less 1, has the zeros 1 and 2; what remains is a polynomial.
//! - Up to [`LARGE`] the recurrence leads there, from there on there is Stirling's series.
//! - Below 0 there is the reflection formula. The logarithm of a magnitude near 1 is that of a pair, with an error below 2^-70;
//!   where even that is too much, `zeros.rs` has the rest.
//!
//! For `f32` what libm computes on `f64` is good enough and faster.

use super::pair::{Pair, polynomial_of_pairs};
use super::paired;
use super::zeros::lgamma_near_zero;

/// From here on Stirling's series is used.
const LARGE: f64 = 12.0;

/// Below minus this the logarithm of the magnitude has zeros only between two numbers, and no number is near them.
const NO_ZEROS: f64 = 24.0;

/// Below this magnitude the gamma function is 1/x.
const TINY: f64 = 1.0 / 1_152_921_504_606_846_976.0;

/// From here on, all numbers are whole.
const ALL_WHOLE: f64 = 4_503_599_627_370_496.0;

/// A logarithm below this has lost digits: 1 was taken from the pair.
const SMALL: f64 = 1.0 / 1_048_576.0;

/// pi, its logarithm, and half that of 2 pi.
const PI: Pair = Pair::new(std::f64::consts::PI, 1.224_646_799_147_353_2e-16);
const LN_PI: Pair = Pair::new(1.144_729_885_849_400_2, 1.026_595_116_270_782_6e-17);
const HALF_LN_TWO_PI: Pair = Pair::new(0.918_938_533_204_672_8, -3.878_294_158_067_241_4e-17);

/// 1/gamma(1 + t) - 1 for t from 0 to 1. Below 2^-68 of the value.
#[inline]
fn reciprocal_less_one(t: f64) -> Pair {
    let factor = polynomial_of_pairs(
        t,
        [
            Pair::new(-0.5772156649015329, 4.942915153207358e-18),
            Pair::new(0.07866240661872102, -2.5511496954132126e-18),
            Pair::new(0.12066504165281626, -4.0430792408635935e-18),
            Pair::new(-0.04587356972947523, -3.603793789270277e-19),
            Pair::new(-0.0036758351739308967, 1.476812596898898e-19),
            Pair::new(0.005946136353946073, 1.4181094771469557e-19),
            Pair::new(-0.00127280689271698, -1.0363479914933722e-19),
            Pair::new(-0.00010763930085833552, -5.876673721146724e-21),
            Pair::new(0.00010760237325945011, 5.227332637056565e-21),
            Pair::new(-2.0447909143154703e-05, -1.1239912608683138e-21),
        ],
        [
            -3.1305430509841746e-07,
            9.374389995922977e-07,
            -1.9558779756923697e-07,
            1.0045197981072745e-08,
            3.9304102470014524e-09,
            -1.0731927649401532e-09,
            1.0960092186101027e-10,
            4.154822680005678e-12,
            -3.041899160815714e-12,
            4.489523489646619e-13,
            -2.7663872953960994e-14,
        ],
    );
    factor * Pair::sum(t, -1.0) * t
}

/// gamma(1 + y) for y from 0 to [`NO_ZEROS`].
#[inline]
fn gamma_of_successor(y: f64) -> Pair {
    let mut product = Pair::of(1.0);
    let mut t = y;
    while t >= 1.0 {
        product = product * t;
        t -= 1.0;
    }
    product / (reciprocal_less_one(t) + 1.0)
}

/// The logarithm of gamma(x + 1/2 + half) for x from 8 to 2^70, where `half` is 1/2 or -1/2. Below 2^-60, or 2^-70 of it.
#[inline]
fn stirling(x: f64, half: f64) -> Pair {
    let inverse = 1.0 / x;
    let series = super::polynomial(
        inverse * inverse,
        [
            1.0 / 12.0,
            -1.0 / 360.0,
            1.0 / 1260.0,
            -1.0 / 1680.0,
            1.0 / 1188.0,
            -691.0 / 360_360.0,
            1.0 / 156.0,
            -3617.0 / 122_400.0,
            43_867.0 / 244_188.0,
            -174_611.0 / 125_400.0,
        ],
    );
    Pair::sum(x, half) * paired::log(Pair::of(x)) + -x + (HALF_LN_TWO_PI + inverse * series)
}

/// The sine of pi y, but for its sign, for a y that is not whole.
#[inline]
fn sine_of(y: f64) -> Pair {
    paired::sin_pi((y - y.round_ties_even()).abs())
}

/// The magnitude of gamma(-y) for a y that is not whole, between [`TINY`] and [`NO_ZEROS`].
#[inline]
fn reflected(y: f64) -> Pair {
    PI / (sine_of(y) * gamma_of_successor(y))
}

/// The gamma function.
pub(super) fn gamma(x: f64) -> f64 {
    if x.abs() < TINY {
        return 1.0 / x;
    }
    if x > 0.0 {
        return match x {
            _ if x < 1.0 => (gamma_of_successor(x) / Pair::of(x)).value(),
            _ if x < LARGE => gamma_of_successor(x - 1.0).value(),
            _ if x < 172.0 => {
                let (value, n) = paired::exp(stirling(x, -0.5));
                value.scaled(n)
            }
            _ => f64::INFINITY,
        };
    }
    let y = -x;
    // Minus infinity is among what has no value.
    if y.is_nan() || y >= ALL_WHOLE || y.round_ties_even() == y {
        return f64::NAN;
    }
    let magnitude = if y < LARGE {
        reflected(y).value()
    } else if y < 190.0 {
        let (value, n) = paired::exp(-stirling(y, 0.5));
        (PI / sine_of(y) * value).scaled(n)
    } else {
        0.0
    };
    // Negative between 0 and -1, and so on by turns.
    if (y as u64).is_multiple_of(2) { -magnitude } else { magnitude }
}

/// The logarithm of the magnitude of the gamma function.
pub(super) fn lgamma(x: f64) -> f64 {
    if x.abs() < TINY {
        return -libm::log(x.abs());
    }
    if x > 0.0 {
        return positive_lgamma(x);
    }
    let y = -x;
    if y.is_nan() {
        return f64::NAN;
    }
    if y >= ALL_WHOLE || y.round_ties_even() == y {
        return f64::INFINITY;
    }
    if y < NO_ZEROS {
        let value = paired::log(reflected(y)).value();
        if value.abs() < SMALL { lgamma_near_zero(x).unwrap_or(value) } else { value }
    } else {
        (LN_PI - paired::log(sine_of(y)) - stirling(y, 0.5)).value()
    }
}

/// [`lgamma`] from [`TINY`] on, infinity included.
fn positive_lgamma(x: f64) -> f64 {
    // Near the zeros at 1 and 2, gamma(x) = a / b: a - b is found without taking 1 from 1.
    let of_ratio = |difference: Pair, sum: Pair| paired::log_of_ratio(difference, sum).value();
    match x {
        _ if x < 0.75 => -paired::log((reciprocal_less_one(x) + 1.0) * x).value(),
        _ if x < 1.0 => {
            let part = reciprocal_less_one(x) * x;
            of_ratio(Pair::of(1.0 - x) - part, part + x + 1.0)
        }
        _ if x < 2.0 => {
            let part = reciprocal_less_one(x - 1.0);
            of_ratio(-part, part + 2.0)
        }
        _ if x < 2.5 => {
            let t = x - 2.0;
            let part = reciprocal_less_one(t);
            of_ratio(-part + t, part + t + 2.0)
        }
        _ if x < LARGE => paired::log(gamma_of_successor(x - 1.0)).value(),
        _ if x < 1e20 => stirling(x, -0.5).value(),
        _ if x < 3e305 => {
            // The rest of the series is nothing beside this. The scale keeps products in range.
            let scale = 1.0 / 18_446_744_073_709_551_616.0;
            ((paired::log(Pair::of(x)) + -1.0) * (x * scale)).value() / scale
        }
        _ => f64::INFINITY,
    }
}
