//! What the library's functions without branches are made of, so that one text of a function serves two purposes: on `f64`
//! it computes, on the nodes of `steps.rs` it tells its steps to whoever makes code of them.
//!
//! A number is an `f64`; its word is its bits; a truth is what a comparison gives. Nothing here branches: what a condition
//! decides is selected. Two NaNs may differ in their bits from one implementation to the other, nothing else.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// A number, with constants as second operands.
pub(super) trait Number:
    Copy
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
{
    /// What a comparison gives.
    type Truth: Copy + BitAnd<Output = Self::Truth> + BitOr<Output = Self::Truth> + Not<Output = Self::Truth>;

    /// The bits of a number.
    type Word: Word<Truth = Self::Truth>;

    /// A constant, where this number is.
    fn constant(self, value: f64) -> Self;

    fn sqrt(self) -> Self;

    fn abs(self) -> Self;

    /// The magnitude of this number with the sign of another.
    fn copysign(self, sign: Self) -> Self;

    fn word(self) -> Self::Word;

    fn of_word(word: Self::Word) -> Self;

    /// `self < other`
    fn less(self, other: Self) -> Self::Truth;

    /// `self <= other`
    fn less_or_equal(self, other: Self) -> Self::Truth;

    /// `self == other`
    fn equal(self, other: Self) -> Self::Truth;

    /// `yes` where the condition holds, else `no`.
    fn select(condition: Self::Truth, yes: Self, no: Self) -> Self;

    #[inline(always)]
    fn is(self, bound: f64) -> Self::Truth {
        self.equal(self.constant(bound))
    }

    #[inline(always)]
    fn is_below(self, bound: f64) -> Self::Truth {
        self.less(self.constant(bound))
    }

    #[inline(always)]
    fn is_above(self, bound: f64) -> Self::Truth {
        self.constant(bound).less(self)
    }

    #[inline(always)]
    fn is_at_most(self, bound: f64) -> Self::Truth {
        self.less_or_equal(self.constant(bound))
    }

    #[inline(always)]
    fn is_at_least(self, bound: f64) -> Self::Truth {
        self.constant(bound).less_or_equal(self)
    }
}

/// 64 bits.
pub(super) trait Word: Copy {
    /// What a comparison gives.
    type Truth;

    /// The sum, which wraps.
    fn plus(self, other: u64) -> Self;

    fn and(self, other: u64) -> Self;

    fn or(self, other: u64) -> Self;

    fn xor(self, other: Self) -> Self;

    fn shifted_left(self, count: u32) -> Self;

    /// Zeros come in.
    fn shifted_right(self, count: u32) -> Self;

    fn is_zero(self) -> Self::Truth;
}

/// The result of a function without branches.
#[derive(Clone, Copy)]
pub(super) struct Quick<N: Number> {
    /// The value, if it is known.
    pub value: N,
    /// Whether it is; none: always.
    pub known: Option<N::Truth>,
}

impl<N: Number> Quick<N> {
    /// A value that is known for every argument.
    #[inline(always)]
    pub fn always(value: N) -> Quick<N> {
        Quick { value, known: None }
    }

    /// A value that is known where a condition holds.
    #[inline(always)]
    pub fn where_known(known: N::Truth, value: N) -> Quick<N> {
        Quick { value, known: Some(known) }
    }
}

impl Number for f64 {
    type Truth = bool;
    type Word = u64;

    #[inline(always)]
    fn constant(self, value: f64) -> f64 {
        value
    }

    #[inline(always)]
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }

    #[inline(always)]
    fn abs(self) -> f64 {
        f64::abs(self)
    }

    #[inline(always)]
    fn copysign(self, sign: f64) -> f64 {
        f64::copysign(self, sign)
    }

    #[inline(always)]
    fn word(self) -> u64 {
        self.to_bits()
    }

    #[inline(always)]
    fn of_word(word: u64) -> f64 {
        f64::from_bits(word)
    }

    #[inline(always)]
    fn less(self, other: f64) -> bool {
        self < other
    }

    #[inline(always)]
    fn less_or_equal(self, other: f64) -> bool {
        self <= other
    }

    #[inline(always)]
    fn equal(self, other: f64) -> bool {
        self == other
    }

    #[inline(always)]
    fn select(condition: bool, yes: f64, no: f64) -> f64 {
        if condition { yes } else { no }
    }
}

impl Word for u64 {
    type Truth = bool;

    #[inline(always)]
    fn plus(self, other: u64) -> u64 {
        self.wrapping_add(other)
    }

    #[inline(always)]
    fn and(self, other: u64) -> u64 {
        self & other
    }

    #[inline(always)]
    fn or(self, other: u64) -> u64 {
        self | other
    }

    #[inline(always)]
    fn xor(self, other: u64) -> u64 {
        self ^ other
    }

    #[inline(always)]
    fn shifted_left(self, count: u32) -> u64 {
        self << count
    }

    #[inline(always)]
    fn shifted_right(self, count: u32) -> u64 {
        self >> count
    }

    #[inline(always)]
    fn is_zero(self) -> bool {
        self == 0
    }
}
