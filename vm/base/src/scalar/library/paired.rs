//! Functions on numbers of twice the digits, for the functions that are made of them: exponential, logarithm, sine.
//!
//! Polynomials are near minimax; the comment says how much of the value all errors together are.

use super::pair::{Pair, polynomial_of_pairs};
use super::{HALF_ROOT, SHIFT};
use std::f64::consts::LOG2_E;

/// ln 2 in parts of 42 digits: multiples of the first two by exponents are exact.
const LN_2: [f64; 3] = [0.693_147_180_559_890_3, 5.497_923_018_707_21e-14, 1.161_222_722_936_253_2e-26];

/// e^x for |x| < 2000 as a number between 1/2 and 2, and n of the power of two to multiply it by. Below 2^-66, besides what
/// the error of x makes.
#[inline]
pub(super) fn exp(x: Pair) -> (Pair, i32) {
    let n = (x.value() * LOG2_E + SHIFT) - SHIFT;
    let r = ((x + (-n * LN_2[0])) + (-n * LN_2[1])) + (-n * LN_2[2]);
    let r = r.settled();
    let tail = polynomial_of_pairs(
        r,
        [
            Pair::new(0.5, 2.13698709958678e-24),
            Pair::new(0.16666666666666666, 9.251858664229883e-18),
            Pair::new(0.041666666666666664, 2.311224562919503e-18),
        ],
        [
            0.008333333333333333,
            0.0013888888888888892,
            0.00019841269841269844,
            2.480158730157577e-05,
            2.7557319223979108e-06,
            2.755731925135969e-07,
            2.5052108401541854e-08,
            2.087672363365318e-09,
            1.6059024218984323e-10,
            1.1490895389192535e-11,
            7.659015507412403e-13,
        ],
    );
    ((r * r * tail + r) + 1.0, n as i32)
}

/// The logarithm of a / b, of which the difference a - b and the sum a + b are given; a / b lies between the square root of
/// 1/2 and its double. Below 2^-73 of the value.
#[inline]
pub(super) fn log_of_ratio(difference: Pair, sum: Pair) -> Pair {
    let s = difference / sum;
    let w = s * s;
    let tail = polynomial_of_pairs(
        w,
        [
            Pair::new(0.6666666666666666, 3.700743479980325e-17),
            Pair::new(0.4, -2.220976224736169e-17),
            Pair::new(0.2857142857142857, 2.3053174864791612e-17),
        ],
        [
            0.2222222222222184,
            0.18181818181921283,
            0.15384615368326748,
            0.13333334935762706,
            0.11764604819339833,
            0.1053039829780311,
            0.09421993565730791,
            0.10110229663536843,
        ],
    );
    s * (w * tail + 2.0)
}

/// The logarithm of a number between 2^-900 and 2^1022. Below 2^-73 of the value, even near 1.
#[inline]
pub(super) fn log(x: Pair) -> Pair {
    let raised = x.value().to_bits().wrapping_add(1.0f64.to_bits() - HALF_ROOT);
    let k = (raised >> 52) as i32 - 1023;
    let mantissa = x.times_power(f64::from_bits(((1023 - k) as u64) << 52));
    let near = log_of_ratio((mantissa + -1.0).settled(), mantissa + 1.0);
    let k = f64::from(k);
    (Pair::sum(k * LN_2[0], k * LN_2[1]) + k * LN_2[2]) + near
}

/// sin(pi x) for |x| up to 1/2 but not below 2^-400. Below 2^-74 of the value.
#[inline]
pub(super) fn sin_pi(x: f64) -> Pair {
    let w = Pair::product(x, x);
    let factor = polynomial_of_pairs(
        w,
        [
            Pair::new(std::f64::consts::PI, 1.2246467874567524e-16),
            Pair::new(-5.16771278004997, 2.26657359927343e-16),
            Pair::new(2.5501640398773455, -7.949114615456707e-17),
            Pair::new(-0.5992645293207921, 3.975164473656841e-17),
            Pair::new(0.08214588661112787, -4.759960293483339e-18),
            Pair::new(-0.007370430945707596, 3.988191053901064e-19),
        ],
        [
            0.0004663028056889684,
            -2.191535285969446e-05,
            7.952025736213849e-07,
            -2.293998713586946e-08,
            5.249879114060463e-10,
        ],
    );
    factor * x
}
