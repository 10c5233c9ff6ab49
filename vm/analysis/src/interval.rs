//! Ranges of integers, and what operations make of them.
//!
//! A range always holds every value the expression can have. Arithmetic is done in 128 bits; where a result may
//! leave its type it wraps, so nothing is known of it.

use galopvm_base::{ElemType, ScalarOp};
use std::fmt;

/// All integers from `low` to `high`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Interval {
    /// The least.
    pub low: i128,
    /// The greatest.
    pub high: i128,
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.single() {
            Some(value) => write!(f, "{value}"),
            None if *self == Interval::of_type(ElemType::I64) => f.write_str("any"),
            None => write!(f, "{}..{}", self.low, self.high),
        }
    }
}

impl Interval {
    /// One value.
    pub fn point(value: i128) -> Interval {
        Interval { low: value, high: value }
    }

    /// Everything an integer or bool of this type can be. (Floats: not meaningful, and never asked for.)
    pub fn of_type(ty: ElemType) -> Interval {
        match ty {
            ElemType::Bool => Interval { low: 0, high: 1 },
            ty if ty.is_signed() => {
                let half = 1i128 << (ty.bits() - 1);
                Interval { low: -half, high: half - 1 }
            }
            ty => Interval { low: 0, high: i128::from(ty.mask()) },
        }
    }

    /// The value, if there is only one.
    pub fn single(self) -> Option<i128> {
        (self.low == self.high).then_some(self.low)
    }

    /// True if everything in the range lies in the other.
    pub fn lies_in(self, other: Interval) -> bool {
        other.low <= self.low && self.high <= other.high
    }

