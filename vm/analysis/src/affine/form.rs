//! An affine form: a constant and, for some iteration variables, how much one step of it changes the value.

use super::Range;
use galopvm_kir::{Region, VarId};
use smallvec::SmallVec;
use std::fmt::Write;

/// Most forms are numbers, or move with one or two variables.
type Terms = SmallVec<[(VarId, i64); 2]>;

/// `constant + sum coefficient * variable`.
#[derive(PartialEq, Eq, Hash, Debug, Default)]
pub struct Form {
    /// The value where all variables are 0.
    pub constant: i64,
    /// Sorted by variable; no coefficient is 0.
    terms: Terms,
}

impl Clone for Form {
    /// Copies the terms at once, which the derived one does one by one.
    fn clone(&self) -> Form {
        Form { constant: self.constant, terms: Terms::from_slice(&self.terms) }
    }
}

impl Form {
    /// A number.
    pub fn constant(value: i64) -> Form {
        Form { constant: value, terms: Terms::new() }
    }

    /// A variable.
    pub fn variable(var: VarId) -> Form {
        Form { constant: 0, terms: Terms::from_slice(&[(var, 1)]) }
    }

    /// The variables with their coefficients.
    pub fn terms(&self) -> &[(VarId, i64)] {
        &self.terms
    }

    /// The change of the value for one step of a variable.
    pub fn coefficient(&self, var: VarId) -> i64 {
        self.terms.iter().find(|(v, _)| *v == var).map_or(0, |(_, c)| *c)
    }

    /// The number, if it does not depend on any variable.
    pub fn number(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// `self * scale + other * other_scale`; nothing on overflow.
    pub fn combine(&self, scale: i64, other: &Form, other_scale: i64) -> Option<Form> {
        let sum = |a: i64, b: i64| a.checked_mul(scale)?.checked_add(b.checked_mul(other_scale)?);
        let mut result = Form::constant(sum(self.constant, other.constant)?);
        if self.terms.is_empty() && other.terms.is_empty() {
            return Some(result);
        }
        let (mut mine, mut theirs) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let (var, coefficient) = match (mine.peek(), theirs.peek()) {
                (None, None) => return Some(result),
                (Some(&&(a, x)), Some(&&(b, y))) if a == b => {
                    mine.next();
                    theirs.next();
                    (a, sum(x, y)?)
                }
                (Some(&&(a, x)), other) if other.is_none_or(|(b, _)| a < *b) => {
                    mine.next();
                    (a, sum(x, 0)?)
                }
                (_, other) => {
                    let Some(&&(b, y)) = other else { return Some(result) };
                    theirs.next();
                    (b, sum(0, y)?)
                }
            };
            if coefficient != 0 {
                result.terms.push((var, coefficient));
            }
        }
    }

    /// The sum.
    pub fn plus(&self, other: &Form) -> Option<Form> {
        self.combine(1, other, 1)
    }

    /// The difference.
    pub fn minus(&self, other: &Form) -> Option<Form> {
        self.combine(1, other, -1)
    }

    /// A multiple.
    pub fn times(&self, scale: i64) -> Option<Form> {
        self.combine(scale, &Form::default(), 0)
    }

    /// The product, if one of the two is a number.
    pub fn product(&self, other: &Form) -> Option<Form> {
        match (self.number(), other.number()) {
            (Some(scale), _) => other.times(scale),
            (_, Some(scale)) => self.times(scale),
            _ => None,
        }
    }

    /// The form with a form in place of a variable.
    pub fn substitute(&self, var: VarId, by: &Form) -> Option<Form> {
        let coefficient = self.coefficient(var);
        if coefficient == 0 {
            return Some(self.clone());
        }
        let mut rest = self.clone();
        rest.terms.retain(|(v, _)| *v != var);
        rest.combine(1, by, coefficient)
    }

    /// Least and greatest value over ranges of the variables; nothing if a variable has no range.
    pub fn interval(&self, ranges: &[Range]) -> Option<(i128, i128)> {
        let start = i128::from(self.constant);
        self.terms.iter().try_fold((start, start), |(low, high), (var, coefficient)| {
            let range = ranges.iter().find(|range| range.var == *var)?;
            let c = i128::from(*coefficient);
            let (a, b) = (c * i128::from(range.low), c * i128::from(range.high));
            Some((low + a.min(b), high + a.max(b)))
        })
    }

    /// The form in text, constant last: `r*2+c-1`.
    pub fn text(&self, region: &Region) -> String {
        let mut text = String::new();
        for (var, coefficient) in &self.terms {
            let sign = if *coefficient < 0 {
                "-"
            } else if text.is_empty() {
                ""
            } else {
                "+"
            };
            let _ = match coefficient.unsigned_abs() {
                1 => write!(text, "{sign}{}", region.name_of(*var)),
                many => write!(text, "{sign}{}*{many}", region.name_of(*var)),
            };
        }
        let _ = match (text.is_empty(), self.constant) {
            (true, constant) => write!(text, "{constant}"),
            (false, 0) => Ok(()),
            (false, constant) => write!(text, "{constant:+}"),
        };
        text
    }
}
