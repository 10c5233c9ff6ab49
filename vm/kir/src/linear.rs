//! Index arithmetic as sums of names, to tell how far two indices are apart, and how far neighbours along an axis.
//!
//! Sums wrap as those of `i64` do, so a distance holds for all values of the names. Two places inside an array that are so far
//! apart by wrapping sums are so far apart.

use crate::ir::{Body, DimIndex, Exp, Index, Read, Rhs, VarId};
use galopvm_base::{ElemType, ScalarOp};
use std::collections::{BTreeMap, HashMap};

/// Operations and definitions that are looked through on the way to a sum at most: a name that is used twice in each of them is
/// spelled out no more than some hundred times.
const DEEPEST: usize = 16;

/// The scalar definitions of a body, those of bodies inside included.
pub struct Definitions<'a>(HashMap<VarId, &'a Exp>);

impl<'a> Definitions<'a> {
    /// Those of a body.
    pub fn of(body: &'a Body) -> Definitions<'a> {
        let mut found = HashMap::new();
        body.visit_stms(&mut |stm| {
            if let Rhs::Exps(exps) = &stm.rhs {
                found.extend(stm.pat.iter().copied().zip(exps));
            }
        });
        Definitions(found)
    }

    /// What a name is defined as.
    pub fn get(&self, var: VarId) -> Option<&'a Exp> {
        self.0.get(&var).copied()
    }
}

/// How much an `i64` grows with each step along an axis, if that is always the same. Names that loops hand on and that reductions
/// give count as the same for all: enough for prices.
pub fn growth(exp: &Exp, axis: VarId, definitions: &Definitions<'_>) -> Option<i64> {
    growth_within(exp, axis, definitions, DEEPEST)
}

fn growth_within(exp: &Exp, axis: VarId, definitions: &Definitions<'_>, depth: usize) -> Option<i64> {
    let depth = depth.checked_sub(1)?;
    let of = |exp: &Exp| growth_within(exp, axis, definitions, depth);
    match exp {
        Exp::Var(var) if *var == axis => Some(1),
        Exp::Var(var) => definitions.get(*var).map_or(Some(0), of),
        Exp::Op(ScalarOp::Add, ElemType::I64, args) => Some(of(&args[0])?.wrapping_add(of(&args[1])?)),
        Exp::Op(ScalarOp::Sub, ElemType::I64, args) => Some(of(&args[0])?.wrapping_sub(of(&args[1])?)),
        _ => {
            let mut is_same = true;
            exp.each_part(&mut |part| is_same &= of(part) == Some(0));
            is_same.then_some(0)
        }
    }
}

/// Whether neighbouring lanes along an axis read one element, or neighbouring ones.
pub fn reads_neighbours(read: &Read, lane: VarId, definitions: &Definitions<'_>) -> bool {
    let Index::Dims(dims) = &read.index else { return false };
    let moves = |dim: &DimIndex| match dim {
        DimIndex::At(at) => growth(at, lane, definitions),
        DimIndex::Slice { .. } => None,
    };
    dims.split_last().is_some_and(|(last, others)| {
        others.iter().all(|dim| moves(dim) == Some(0)) && matches!(moves(last), Some(0 | 1))
    })
}

/// `constant + sum coefficient * name`, with names that no definition says more of.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Linear {
    constant: i64,
    /// No coefficient is 0.
    terms: BTreeMap<VarId, i64>,
}

impl Linear {
    /// An `i64` expression as a sum, if it is one.
    pub fn of(exp: &Exp, definitions: &Definitions<'_>) -> Option<Linear> {
        Linear::within(exp, definitions, DEEPEST)
    }

    fn within(exp: &Exp, definitions: &Definitions<'_>, depth: usize) -> Option<Linear> {
        let depth = depth.checked_sub(1)?;
        let of = |exp: &Exp| Linear::within(exp, definitions, depth);
        match exp {
            Exp::Const(value) if value.ty == ElemType::I64 => {
                Some(Linear { constant: value.as_i64(), ..Linear::default() })
            }
            Exp::Var(var) => match definitions.get(*var).and_then(of) {
                Some(known) => Some(known),
                None => Some(Linear { constant: 0, terms: BTreeMap::from([(*var, 1)]) }),
            },
            Exp::Op(op, ElemType::I64, args) => match (op, &args[..]) {
                (ScalarOp::Add, [a, b]) => Some(of(a)?.plus(&of(b)?, 1)),
                (ScalarOp::Sub, [a, b]) => Some(of(a)?.plus(&of(b)?, -1)),
                (ScalarOp::Neg, [a]) => Some(Linear::default().plus(&of(a)?, -1)),
                (ScalarOp::Mul, [a, b]) => {
                    let (a, b) = (of(a)?, of(b)?);
                    let (scale, other) = a.number().map(|n| (n, &b)).or(b.number().map(|n| (n, &a)))?;
                    Some(Linear::default().plus(other, scale))
                }
                _ => None,
            },
            Exp::Const(_) | Exp::Op(..) | Exp::Convert(..) | Exp::Read(_) | Exp::Opaque(..) => None,
        }
    }

    /// `self + scale * other`
    fn plus(mut self, other: &Linear, scale: i64) -> Linear {
        self.constant = self.constant.wrapping_add(other.constant.wrapping_mul(scale));
        for (var, coefficient) in &other.terms {
            let sum = self.terms.entry(*var).or_default();
            *sum = sum.wrapping_add(coefficient.wrapping_mul(scale));
        }
        self.terms.retain(|_, coefficient| *coefficient != 0);
        self
    }

    /// The number, if no name is part of it.
    pub fn number(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// How much the sum grows with a name.
    pub fn coefficient(&self, var: VarId) -> i64 {
        self.terms.get(&var).copied().unwrap_or(0)
    }

    /// The names.
    pub fn names(&self) -> impl Iterator<Item = VarId> + '_ {
        self.terms.keys().copied()
    }

    /// How far this is behind another sum, if that is one number.
    pub fn behind(&self, other: &Linear) -> Option<i64> {
        self.clone().plus(other, -1).number()
    }
}
