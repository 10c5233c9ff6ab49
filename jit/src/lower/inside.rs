//! A vector of neighbours away from borders.
//!
//! Where the plan says so, the body of a kernel is there twice for the vectors across its lanes. Comparisons that come out alike
//! for all lanes, as they do in the middle of the axis, and remainders of what lies in the first period are asked once for the
//! whole vector; if all are as expected, the version without them runs: its reads are of neighbours, and its branches those
//! of one row. What is expected of a comparison is what it gives in the middle of all axes, for the numbers that the code is made
//! for.

use super::Lower;
use super::form::{extent, observed_scalar};
use super::value::{Factor, Rep, Value};
use crate::lir::build::Scope;
use crate::lir::{Bin, Cond, Op, Reg, Width};
use galopvm_base::{ElemType, Scalar, ScalarOp};
use galopvm_kir::borders::{Border, borders};
use galopvm_kir::{Body, Exp, Refusal, VarId};

/// The numbers of the lanes: the first and the last one.
#[derive(Clone, Copy)]
struct Ends {
    first: Reg,
    last: Reg,
}

/// What the code is made of.
type Work<'f, 'a> = &'f mut dyn FnMut(&mut Lower<'a>) -> Result<(), Refusal>;

impl<'a> Lower<'a> {
    /// The work on a vector of rows across the lanes of an axis, whose body is this.
    pub fn away_from_borders(&mut self, body: &Body, axis: VarId, work: Work<'_, 'a>) -> Result<(), Refusal> {
        if self.plan.inside() != Some(axis) {
            return work(self);
        }
        let (mut expected, mut tests) = (Vec::new(), Vec::new());
        for border in borders(body, axis) {
            if !border.reads.iter().all(|read| self.plan.is_unchecked(*read)) {
                continue;
            }
            if let Some(value) = self.expects(&border, &mut tests)? {
                expected.push((border.exp, value));
            }
        }
        let mut tests = tests.into_iter();
        let Some(first) = tests.next() else { return work(self) };
        let all = tests.fold(first, |all, test| self.b.op(Op::Alu(Bin::And, Width::W64), &[all, test]));
        let (inside, at_border, join) = (self.b.block(), self.b.block(), self.b.block());
        let outside = self.b.current();
        for (label, expected) in [(inside, expected), (at_border, Vec::new())] {
            self.b.open_from(Scope::Branch, outside);
            self.b.start(label);
            self.expected = expected;
            work(self)?;
            self.b.close();
            self.b.end(Op::Jump(join), &[]);
        }
        self.b.end_of(outside, Op::BranchBool(inside, at_border), &[all]);
        self.b.start(join);
        Ok(())
    }

    /// The value of an expression that was asked for all lanes.
    pub fn expected(&self, exp: &Exp) -> Option<Value> {
        self.expected.iter().find(|(known, _)| known == exp).map(|(_, value)| value.clone())
    }

    /// What a border is away from it, with tests that tell whether it is that for all lanes.
    fn expects(&mut self, border: &Border, tests: &mut Vec<Reg>) -> Result<Option<Value>, Refusal> {
        let [left, right] = &border.operands;
        let likely = match border.op {
            ScalarOp::Mod => None,
            op => match self.in_the_middle(op, left, right) {
                Some(likely) => Some(likely),
                None => return Ok(None),
            },
        };
        let (left, right) = (self.exp(left)?, self.exp(right)?);
        let is_linear = |value: &Value| matches!(value.rep, Rep::Linear { step: Factor::Const(1), .. });
        let (moving, other) = if is_linear(&left) { (&left, &right) } else { (&right, &left) };
        if !is_linear(moving) || other.varies() {
            return Ok(None);
        }
        let (ends, at) = (self.ends(moving), self.uniform(other));
        let is_left = is_linear(&left);
        match (border.op, likely) {
            (ScalarOp::Mod, _) => {
                let zero = self.b.int(0);
                tests.push(self.holds(Cond::Lt, zero, at));
                tests.push(self.holds(Cond::Below, ends.first, at));
                tests.push(self.holds(Cond::Below, ends.last, at));
                return Ok(Some(moving.clone()));
            }
            (ScalarOp::Eq, Some(false)) | (ScalarOp::Ne, Some(true)) => {
                let lanes = self.b.int(self.lane_count() as i64);
                let distance = self.b.op(Op::Alu(Bin::Sub, Width::W64), &[at, ends.first]);
                tests.push(self.holds(Cond::BelowEq, lanes, distance));
            }
            (ScalarOp::Lt | ScalarOp::Le, Some(likely)) => {
                let (same, less) = (Cond::Le, Cond::Lt);
                // `a < b` and not `b <= a`, and the other way round; the lane that is nearest to the border decides.
                let (cond, is_before) = match (border.op, likely) {
                    (ScalarOp::Lt, true) => (less, is_left),
                    (ScalarOp::Le, true) => (same, is_left),
                    (ScalarOp::Lt, false) => (same, !is_left),
                    _ => (less, !is_left),
                };
                tests.push(match is_before {
                    true => self.holds(cond, ends.last, at),
                    false => self.holds(cond, at, ends.first),
                });
                tests.push(self.holds(Cond::Le, ends.first, ends.last));
            }
            _ => return Ok(None),
        }
        let bits = u64::from(likely == Some(true));
        Ok(Some(Value::constant(Scalar::new(ElemType::Bool, bits))))
    }

    /// Whether a comparison of two numbers holds.
    pub fn holds(&mut self, cond: Cond, a: Reg, b: Reg) -> Reg {
        self.b.op(Op::Set(cond, Width::W64), &[a, b])
    }

    fn ends(&mut self, moving: &Value) -> Ends {
        let first = self.uniform(moving);
        let lanes = self.lane_count() as i32;
        Ends { first, last: self.b.op(Op::AluImm(Bin::Add, Width::W64, lanes - 1), &[first]) }
    }

    /// What a comparison gives in the middle of all axes.
    fn in_the_middle(&self, op: ScalarOp, left: &Exp, right: &Exp) -> Option<bool> {
        let axes = self.region.region().axes();
        let number = |var: VarId| match axes.iter().find(|axis| axis.var == var) {
            Some(axis) => Some(Scalar::i64(extent(self.region, self.observed, &axis.bound)? / 2)),
            None => observed_scalar(self.region, self.observed, var),
        };
        let (left, right) = (self.region.size_with(left, &number)?, self.region.size_with(right, &number)?);
        match op {
            ScalarOp::Eq => Some(left == right),
            ScalarOp::Ne => Some(left != right),
            ScalarOp::Lt => Some(left < right),
            ScalarOp::Le => Some(left <= right),
            _ => None,
        }
    }
}
