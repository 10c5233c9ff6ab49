//! Expressions: numbers where they are known, and what they read.

use crate::form::Form;
use crate::statement::mark_of;
use crate::store::{Step, Stop, Store};
use crate::view::{Change, Way};
use crate::walk::{Bound, Walk};
use galopvm_base::{ElemType, Scalar, ScalarOp, TypedId};
use galopvm_kir::types::scalar_value;
use galopvm_kir::{DimIndex, Exp, Index, Read, VarId};

impl<'a, S: Store> Walk<'a, S> {
    /// The scalar that a name is, if it is known.
    fn known(&self, var: VarId) -> Option<Scalar> {
        match &self.names[var.index()] {
            Bound::Number(value) => Some(*value),
            _ => None,
        }
    }

    /// A number that an expression is. Reads nothing.
    pub fn number(&self, exp: &Exp) -> Option<i64> {
        let value = scalar_value(exp, &|var| self.known(var))?;
        (value.ty == ElemType::I64).then(|| value.as_i64())
    }

    /// A number with multiples of swept variables that an expression is. Reads nothing.
    pub fn form(&self, exp: &Exp) -> Option<Form> {
        if let Some(number) = self.number(exp) {
            return Some(Form::number(number));
        }
        match exp {
            Exp::Var(var) => match &self.names[var.index()] {
                Bound::Moving(form) => Some(form.clone()),
                _ => None,
            },
            Exp::Convert(ElemType::I64, arg) => self.form(arg),
            Exp::Op(ScalarOp::Add, _, args) => self.form(&args[0])?.plus(&self.form(&args[1])?, 1),
            Exp::Op(ScalarOp::Sub, _, args) => self.form(&args[0])?.plus(&self.form(&args[1])?, -1),
            Exp::Op(ScalarOp::Mul, _, args) => {
                let (a, b) = (self.form(&args[0])?, self.form(&args[1])?);
                let zero = Form::number(0);
                match (a.as_number(), b.as_number()) {
                    (_, Some(by)) => zero.plus(&a, by),
                    (Some(by), _) => zero.plus(&b, by),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Reads what an expression reads; arrays that it names are read whole. Gives its value.
    pub fn scalar(&mut self, exp: &'a Exp) -> Step<Bound<S>> {
        let mut mark = None;
        match exp {
            Exp::Const(value) => return Ok(Bound::Number(*value)),
            Exp::Var(var) => {
                return Ok(match &self.names[var.index()] {
                    Bound::Array(array) => {
                        let array = array.clone();
                        self.store.read(&array, *var)?;
                        Bound::Unknown(None)
                    }
                    Bound::Nothing => Bound::Unknown(None),
                    other => other.clone(),
                });
            }
            Exp::Read(read) => {
                self.index_reads(&read.index)?;
                match self.part(read) {
                    Ok(Some(array)) => mark = self.store.read(&array, read.array)?,
                    Ok(None) => return Err(Stop::TooLarge("a part that no view expresses")),
                    // The program ends there.
                    Err(None) => {}
                    Err(Some(stop)) => return Err(stop),
                }
            }
            Exp::Convert(_, arg) => drop(self.scalar(arg)?),
            Exp::Op(ScalarOp::Select, _, args) => {
                let mut values = args.iter().map(|arg| self.scalar(arg)).collect::<Step<Vec<_>>>()?;
                mark = match values[0] {
                    Bound::Number(cond) => {
                        return Ok(values.swap_remove(if cond.bits & 1 == 1 { 1 } else { 2 }));
                    }
                    // Whichever it is.
                    _ => mark_of(&values[1]).filter(|then| mark_of(&values[2]) == Some(*then)),
                };
            }
            Exp::Op(_, _, args) | Exp::Opaque(_, args) => {
                for arg in args {
                    self.scalar(arg)?;
                }
            }
        }
        if let Some(value) = scalar_value(exp, &|var| self.known(var)) {
            return Ok(Bound::Number(value));
        }
        Ok(match self.form(exp) {
            Some(form) => Bound::Moving(form),
            None => Bound::Unknown(mark),
        })
    }

    /// Reads what the expressions of an index read.
    pub fn index_reads(&mut self, index: &'a Index) -> Step<()> {
        let mut all: Vec<&'a Exp> = Vec::new();
        index.each_exp(&mut |exp| all.push(exp));
        all.into_iter().try_for_each(|exp| self.scalar(exp).map(drop))
    }

    /// The part of an array that is read.
    pub fn part(&mut self, read: &Read) -> Result<Option<S::Array>, Option<Stop>> {
        let Bound::Array(array) = self.names[read.array.index()].clone() else {
            return Err(Some(Stop::TooLarge("an array that is not there")));
        };
        let change = self.change(&read.index);
        self.store.changed(&array, &change)
    }

    /// The part of an array that is there; the program ends where it is not.
    pub fn part_of(&mut self, array: &S::Array, change: &Change) -> Step<S::Array> {
        match self.store.changed(array, change) {
            Ok(Some(array)) => Ok(array),
            Ok(None) => Err(Stop::TooLarge("a part that no view expresses")),
            Err(stop) => Err(stop.unwrap_or(Stop::TooLarge("an index is outside"))),
        }
    }

    /// An index as a change of view.
    pub fn change(&self, index: &Index) -> Change {
        match index {
            Index::Dims(dims) => Change::Index(
                dims.iter()
                    .map(|dim| match dim {
                        DimIndex::At(at) => self.form(at).map_or(Way::Some, Way::At),
                        DimIndex::Slice { start, count, step } => {
                            let known = self.form(start).zip(self.number(count)).zip(self.number(step));
                            known.map_or(Way::Some, |((start, count), step)| Way::Slice {
                                start,
                                count,
                                step,
                            })
                        }
                    })
                    .collect(),
            ),
            Index::Lmad { offset, dims } => {
                let pair = |(count, step): &(Exp, Exp)| self.number(count).zip(self.number(step));
                let dims: Option<Vec<(i64, i64)>> = dims.iter().map(pair).collect();
                match self.form(offset).zip(dims) {
                    Some((offset, dims)) => Change::Flat(offset, dims),
                    None => Change::Somewhere,
                }
            }
        }
    }

    /// The array that an expression is, if it is one, with the name that it goes by; indices in it are read.
    pub fn array(&mut self, exp: &'a Exp) -> Step<Option<(S::Array, VarId)>> {
        match exp {
            Exp::Var(var) => Ok(match &self.names[var.index()] {
                Bound::Array(array) => Some((array.clone(), *var)),
                _ => None,
            }),
            Exp::Read(read) if self.leaves_dims(read) => {
                self.index_reads(&read.index)?;
                match self.part(read) {
                    Ok(Some(array)) => Ok(Some((array, read.array))),
                    Ok(None) => Err(Stop::TooLarge("a part that no view expresses")),
                    Err(stop) => Err(stop.unwrap_or(Stop::TooLarge("an index is outside"))),
                }
            }
            _ => Ok(None),
        }
    }

    /// Whether a read is of an array, not of an element.
    fn leaves_dims(&self, read: &Read) -> bool {
        let rank = self.region.vars[read.array].ty.as_ref().map_or(0, |ty| ty.rank());
        match &read.index {
            Index::Dims(dims) => {
                dims.len() < rank || dims.iter().any(|dim| matches!(dim, DimIndex::Slice { .. }))
            }
            Index::Lmad { dims, .. } => !dims.is_empty() || rank > 1,
        }
    }

    /// The value of an expression, an array or a scalar.
    pub fn value(&mut self, exp: &'a Exp) -> Step<Bound<S>> {
        match self.array(exp)? {
            Some((array, _)) => Ok(Bound::Array(array)),
            None => self.scalar(exp),
        }
    }

    /// The values of some expressions.
    pub fn values(&mut self, exps: &'a [Exp]) -> Step<Vec<Bound<S>>> {
        exps.iter().map(|exp| self.value(exp)).collect()
    }
}
