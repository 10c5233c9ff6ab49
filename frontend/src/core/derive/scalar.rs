//! The derivative of each row of the table of scalar operations.
//!
//! A partial derivative is a linear map: forward mode applies it to a tangent, reverse mode to an adjoint. What has no
//! derivative, or only jumps, counts as constant; `docs/derivatives.md` lists what is decided at edge points.

use super::super::emit::FunState;
use super::super::ir::*;
use super::code::{is_zero, zero};
use galopvm_base::{ElemType, Scalar, ScalarOp};

/// The derivative of an operation by one of its operands.
#[derive(Clone, Copy, Debug)]
pub(super) enum Partial {
    /// Nothing depends on it.
    Zero,
    /// The result moves with it.
    One,
    /// The result moves against it.
    Minus,
    /// So many times.
    Factor(Atom),
    /// The result moves with it where a truth value is this one.
    Where(Atom, bool),
    /// The result is the operand's bits seen as another type.
    Bits,
}

/// How far the argument of the digamma function is moved to where its series is used.
const DIGAMMA_STEPS: u32 = 10;

/// The coefficients of that series: `B(2k) / 2k`, by even powers of the inverse.
const DIGAMMA_SERIES: [f64; 8] = [
    1.0 / 12.0,
    -1.0 / 120.0,
    1.0 / 252.0,
    -1.0 / 240.0,
    1.0 / 132.0,
    -691.0 / 32760.0,
    1.0 / 12.0,
    -3617.0 / 8160.0,
];

/// An operation at a point.
pub(super) struct Point<'p> {
    pub op: ScalarOp,
    pub ty: ElemType,
    pub args: &'p [Atom],
    /// What it gives there.
    pub value: Atom,
}

/// Whether the result of an operation can depend on an operand in a way that has a derivative.
pub(super) fn depends(op: ScalarOp, ty: ElemType, operand: usize) -> bool {
    use ScalarOp::*;
    match op {
        Add | Sub | Mul | Div | Mod | Min | Max | Neg | Abs | Sqrt | Fma | Rsqrt | Cbrt | Exp | Log
        | Log2 | Log10 | Log1p | Sin | Cos | Tan | Asin | Acos | Atan | Sinh | Cosh | Tanh | Asinh
        | Acosh | Atanh | Gamma | Lgamma | Erf | Erfc | Atan2 | Hypot | ToBits | FromBits | Not | Quot
        | Rem => true,
        Pow => operand == 0 || ty.is_float(),
        And | Or => ty == ElemType::Bool,
        Shl | Shr | Ushr | CopySign | NextAfter | Scale => operand == 0,
        Select => operand > 0,
        Xor | Eq | Ne | Lt | Le | Gt | Ge | Sgn | Popc | Clz | Ctz | MulHi | Floor | Ceil | Trunc | Round
        | IsNan | IsInf => false,
    }
}

impl FunState {
    /// The derivative at a point by one of the operands.
    pub(super) fn partial(&mut self, at: &Point<'_>, operand: usize) -> Partial {
        if !depends(at.op, at.ty, operand) {
            return Partial::Zero;
        }
        match *at.args {
            [a] => self.partial_of_one(at, a),
            [a, b] => self.partial_of_two(at, a, b, operand),
            [a, b, _] => match (at.op, operand) {
                (ScalarOp::Select, _) => Partial::Where(a, operand == 1),
                (_, 0) => Partial::Factor(b),
                (_, 1) => Partial::Factor(a),
                _ => Partial::One,
            },
            _ => Partial::Zero,
        }
    }

    fn partial_of_one(&mut self, at: &Point<'_>, a: Atom) -> Partial {
        use ScalarOp::*;
        let (ty, value) = (at.ty, at.value);
        let mut f = Formula { fun: self, ty };
        let factor = match at.op {
            Neg => return Partial::Minus,
            Not => return if ty == ElemType::Bool { Partial::One } else { Partial::Minus },
            ToBits | FromBits => return Partial::Bits,
            Lgamma => f.digamma(a),
            Gamma => {
                let slope = f.digamma(a);
                f.product(&[value, slope])
            }
            Abs => f.op(Sgn, &[a]),
            Sqrt => f.inverse_of(2.0, value),
            Rsqrt => {
                let cube = f.product(&[value, value, value]);
                f.times(-0.5, cube)
            }
            Cbrt => {
                let square = f.square(value);
                f.inverse_of(3.0, square)
            }
            Exp => value,
            Log => f.inverse_of(1.0, a),
            Log2 => f.inverse_of(std::f64::consts::LN_2, a),
            Log10 => f.inverse_of(std::f64::consts::LN_10, a),
            Log1p => {
                let sum = f.shifted(1.0, Add, a);
                f.inverse_of(1.0, sum)
            }
            Sin => f.op(Cos, &[a]),
            Cos => {
                let sine = f.op(Sin, &[a]);
                f.op(Neg, &[sine])
            }
            Tan => {
                let square = f.square(value);
                f.shifted(1.0, Add, square)
            }
            Asin | Acos => {
                let rest = f.unit_rest(a);
                let root = f.op(Sqrt, &[rest]);
                f.inverse_of(if at.op == Asin { 1.0 } else { -1.0 }, root)
            }
            Atan => {
                let square = f.square(a);
                let sum = f.shifted(1.0, Add, square);
                f.inverse_of(1.0, sum)
            }
            Atanh => {
                let rest = f.unit_rest(a);
                f.inverse_of(1.0, rest)
            }
            Sinh => f.op(Cosh, &[a]),
            Cosh => f.op(Sinh, &[a]),
            Tanh => {
                let square = f.square(value);
                f.shifted(1.0, Sub, square)
            }
            Asinh => {
                let one = f.number(1.0);
                let root = f.op(Hypot, &[one, a]);
                f.inverse_of(1.0, root)
            }
            Acosh => {
                let one = f.number(1.0);
                let (less, more) = (f.op(Sub, &[a, one]), f.op(Add, &[a, one]));
                let roots = [f.op(Sqrt, &[less]), f.op(Sqrt, &[more])];
                let root = f.product(&roots);
                f.inverse_of(1.0, root)
            }
            Erf | Erfc => {
                let square = f.square(a);
                let less = f.op(Neg, &[square]);
                let bell = f.op(Exp, &[less]);
                let sign = if at.op == Erf { 1.0 } else { -1.0 };
                f.times(sign * std::f64::consts::FRAC_2_SQRT_PI, bell)
            }
            _ => return Partial::Zero,
        };
        Partial::Factor(factor)
    }

