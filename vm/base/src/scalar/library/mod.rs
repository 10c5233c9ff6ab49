//! Functions of a mathematical library, written so that loops over them become vector code.
//!
//! - `single.rs`: on `f32`, computed in `f64` and rounded once. `double.rs`: on `f64`.
//! - `number.rs`: what these two are made of. `steps.rs`: the same functions as steps, for those who make code of them.
//! - `gamma.rs` (with `zeros.rs`), `error.rs`: functions that branch, on `f64`.
//! - `pair.rs`: numbers with twice the digits. `paired.rs`: functions on them.
//!
//! Each function gives a value without branches, and whether that is the value: where it is not (arguments so large that
//! reducing them needs many digits, some infinities and zeros), slower code that branches has to say it. Both together are
//! the meaning of the operation, the same on every machine: there are only additions, multiplications, divisions, square
//! roots and bits, nothing is contracted, and no function of the system is asked but `pow` on `f64`.
//!
//! Polynomials are minimax approximations in the relative error of the function; the comment says how large that is.

use super::table::ScalarOp;
use number::{Number, Word};

pub(super) mod double;
mod error;
mod gamma;
mod number;
mod pair;
mod paired;
pub(super) mod single;
pub(super) mod steps;
mod zeros;

/// Adding it to a number below 2^51 rounds that to a whole number, which then stands in the low bits.
const SHIFT: f64 = 6_755_399_441_055_744.0;

/// The bits of the square root of 1/2: mantissas are taken from there to its double.
const HALF_ROOT: u64 = 0x3fe6_a09e_667f_3bcd;

/// The first 33 digits of pi/2, and the next 53: multiples of the first by numbers below 2^20 are exact.
const QUARTER_1: f64 = 1.570_796_326_734_125_6;
const QUARTER_2: f64 = 6.077_100_506_506_192e-11;

/// Up to here arguments of sine and cosine are reduced by the multiplication.
const LARGEST_ANGLE: f64 = 1_048_576.0;

/// A polynomial, by Horner's rule; the first coefficient is that of x^0.
#[inline(always)]
fn polynomial<N: Number, const COUNT: usize>(x: N, coefficients: [f64; COUNT]) -> N {
    let mut value = x.constant(coefficients[COUNT - 1]);
    let mut k = COUNT - 1;
    while k > 0 {
        k -= 1;
        value = value * x + coefficients[k];
    }
    value
}

/// 2^n for a whole number to which [`SHIFT`] was added, between -1022 and 1023.
#[inline(always)]
fn power_of_two<N: Number>(shifted: N) -> N {
    N::of_word(shifted.word().shifted_left(52).plus(1.0f64.to_bits()))
}

/// A positive normal number as 2^k * (1 + f), with 1 + f around 1.
#[inline(always)]
fn exponent_and_fraction<N: Number>(x: N) -> (N, N) {
    let raised = x.word().plus(1.0f64.to_bits() - HALF_ROOT);
    // The exponent is the mantissa of a number between 2^52 and 2^53.
    let exponent = N::of_word(raised.shifted_right(52).or(0x4330_0000_0000_0000));
    let k = exponent - (4_503_599_627_370_496.0 + 1023.0);
    let mantissa = N::of_word(raised.and(0x000f_ffff_ffff_ffff).plus(HALF_ROOT));
    (k, mantissa - 1.0)
}

/// The sign of a number changed if a bit is set in another: `bit` is moved to the sign.
#[inline(always)]
fn negated_by<N: Number>(x: N, bits: N::Word, bit: u32) -> N {
    N::of_word(x.word().xor(bits.shifted_right(bit).shifted_left(63)))
}

/// A function of one number for every argument, if it is one.
pub(super) fn general1(op: ScalarOp, x: f64) -> Option<f64> {
    Some(match op {
        ScalarOp::Cbrt => libm::cbrt(x),
        ScalarOp::Exp => libm::exp(x),
        ScalarOp::Log => libm::log(x),
        ScalarOp::Log2 => libm::log2(x),
        ScalarOp::Log10 => libm::log10(x),
        ScalarOp::Log1p => libm::log1p(x),
        ScalarOp::Sin => libm::sin(x),
        ScalarOp::Cos => libm::cos(x),
        ScalarOp::Tan => libm::tan(x),
        ScalarOp::Asin => libm::asin(x),
        ScalarOp::Acos => libm::acos(x),
        ScalarOp::Atan => libm::atan(x),
        ScalarOp::Sinh => libm::sinh(x),
        ScalarOp::Cosh => libm::cosh(x),
        ScalarOp::Tanh => libm::tanh(x),
        ScalarOp::Asinh => libm::asinh(x),
        // What libm gives for negative numbers is not NaN.
        ScalarOp::Acosh if x < 1.0 => f64::NAN,
        ScalarOp::Acosh if x > 1.0 && x < 2.0 => acosh_below_2(x - 1.0),
        ScalarOp::Acosh => libm::acosh(x),
        ScalarOp::Atanh => libm::atanh(x),
        ScalarOp::Gamma => gamma::gamma(x),
        ScalarOp::Lgamma => gamma::lgamma(x),
        ScalarOp::Erf => libm::erf(x),
        ScalarOp::Erfc => error::erfc(x),
        _ => return None,
    })
}

/// The inverse hyperbolic cosine of 1 + t for t below 1; libm's would be off by more than two units.
fn acosh_below_2(t: f64) -> f64 {
    let y = (pair::Pair::sum(2.0, t) * t).sqrt() + t;
    let y = y.settled();
    libm::log1p(y.high) + y.low / (1.0 + y.high)
}

/// A function of two numbers for all arguments, if it is one.
pub(super) fn general2(op: ScalarOp, a: f64, b: f64) -> Option<f64> {
    Some(match op {
        // So the square may be written either way.
        ScalarOp::Pow if b == 2.0 => a * a,
        // The system's is three times as fast as libm's.
        ScalarOp::Pow => a.powf(b),
        ScalarOp::Atan2 => libm::atan2(a, b),
        ScalarOp::Hypot => libm::hypot(a, b),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
