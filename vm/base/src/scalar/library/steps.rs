//! The library's functions without branches as steps, for back ends that make code of them.
//!
//! A function is run once on nodes instead of numbers: each operation appends a step and gives the node of its result. So the
//! steps are those that `f64` takes in the same function, in the same order; who executes them as they stand gets the same
//! bits (NaNs apart). On `f32` the operands are widened first and the value is rounded last.

use super::number::{Number, Quick, Word};
use super::{double, single};
use crate::elem::ElemType;
use crate::scalar::ScalarOp;
use std::cell::RefCell;
use std::fmt;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// The number of a step: its result.
pub type At = usize;

/// A step. Numbers are `f64`, words are their bits, truths are what comparisons give.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// An operand of the function, as a number.
    Operand(usize),
    /// The number that has these bits.
    Constant(u64),
    /// Number: a sum.
    Add(At, At),
    /// Number: a difference.
    Sub(At, At),
    /// Number: a product.
    Mul(At, At),
    /// Number: a quotient.
    Div(At, At),
    /// Number: a square root.
    Sqrt(At),
    /// Number: with the other sign.
    Neg(At),
    /// Number: without its sign.
    Abs(At),
    /// Number: the first with the sign of the second.
    CopySign(At, At),
    /// Truth: the first number is less.
    Less(At, At),
    /// Truth: the first number is less, or they are equal.
    LessOrEqual(At, At),
    /// Truth: two numbers are equal.
    Equal(At, At),
    /// Truth: both are true.
    Both(At, At),
    /// Truth: one of them is true.
    Either(At, At),
    /// Truth: it is false.
    Not(At),
    /// Number: the second where the first, a truth, holds; else the third.
    Select(At, At, At),
    /// Word: the bits of a number.
    Word(At),
    /// Number: the one with these bits.
    Number(At),
    /// Word: a sum that wraps.
    Plus(At, u64),
    /// Word: the bits that are set in both.
    And(At, u64),
    /// Word: the bits that are set in one of them.
    Or(At, u64),
    /// Word: the bits in which they differ.
    Xor(At, At),
    /// Word: shifted left.
    ShiftLeft(At, u32),
    /// Word: shifted right, zeros come in.
    ShiftRight(At, u32),
    /// Truth: no bit of a word is set.
    IsZero(At),
}

/// A function in steps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Steps {
    /// Each uses results of those before it.
    pub steps: Vec<Step>,
    /// The value.
    pub value: At,
    /// Whether that is known, or else the operation's general function has to say it; none: it always is.
    pub known: Option<At>,
}

/// The steps of an operation on a type, if it has a form without branches.
pub fn steps_of(op: ScalarOp, ty: ElemType) -> Option<Steps> {
    let recorder = Recorder::default();
    let operand = |k| recorder.add(Step::Operand(k));
    let quick = match (ty, op.arity()) {
        (ElemType::F32, 1) => single::function1(op, operand(0)),
        (ElemType::F32, 2) => single::function2(op, operand(0), operand(1)),
        (ElemType::F64, 1) => double::function1(op, operand(0)),
        _ => None,
    };
    let Quick { value, known } = quick?;
    let (value, known) = (value.at, known.map(|truth| truth.at));
    Some(Steps { steps: recorder.0.into_inner(), value, known })
}

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.steps.iter().enumerate() {
            match step {
                Step::Constant(bits) => writeln!(f, "{at}: Constant({:?})", f64::from_bits(*bits))?,
                _ => writeln!(f, "{at}: {step:?}")?,
            }
        }
        match self.known {
            Some(known) => writeln!(f, "{} if {known}", self.value),
            None => writeln!(f, "{}", self.value),
        }
    }
}

/// The steps so far.
#[derive(Default)]
struct Recorder(RefCell<Vec<Step>>);

/// The result of a step: a number, a word or a truth.
#[derive(Clone, Copy)]
struct Node<'r> {
    recorder: &'r Recorder,
    at: At,
}