    fn partial_of_two(&mut self, at: &Point<'_>, a: Atom, b: Atom, operand: usize) -> Partial {
        use ScalarOp::*;
        let (ty, value, first) = (at.ty, at.value, operand == 0);
        let mut f = Formula { fun: self, ty };
        let factor = match at.op {
            Sub if !first => return Partial::Minus,
            Add | Sub => return Partial::One,
            Mod | Rem | NextAfter if first => return Partial::One,
            Or => return if first { Partial::One } else { Partial::Zero },
            Min | Max => {
                let prefers = f.op(if at.op == Min { Le } else { Ge }, &[a, b]);
                return Partial::Where(prefers, first);
            }
            Mul | And => {
                if first {
                    b
                } else {
                    a
                }
            }
            Div | Quot if ty.is_float() => {
                if first {
                    f.inverse_of(1.0, b)
                } else {
                    let ratio = f.op(Div, &[value, b]);
                    f.op(Neg, &[ratio])
                }
            }
            Div | Quot => {
                // The square of the divisor may be zero, the divisor is not.
                let part = if first { f.number(1.0) } else { f.op(Quot, &[a, b]) };
                let ratio = f.op(Quot, &[part, b]);
                if first { ratio } else { f.op(Neg, &[ratio]) }
            }
            Mod | Rem => {
                let whole = if ty.is_float() {
                    // What was taken away is a multiple; the quotient itself may be rounded up to a whole number.
                    let taken = f.op(Sub, &[a, value]);
                    let ratio = f.op(Div, &[taken, b]);
                    f.op(Round, &[ratio])
                } else {
                    f.op(if at.op == Rem { Quot } else { Div }, &[a, b])
                };
                f.op(Neg, &[whole])
            }
            Pow => f.of_power(a, b, value, first),
            Shl | Shr | Ushr => {
                let one = f.number(1.0);
                f.op(at.op, &[one, b])
            }
            CopySign => {
                let one = f.number(1.0);
                let (here, there) = (f.op(CopySign, &[one, a]), f.op(CopySign, &[one, b]));
                f.product(&[here, there])
            }
            Scale => {
                let one = f.number(1.0);
                f.op(Scale, &[one, b])
            }
            Atan2 => {
                let length = f.op(Hypot, &[a, b]);
                let part = if first { b } else { f.op(Neg, &[a]) };
                let part = f.op(Div, &[part, length]);
                f.op(Div, &[part, length])
            }
            Hypot => f.op(Div, &[if first { a } else { b }, value]),
            _ => return Partial::Zero,
        };
        Partial::Factor(factor)
    }

    /// A partial derivative applied to a tangent of type `from`, or transposed to an adjoint of it; gives a value of type `to`.
    pub(super) fn through(
        &mut self,
        partial: Partial,
        (from, to): (ElemType, ElemType),
        moved: Atom,
    ) -> Atom {
        if is_zero(moved) {
            return zero(to);
        }
        match partial {
            Partial::Zero => zero(to),
            Partial::One => moved,
            Partial::Minus => self.scalar(ScalarOp::Neg, to, &[moved]),
            Partial::Factor(factor) if is_zero(factor) && !to.is_float() => zero(to),
            Partial::Factor(factor) if moved == Atom::Const(Scalar::from_int(to, 1)) => factor,
            Partial::Factor(factor) => {
                let op = if to == ElemType::Bool { ScalarOp::And } else { ScalarOp::Mul };
                self.scalar(op, to, &[moved, factor])
            }
            Partial::Where(cond, when) => {
                let (yes, no) = if when { (moved, zero(to)) } else { (zero(to), moved) };
                self.scalar(ScalarOp::Select, to, &[cond, yes, no])
            }
            Partial::Bits => {
                let op = if from.is_float() { ScalarOp::ToBits } else { ScalarOp::FromBits };
                self.scalar(op, from, &[moved])
            }
        }
    }
}

