//! Expressions: numbers where they are known, and what they read.

use crate::form::Form;
use crate::statement::mark_of;
use crate::store::{Step, Stop, Store};
use crate::view::{Change, Way};
use crate::walk::{Bound, Walk};
use galopvm_base::scalar::{self, Bits};
use galopvm_base::{ElemType, Scalar, ScalarOp, TypedId};
use galopvm_kir::types::scalar_value;
use galopvm_kir::{DimIndex, Exp, Index, Read, VarId};
use smallvec::SmallVec;

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

    /// Reads what an expression reads; arrays that it names are read whole. Gives its value.
    pub fn scalar(&mut self, exp: &'a Exp) -> Step<Bound<S>> {
        Ok(match exp {
            Exp::Const(value) => Bound::Number(*value),
            Exp::Var(var) => match &self.names[var.index()] {
                Bound::Array(array) => {
                    self.store.read(array, *var)?;
                    Bound::Unknown(None)
                }
                Bound::Nothing => Bound::Unknown(None),
                other => other.clone(),
            },
            Exp::Read(read) => {
                if let Some(mark) = self.element(read)? {
                    return Ok(Bound::Unknown(mark));
                }
                let change = self.index(&read.index)?;
                match self.part(read.array, &change) {
                    Ok(Some(array)) => Bound::Unknown(self.store.read(&array, read.array)?),
                    Ok(None) => return Err(Stop::TooLarge("a part that no view expresses")),
                    // The program ends there.
                    Err(None) => Bound::Unknown(None),
                    Err(Some(stop)) => return Err(stop),
                }
            }
            Exp::Convert(to, arg) => match self.scalar(arg)? {
                Bound::Number(value) => {
                    Bound::Number(Scalar::new(*to, scalar::convert(value.ty, *to, value.bits)))
                }
                Bound::Moving(form) if *to == ElemType::I64 => Bound::Moving(form),
                _ => Bound::Unknown(None),
            },
            Exp::Op(op, elem, args) => {
                // Most are numbers, and read nothing.
                if let Some(value) = scalar_value(exp, &|var| self.known(var)) {
                    return Ok(Bound::Number(value));
                }
                let mut values: SmallVec<[Bound<S>; 3]> = SmallVec::new();
                for arg in args {
                    values.push(self.scalar(arg)?);
                }
                operation(*op, *elem, values)
            }
            Exp::Opaque(_, args) => {
                for arg in args {
                    self.scalar(arg)?;
                }
                Bound::Unknown(None)
            }
        })
    }

    /// Reads an element whose indices are all numbers, if the store has a short way to it.
    fn element(&mut self, read: &Read) -> Step<Option<Option<S::Mark>>> {
        let (Index::Dims(dims), Bound::Array(array)) = (&read.index, &self.names[read.array.index()]) else {
            return Ok(None);
        };
        let number = |dim: &DimIndex| match dim {
            DimIndex::At(at) => self.number(at),
            DimIndex::Slice { .. } => None,
        };
        match dims.iter().map(number).collect::<Option<SmallVec<[i64; 4]>>>() {
            Some(index) => self.store.element(array, &index, read.array),
            None => Ok(None),
        }
    }

    /// Reads what the expressions of an index read. Gives the change of view that it is.
    pub fn index(&mut self, index: &'a Index) -> Step<Change> {
        Ok(match index {
            Index::Dims(dims) => {
                let mut ways = Vec::with_capacity(dims.len());
                for dim in dims {
                    ways.push(match dim {
                        DimIndex::At(at) => form(self.scalar(at)?).map_or(Way::Some, Way::At),
                        DimIndex::Slice { start, count, step } => {
                            let start = form(self.scalar(start)?);
                            let (count, step) = (int(&self.scalar(count)?), int(&self.scalar(step)?));
                            match (start, count, step) {
                                (Some(start), Some(count), Some(step)) => Way::Slice { start, count, step },
                                _ => Way::Some,
                            }
                        }
                    });
                }
                Change::Index(ways)
            }
            Index::Lmad { offset, dims } => {
                let offset = form(self.scalar(offset)?);
                let mut known = Some(Vec::with_capacity(dims.len()));
                for (count, step) in dims {
                    let pair = int(&self.scalar(count)?).zip(int(&self.scalar(step)?));
                    known = known.zip(pair).map(|(mut known, pair)| {
                        known.push(pair);
                        known
                    });
                }
                offset.zip(known).map_or(Change::Somewhere, |(offset, dims)| Change::Flat(offset, dims))
            }
        })
    }

    /// The part of an array that is read.
    fn part(&mut self, array: VarId, change: &Change) -> Result<Option<S::Array>, Option<Stop>> {
        let Bound::Array(array) = &self.names[array.index()] else {
            return Err(Some(Stop::TooLarge("an array that is not there")));
        };
        self.store.changed(array, change)
    }

    /// The part of an array that is there; the program ends where it is not.
    pub fn part_of(&mut self, array: &S::Array, change: &Change) -> Step<S::Array> {
        match self.store.changed(array, change) {
            Ok(Some(array)) => Ok(array),
            Ok(None) => Err(Stop::TooLarge("a part that no view expresses")),
            Err(stop) => Err(stop.unwrap_or(Stop::TooLarge("an index is outside"))),
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
                let change = self.index(&read.index)?;
                match self.part(read.array, &change) {
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

/// What an operation gives for these values, all of which are read.
fn operation<S: Store>(op: ScalarOp, elem: ElemType, mut values: SmallVec<[Bound<S>; 3]>) -> Bound<S> {
    if let (ScalarOp::Select, [cond, then, otherwise]) = (op, &values[..]) {
        return match cond {
            Bound::Number(cond) => values.swap_remove(if cond.bits & 1 == 1 { 1 } else { 2 }),
            // Whichever it is.
            _ => Bound::Unknown(mark_of(then).filter(|then| mark_of(otherwise) == Some(*then))),
        };
    }
    if let Some(decisive) = values.iter().position(|value| decides(op, elem, value)) {
        return values.swap_remove(decisive);
    }
    let mut bits: SmallVec<[Bits; 3]> = SmallVec::new();
    for value in &values {
        if let Bound::Number(value) = value {
            bits.push(value.bits);
        }
    }
    if bits.len() == values.len() {
        let known = bits.get(..op.arity()).and_then(|bits| scalar::eval(op, elem, bits).ok());
        return known
            .map_or(Bound::Unknown(None), |bits| Bound::Number(Scalar::new(op.result_type(elem), bits)));
    }
    let mut forms = values.into_iter().map(form);
    let (Some(Some(a)), Some(Some(b))) = (forms.next(), forms.next()) else { return Bound::Unknown(None) };
    let moved = match op {
        ScalarOp::Add => a.plus(&b, 1),
        ScalarOp::Sub => a.plus(&b, -1),
        ScalarOp::Mul => match (a.as_number(), b.as_number()) {
            (_, Some(by)) => Form::number(0).plus(&a, by),
            (Some(by), _) => Form::number(0).plus(&b, by),
            _ => None,
        },
        _ => None,
    };
    moved.map_or(Bound::Unknown(None), Bound::Moving)
}

/// Whether a conjunction or disjunction is this operand, whatever the other one is.
fn decides<S: Store>(op: ScalarOp, elem: ElemType, value: &Bound<S>) -> bool {
    let Bound::Number(number) = value else { return false };
    elem == ElemType::Bool
        && match op {
            ScalarOp::And => number.bits & 1 == 0,
            ScalarOp::Or => number.bits & 1 == 1,
            _ => false,
        }
}

/// A number with multiples of swept variables that a value is.
fn form<S: Store>(value: Bound<S>) -> Option<Form> {
    match value {
        Bound::Moving(form) => Some(form),
        value => int(&value).map(Form::number),
    }
}

/// The `i64` that a value is.
fn int<S: Store>(value: &Bound<S>) -> Option<i64> {
    match value {
        Bound::Number(value) if value.ty == ElemType::I64 => Some(value.as_i64()),
        _ => None,
    }
}
