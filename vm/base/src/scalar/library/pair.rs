//! Numbers with twice the digits of an `f64`: the sum of two, of which the second is at most a few units in the last place of
//! the first.
//!
//! Sums and products of two numbers are without error; an operation on two pairs loses less than 2^-100 of the greater operand
//! or of the product. No operation here is contracted or asks the system, so the results are the same everywhere. Products
//! hold where neither factor is above 2^990 nor the result below 2^-960.

use super::number::Number;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// 2^27 + 1: multiplying by it and taking that away leaves the upper 26 digits of a number.
const HALVING: f64 = 134_217_729.0;

/// See the file's header.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Pair<N = f64> {
    /// A number near it; the nearest where it is settled.
    pub high: N,
    /// What that lacks.
    pub low: N,
}

impl<N: Copy> Pair<N> {
    /// A pair of such numbers.
    pub const fn new(high: N, low: N) -> Pair<N> {
        Pair { high, low }
    }
}

impl<N: Number> Pair<N> {
    /// The sum of two numbers.
    #[inline(always)]
    pub fn sum(a: N, b: N) -> Pair<N> {
        let high = a + b;
        let part = high - a;
        Pair { high, low: (a - (high - part)) + (b - part) }
    }

    /// The pair times a power of two; what that is must be in the range of the type, digits and all.
    #[inline(always)]
    pub fn times_power(self, power: N) -> Pair<N> {
        Pair { high: self.high * power, low: self.low * power }
    }

    /// The nearest number.
    #[inline(always)]
    pub fn value(self) -> N {
        self.high + self.low
    }

    /// The pair whose first number is the nearest.
    #[inline(always)]
    pub fn settled(self) -> Pair<N> {
        let high = self.value();
        Pair { high, low: self.low - (high - self.high) }
    }

    /// The quotient of two pairs as a number, within one unit in the last place. Zero over anything is that zero.
    #[inline(always)]
    pub fn ratio(self, other: Pair<N>) -> N {
        let (above, below) = (self.settled(), other.settled());
        let near = above.high / below.high;
        near + (above.low - near * below.low) / below.high
    }

    /// `yes` where the condition holds, else `no`.
    #[inline(always)]
    pub fn select(condition: N::Truth, yes: Pair<N>, no: Pair<N>) -> Pair<N> {
        Pair { high: N::select(condition, yes.high, no.high), low: N::select(condition, yes.low, no.low) }
    }
}

impl Pair {
    /// A number.
    pub const fn of(x: f64) -> Pair {
        Pair { high: x, low: 0.0 }
    }

    /// The product of two numbers.
    #[inline(always)]
    pub fn product(a: f64, b: f64) -> Pair {
        let halves = |x: f64| {
            let upper = x * HALVING;
            let upper = upper - (upper - x);
            (upper, x - upper)
        };
        let (a_upper, a_lower) = halves(a);
        let (b_upper, b_lower) = halves(b);
        let high = a * b;
        let low = ((a_upper * b_upper - high) + a_upper * b_lower + a_lower * b_upper) + a_lower * b_lower;
        Pair { high, low }
    }

    /// The square root of a positive pair.
    #[inline(always)]
    pub fn sqrt(self) -> Pair {
        let near = self.value().sqrt();
        Pair { high: near, low: (self - Pair::product(near, near)).value() / (2.0 * near) }
    }

    /// The number nearest to the pair times 2^n.
    #[inline(always)]
    pub fn scaled(self, n: i32) -> f64 {
        libm::ldexp(self.value(), n)
    }
}

impl From<f64> for Pair {
    #[inline(always)]
    fn from(x: f64) -> Pair {
        Pair::of(x)
    }
}

impl Neg for Pair {
    type Output = Pair;
    #[inline(always)]
    fn neg(self) -> Pair {
        Pair { high: -self.high, low: -self.low }
    }
}

impl Add for Pair {
    type Output = Pair;
    #[inline(always)]
    fn add(self, other: Pair) -> Pair {
        let near = Pair::sum(self.high, other.high);
        Pair { high: near.high, low: near.low + (self.low + other.low) }
    }
}

impl<N: Number> Add<N> for Pair<N> {
    type Output = Pair<N>;
    #[inline(always)]
    fn add(self, other: N) -> Pair<N> {
        let near = Pair::sum(self.high, other);
        Pair { high: near.high, low: near.low + self.low }
    }
}

impl Sub for Pair {
    type Output = Pair;
    #[inline(always)]
    fn sub(self, other: Pair) -> Pair {
        self + -other
    }
}

impl Mul for Pair {
    type Output = Pair;
    #[inline(always)]
    fn mul(self, other: Pair) -> Pair {
        let near = Pair::product(self.high, other.high);
        Pair { high: near.high, low: near.low + (self.high * other.low + self.low * other.high) }
    }
}

impl Mul<f64> for Pair {
    type Output = Pair;
    #[inline(always)]
    fn mul(self, other: f64) -> Pair {
        let near = Pair::product(self.high, other);
        Pair { high: near.high, low: near.low + self.low * other }
    }
}

impl Div for Pair {
    type Output = Pair;
    #[inline(always)]
    fn div(self, other: Pair) -> Pair {
        let near = self.high / other.high;
        Pair { high: near, low: (self - other * near).value() / other.high }
    }
}

/// A polynomial of which the first coefficients are pairs, and the others count for so little of it that numbers will do.
#[inline(always)]
pub(super) fn polynomial_of_pairs<X, const N: usize, const M: usize>(
    x: X,
    first: [Pair; N],
    rest: [f64; M],
) -> Pair
where
    X: Copy + Into<Pair>,
    Pair: Mul<X, Output = Pair>,
{
    let near = x.into().value();
    let mut value = first[N - 1] + super::polynomial(near, rest) * near;
    let mut k = N - 1;
    while k > 0 {
        k -= 1;
        value = value * x + first[k];
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_products_keep_what_rounding_loses() {
        let tiny = 2f64.powi(-80);
        assert_eq!(Pair::sum(1.0, tiny), Pair::new(1.0, tiny));
        assert_eq!(Pair::sum(tiny, 1.0), Pair::new(1.0, tiny));
        // (1 + e)^2 = 1 + 2 e + e^2
        let e = f64::EPSILON;
        assert_eq!(Pair::product(1.0 + e, 1.0 + e), Pair::new(1.0 + 2.0 * e, e * e));
        assert_eq!((Pair::sum(1.0, tiny) - Pair::of(1.0)).settled(), Pair::of(tiny));
        assert_eq!((Pair::sum(1.0, tiny) * Pair::sum(1.0, -tiny)).low, 0.0);
    }

    #[test]
    fn a_third_times_three_is_one() {
        let third = Pair::of(1.0) / Pair::of(3.0);
        assert!((third * 3.0 - Pair::of(1.0)).value().abs() < 2f64.powi(-103));
        assert!((third - Pair::new(1.0 / 3.0, 1.850_371_707_708_594e-17)).value().abs() < 2f64.powi(-105));
    }
}
