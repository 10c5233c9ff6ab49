//! Numbers with multiples of swept iteration variables.

/// A constant and multiples of variables, which are swept together. Variables are numbered.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Form {
    pub constant: i64,
    /// By number; no multiple is 0.
    pub terms: Vec<(u32, i64)>,
}

impl Form {
    pub fn number(constant: i64) -> Form {
        Form { constant, terms: Vec::new() }
    }

    pub fn axis(axis: u32) -> Form {
        Form { constant: 0, terms: vec![(axis, 1)] }
    }

    /// The number, if it is one.
    pub fn as_number(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// `self + by * other`; nothing on overflow.
    pub fn plus(&self, other: &Form, by: i64) -> Option<Form> {
        let constant = self.constant.checked_add(other.constant.checked_mul(by)?)?;
        let mut terms = self.terms.clone();
        for (axis, step) in &other.terms {
            let step = step.checked_mul(by)?;
            match terms.binary_search_by_key(axis, |(other, _)| *other) {
                Ok(at) => terms[at].1 = terms[at].1.checked_add(step)?,
                Err(at) => terms.insert(at, (*axis, step)),
            }
        }
        terms.retain(|(_, step)| *step != 0);
        Some(Form { constant, terms })
    }

    /// What a variable is multiplied by.
    pub fn step(&self, axis: u32) -> i64 {
        self.terms.iter().find(|(other, _)| *other == axis).map_or(0, |(_, step)| *step)
    }
}