    /// The smallest range around both.
    pub fn join(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// What is in both; `None` if that is nothing.
    pub fn meet(self, other: Interval) -> Option<Interval> {
        let both = Interval { low: self.low.max(other.low), high: self.high.min(other.high) };
        (both.low <= both.high).then_some(both)
    }

    /// The smallest range around some numbers.
    fn around(numbers: &[i128]) -> Option<Interval> {
        Some(Interval { low: *numbers.iter().min()?, high: *numbers.iter().max()? })
    }
}

/// The range of an operation's value, from the ranges of its operands; `ty` is their type.
pub fn apply(op: ScalarOp, ty: ElemType, args: &[Interval]) -> Interval {
    let result = op.result_type(ty);
    let all = Interval::of_type(result);
    if !ty.is_int() && ty != ElemType::Bool {
        return all;
    }
    match exact(op, ty, args) {
        Some(range) if range.lies_in(all) => range,
        _ => all,
    }
}

/// The range before wrapping, if it is known.
fn exact(op: ScalarOp, ty: ElemType, args: &[Interval]) -> Option<Interval> {
    let a = *args.first()?;
    let b = || args.get(1).copied();
    let corners = |f: &dyn Fn(i128, i128) -> Option<i128>| {
        let b = b()?;
        let values = [f(a.low, b.low)?, f(a.low, b.high)?, f(a.high, b.low)?, f(a.high, b.high)?];
        Interval::around(&values)
    };
    match op {
        ScalarOp::Add => Some(Interval { low: a.low + b()?.low, high: a.high + b()?.high }),
        ScalarOp::Sub => Some(Interval { low: a.low - b()?.high, high: a.high - b()?.low }),
        ScalarOp::Mul => corners(&|x, y| x.checked_mul(y)),
        ScalarOp::Neg => Some(Interval { low: -a.high, high: -a.low }),
        ScalarOp::Min => Some(Interval { low: a.low.min(b()?.low), high: a.high.min(b()?.high) }),
        ScalarOp::Max => Some(Interval { low: a.low.max(b()?.low), high: a.high.max(b()?.high) }),
        ScalarOp::Abs => {
            let least = if a.low <= 0 && a.high >= 0 { 0 } else { a.low.abs().min(a.high.abs()) };
            Some(Interval { low: least, high: a.low.abs().max(a.high.abs()) })
        }
        ScalarOp::Sgn => Some(Interval { low: a.low.signum(), high: a.high.signum() }),
        // A divisor of one sign: quotients are extreme at the corners.
        ScalarOp::Div | ScalarOp::Quot if !(b()?.low <= 0 && b()?.high >= 0) => {
            if op == ScalarOp::Div {
                corners(&|x, y| Some(floor_div(x, y)))
            } else {
                corners(&|x, y| x.checked_div(y))
            }
        }
        ScalarOp::Mod if b()?.low > 0 => {
            let b = b()?;
            if a.low >= 0 && a.high < b.low {
                return Some(a);
            }
            let high = if a.low >= 0 { a.high.min(b.high - 1) } else { b.high - 1 };
            Some(Interval { low: 0, high })
        }
        ScalarOp::Mod if b()?.high < 0 => Some(Interval { low: b()?.low + 1, high: 0 }),
        ScalarOp::Rem if !(b()?.low <= 0 && b()?.high >= 0) => {
            let reach = b()?.low.abs().max(b()?.high.abs()) - 1;
            let low = if a.low >= 0 { 0 } else { (-reach).max(a.low) };
            let high = if a.high <= 0 { 0 } else { reach.min(a.high) };
            Some(Interval { low, high })
        }
        // With a value of no sign the result has at most the bits that both may have.
        ScalarOp::And if a.low >= 0 && b()?.low >= 0 => {
            Some(Interval { low: 0, high: a.high.min(b()?.high) })
        }
        ScalarOp::And if b()?.low >= 0 => Some(Interval { low: 0, high: b()?.high }),
        ScalarOp::And if a.low >= 0 => Some(Interval { low: 0, high: a.high }),
        ScalarOp::Or | ScalarOp::Xor if a.low >= 0 && b()?.low >= 0 => {
            let bits = 128 - (a.high | b()?.high).leading_zeros();
            Some(Interval { low: 0, high: (1i128 << bits) - 1 })
        }
        ScalarOp::Shl => {
            let count = shift(b()?, ty)?;
            Some(Interval { low: a.low << count.min(63), high: a.high << count.min(63) })
        }
        ScalarOp::Shr => {
            let count = shift(b()?, ty)?;
            Some(Interval { low: a.low >> count, high: a.high >> count })
        }
        ScalarOp::Ushr if a.low >= 0 => {
            let count = shift(b()?, ty)?;
            Some(Interval { low: a.low >> count, high: a.high >> count })
        }
        ScalarOp::Select => Some(args.get(1)?.join(*args.get(2)?)),
        ScalarOp::Popc | ScalarOp::Clz | ScalarOp::Ctz => {
            Some(Interval { low: 0, high: i128::from(ty.bits()) })
        }
        _ => None,
    }
}

/// A known shift count below the width of the type.
fn shift(count: Interval, ty: ElemType) -> Option<u32> {
    let count = u32::try_from(count.single()?).ok()?;
    (count < ty.bits()).then_some(count)
}

fn floor_div(x: i128, y: i128) -> i128 {
    let quotient = x / y;
    if x % y != 0 && (x < 0) != (y < 0) { quotient - 1 } else { quotient }
}

/// The range of a conversion's value.
pub fn convert(from: ElemType, to: ElemType, value: Interval) -> Interval {
    let all = Interval::of_type(to);
    match to {
        ElemType::Bool if value.low > 0 || value.high < 0 => Interval::point(1),
        ElemType::Bool => all,
        _ if from.is_float() => all,
        _ if value.lies_in(all) => value,
        _ => all,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use galopvm_base::Scalar;
    use galopvm_base::scalar::eval;

    /// Every operation on every pair of small ranges, against every value in them.
    #[test]
    fn ranges_hold_every_value() {
        let ranges: Vec<(i64, i64)> =
            vec![(-7, -3), (-3, 2), (0, 0), (1, 1), (0, 5), (3, 6), (-128, -120), (120, 127), (-128, 127)];
        for op in ScalarOp::ALL.iter().copied().filter(|op| op.accepts(ElemType::I8) && op.arity() == 2) {
            for &(al, ah) in &ranges {
                for &(bl, bh) in &ranges {
                    let range = |l: i64, h: i64| Interval { low: l.into(), high: h.into() };
                    let found = apply(op, ElemType::I8, &[range(al, ah), range(bl, bh)]);
                    for x in al..=ah {
                        for y in bl..=bh {
                            let bits = |v| Scalar::from_int(ElemType::I8, v).bits;
                            let Ok(value) = eval(op, ElemType::I8, &[bits(x), bits(y)]) else { continue };
                            let value = Scalar::new(op.result_type(ElemType::I8), value).as_i64();
                            let point = Interval::point(value.into());
                            assert!(point.lies_in(found), "{op} {x} {y} = {value}, found {found}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn unary_ranges_hold_every_value() {
        for op in ScalarOp::ALL.iter().copied().filter(|op| op.accepts(ElemType::I8) && op.arity() == 1) {
            for low in -128i64..128 {
                for high in [low, (low + 9).min(127), 127] {
                    let found = apply(op, ElemType::I8, &[Interval { low: low.into(), high: high.into() }]);
                    for x in low..=high {
                        let bits = eval(op, ElemType::I8, &[Scalar::from_int(ElemType::I8, x).bits]);
                        let value = Scalar::new(op.result_type(ElemType::I8), bits.unwrap()).as_i64();
                        assert!(
                            Interval::point(value.into()).lies_in(found),
                            "{op} {x} = {value}, found {found}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn conversions_hold_every_value() {
        for (from, to) in
            [(ElemType::I16, ElemType::I8), (ElemType::I8, ElemType::U8), (ElemType::U8, ElemType::Bool)]
        {
            for low in [-128i64, -3, 0, 1, 100] {
                let low = low.max(Interval::of_type(from).low as i64);
                let found = convert(from, to, Interval { low: low.into(), high: (low + 20).into() });
                for x in low..=low + 20 {
                    let bits = galopvm_base::scalar::convert(from, to, Scalar::from_int(from, x).bits);
                    let value = Scalar::new(to, bits).as_i64();
                    assert!(Interval::point(value.into()).lies_in(found), "{from} {to} {x}: {value} {found}");
                }
            }
        }
    }
}
