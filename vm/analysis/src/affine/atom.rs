//! The conditions that are followed exactly: an affine form is not negative, is zero, or has a residue.

use super::Form;
use galopvm_kir::{Region, VarId};

/// A condition on iteration variables.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Atom {
    /// The form is 0 or more.
    NotNegative(Form),
    /// The form is 0.
    Zero(Form),
    /// The form leaves this residue, which is at least 0 and below the modulus.
    Residue {
        /// What is divided.
        form: Form,
        /// By what; positive.
        modulus: i64,
        /// What is left.
        residue: i64,
    },
}

impl Atom {
    /// The form it speaks of.
    pub fn form(&self) -> &Form {
        match self {
            Atom::NotNegative(form) | Atom::Zero(form) | Atom::Residue { form, .. } => form,
        }
    }

    /// The same condition with a form in place of a variable; nothing on overflow.
    pub fn substitute(&self, var: VarId, by: &Form) -> Option<Atom> {
        let form = self.form().substitute(var, by)?;
        Some(match self {
            Atom::NotNegative(_) => Atom::NotNegative(form),
            Atom::Zero(_) => Atom::Zero(form),
            Atom::Residue { modulus, residue, .. } => {
                Atom::Residue { form, modulus: *modulus, residue: *residue }
            }
        })
    }

    /// The alternatives of which exactly one holds where this does not; nothing if there are too many or on
    /// overflow.
    pub fn negated(&self) -> Option<Vec<Atom>> {
        let below = |form: &Form| form.combine(-1, &Form::constant(1), -1).map(Atom::NotNegative);
        Some(match self {
            Atom::NotNegative(form) => vec![below(form)?],
            Atom::Zero(form) => {
                vec![below(form)?, Atom::NotNegative(form.minus(&Form::constant(1))?)]
            }
            Atom::Residue { form, modulus, residue } => {
                if usize::try_from(*modulus).is_ok_and(|m| m > super::MOST_PIECES) {
                    return None;
                }
                (0..*modulus)
                    .filter(|other| other != residue)
                    .map(|residue| Atom::Residue { form: form.clone(), modulus: *modulus, residue })
                    .collect()
            }
        })
    }

    /// The one variable it bounds from one side, with the side and the bound: `(i, above, 5)` is `i >= 5`.
    fn bound(&self) -> Option<(VarId, bool, i64)> {
        match self {
            Atom::NotNegative(form) => match form.terms() {
                [(var, 1)] => Some((*var, true, form.constant.checked_neg()?)),
                [(var, -1)] => Some((*var, false, form.constant)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The condition in text: `i>=20`, `i<40`, `(r+c)%2==0`.
    pub fn text(&self, region: &Region) -> String {
        match self {
            Atom::NotNegative(form) => match self.bound() {
                Some((var, true, low)) => format!("{}>={low}", region.name_of(var)),
                Some((var, false, high)) => {
                    format!("{}<{}", region.name_of(var), i128::from(high) + 1)
                }
                None => format!("{}>=0", form.text(region)),
            },
            Atom::Zero(form) => match form.terms() {
                [(var, 1)] => format!("{}=={}", region.name_of(*var), -i128::from(form.constant)),
                _ => format!("{}==0", form.text(region)),
            },
            Atom::Residue { form, modulus, residue } => match (form.terms(), form.constant) {
                ([(var, 1)], 0) => format!("{}%{modulus}=={residue}", region.name_of(*var)),
                _ => format!("({})%{modulus}=={residue}", form.text(region)),
            },
        }
    }
}

/// A conjunction in text, `{i>=20, i%2==0}`; bounds that a later or earlier one implies are left out.
pub(crate) fn conjunction_text(atoms: &[Atom], region: &Region) -> String {
    let implied = |at: usize| {
        let Some((var, above, limit)) = atoms[at].bound() else {
            return atoms[..at].contains(&atoms[at]);
        };
        atoms.iter().enumerate().any(|(k, other)| match other.bound() {
            Some((v, side, bound)) if v == var && side == above && k != at => {
                let stronger = if above { bound > limit } else { bound < limit };
                stronger || bound == limit && k < at
            }
            _ => false,
        })
    };
    let kept: Vec<String> =
        (0..atoms.len()).filter(|&at| !implied(at)).map(|at| atoms[at].text(region)).collect();
    format!("{{{}}}", kept.join(", "))
}