/// Arithmetic in one type.
struct Formula<'f> {
    fun: &'f mut FunState,
    ty: ElemType,
}

impl Formula<'_> {
    fn number(&self, value: f64) -> Atom {
        Atom::Const(match self.ty.is_float() {
            true => Scalar::from_f64(self.ty, value),
            false => Scalar::from_int(self.ty, value as i64),
        })
    }

    fn op(&mut self, op: ScalarOp, args: &[Atom]) -> Atom {
        self.fun.scalar(op, self.ty, args)
    }

    fn product(&mut self, factors: &[Atom]) -> Atom {
        let (first, rest) = (factors[0], &factors[1..]);
        rest.iter().fold(first, |product, factor| self.op(ScalarOp::Mul, &[product, *factor]))
    }

    fn square(&mut self, a: Atom) -> Atom {
        self.product(&[a, a])
    }

    fn times(&mut self, number: f64, a: Atom) -> Atom {
        let number = self.number(number);
        self.product(&[number, a])
    }

    /// `1 / (number * a)`
    fn inverse_of(&mut self, number: f64, a: Atom) -> Atom {
        let (sign, size) = (self.number(number.signum()), number.abs());
        let product = if size == 1.0 { a } else { self.times(size, a) };
        self.op(ScalarOp::Div, &[sign, product])
    }

    /// A number plus or minus `a`.
    fn shifted(&mut self, number: f64, op: ScalarOp, a: Atom) -> Atom {
        let number = self.number(number);
        self.op(op, &[number, a])
    }

    /// `1 - a * a`, exact near its zeros.
    fn unit_rest(&mut self, a: Atom) -> Atom {
        let (less, more) = (self.shifted(1.0, ScalarOp::Sub, a), self.shifted(1.0, ScalarOp::Add, a));
        self.product(&[less, more])
    }

    /// The derivative of the logarithm of the gamma function, computed with doubles: of `1 - a` where `a` is negative, and from
    /// ten further on, where its asymptotic series is good for all digits.
    fn digamma(&mut self, a: Atom) -> Atom {
        use ScalarOp::*;
        let ty = self.ty;
        let a = self.fun.convert(ty, ElemType::F64, a);
        let mut f = Formula { fun: self.fun, ty: ElemType::F64 };
        let none = f.number(0.0);
        let negative = f.op(Lt, &[a, none]);
        let mirrored = f.shifted(1.0, Sub, a);
        let from = f.op(Select, &[negative, mirrored, a]);
        let far = f.shifted(DIGAMMA_STEPS as f64, Add, from);
        let inverse = f.inverse_of(1.0, far);
        let square = f.square(inverse);
        let mut series = f.number(0.0);
        for term in DIGAMMA_SERIES.iter().rev() {
            let sum = f.shifted(*term, Add, series);
            series = f.product(&[square, sum]);
        }
        let (log, half) = (f.op(Log, &[far]), f.times(0.5, inverse));
        let corrections = f.op(Add, &[half, series]);
        let mut slope = f.op(Sub, &[log, corrections]);
        for step in (0..DIGAMMA_STEPS).rev() {
            let place = f.shifted(f64::from(step), Add, from);
            let part = f.inverse_of(1.0, place);
            slope = f.op(Sub, &[slope, part]);
        }
        let near = f.op(Round, &[a]);
        let rest = f.op(Sub, &[a, near]);
        let angle = f.times(std::f64::consts::PI, rest);
        let tangent = f.op(Tan, &[angle]);
        let turn = f.number(std::f64::consts::PI);
        let turn = f.op(Div, &[turn, tangent]);
        let other = f.op(Sub, &[slope, turn]);
        let slope = f.op(Select, &[negative, other, slope]);
        self.fun.convert(ElemType::F64, ty, slope)
    }

    /// A power by its base or its exponent.
    fn of_power(&mut self, base: Atom, exponent: Atom, value: Atom, by_base: bool) -> Atom {
        use ScalarOp::*;
        let (none, one) = (self.number(0.0), self.number(1.0));
        if !by_base {
            let (log, small) = (self.op(Log, &[base]), self.op(Le, &[base, none]));
            let log = self.op(Select, &[small, none, log]);
            return self.product(&[value, log]);
        }
        let less = self.op(Sub, &[exponent, one]);
        let power = if less == one { base } else { self.op(Pow, &[base, less]) };
        let slope = self.product(&[exponent, power]);
        if !self.ty.is_float() {
            return slope;
        }
        let (at_zero, flat) = (self.op(Eq, &[base, none]), self.op(Lt, &[exponent, one]));
        let edge = self.fun.scalar(And, ElemType::Bool, &[at_zero, flat]);
        self.op(Select, &[edge, none, slope])
    }
}