impl Recorder {
    /// A step that was taken is not taken again.
    fn add(&self, step: Step) -> Node<'_> {
        let mut steps = self.0.borrow_mut();
        let at = steps.iter().position(|taken| *taken == step).unwrap_or_else(|| {
            steps.push(step);
            steps.len() - 1
        });
        Node { recorder: self, at }
    }
}

macro_rules! operators {
    ($($operator:ident $function:ident $step:ident),+) => {$(
        impl<'r> $operator for Node<'r> {
            type Output = Node<'r>;
            fn $function(self, other: Node<'r>) -> Node<'r> {
                self.recorder.add(Step::$step(self.at, other.at))
            }
        }
    )+};
}

macro_rules! operators_with_constants {
    ($($operator:ident $function:ident),+) => {$(
        impl<'r> $operator<f64> for Node<'r> {
            type Output = Node<'r>;
            fn $function(self, other: f64) -> Node<'r> {
                $operator::$function(self, self.constant(other))
            }
        }
    )+};
}

operators!(Add add Add, Sub sub Sub, Mul mul Mul, Div div Div, BitAnd bitand Both, BitOr bitor Either);
operators_with_constants!(Add add, Sub sub, Mul mul);

impl<'r> Neg for Node<'r> {
    type Output = Node<'r>;
    fn neg(self) -> Node<'r> {
        self.recorder.add(Step::Neg(self.at))
    }
}

impl<'r> Not for Node<'r> {
    type Output = Node<'r>;
    fn not(self) -> Node<'r> {
        self.recorder.add(Step::Not(self.at))
    }
}

impl<'r> Number for Node<'r> {
    type Truth = Node<'r>;
    type Word = Node<'r>;

    fn constant(self, value: f64) -> Node<'r> {
        self.recorder.add(Step::Constant(value.to_bits()))
    }

    fn sqrt(self) -> Node<'r> {
        self.recorder.add(Step::Sqrt(self.at))
    }

    fn abs(self) -> Node<'r> {
        self.recorder.add(Step::Abs(self.at))
    }

    fn copysign(self, sign: Node<'r>) -> Node<'r> {
        self.recorder.add(Step::CopySign(self.at, sign.at))
    }

    fn word(self) -> Node<'r> {
        self.recorder.add(Step::Word(self.at))
    }

    fn of_word(word: Node<'r>) -> Node<'r> {
        word.recorder.add(Step::Number(word.at))
    }

    fn less(self, other: Node<'r>) -> Node<'r> {
        self.recorder.add(Step::Less(self.at, other.at))
    }

    fn less_or_equal(self, other: Node<'r>) -> Node<'r> {
        self.recorder.add(Step::LessOrEqual(self.at, other.at))
    }

    fn equal(self, other: Node<'r>) -> Node<'r> {
        self.recorder.add(Step::Equal(self.at, other.at))
    }

    fn select(condition: Node<'r>, yes: Node<'r>, no: Node<'r>) -> Node<'r> {
        condition.recorder.add(Step::Select(condition.at, yes.at, no.at))
    }
}

impl<'r> Word for Node<'r> {
    type Truth = Node<'r>;

    fn plus(self, other: u64) -> Node<'r> {
        self.recorder.add(Step::Plus(self.at, other))
    }

    fn and(self, other: u64) -> Node<'r> {
        self.recorder.add(Step::And(self.at, other))
    }

    fn or(self, other: u64) -> Node<'r> {
        self.recorder.add(Step::Or(self.at, other))
    }

    fn xor(self, other: Node<'r>) -> Node<'r> {
        self.recorder.add(Step::Xor(self.at, other.at))
    }

    fn shifted_left(self, count: u32) -> Node<'r> {
        self.recorder.add(Step::ShiftLeft(self.at, count))
    }

    fn shifted_right(self, count: u32) -> Node<'r> {
        self.recorder.add(Step::ShiftRight(self.at, count))
    }

    fn is_zero(self) -> Node<'r> {
        self.recorder.add(Step::IsZero(self.at))
    }
}

#[cfg(test)]
#[path = "steps_tests.rs"]
mod tests;
