//! Getting at elements: from an array as a formula to the expression of one element.

use super::build::{Lift, Lifter};
use super::refuse;
use super::value::{Array, Source, Value};
use crate::meaning::counted;
use galopvm_base::{ElemType, ScalarOp};
use galopvm_kir::algebra::{self, constant, size};
use galopvm_kir::view::{Place, row_major};
use galopvm_kir::{Exp, Rhs, Type};

/// Largest expression that a view starts from.
const LONGEST_START: usize = 9;
/// Literals of at most this many rows are indexed by comparing.
pub(super) const FEW_ROWS: usize = 8;

impl Lifter<'_> {
    /// A view as far as it can be followed: an element if no dimension is left.
    pub fn reach(&mut self, mut array: Array) -> Lift<Value> {
        loop {
            let at =
                array.places.first().filter(|place| place.is_complete()).map(|place| place.clone().first());
            let element = array.rank() == 0;
            let inner = match (&array.source, at) {
                (Source::Replicate(value), Some(_)) => value.as_ref().clone(),
                (Source::Rows(rows), Some(at)) if constant(&at).is_some() => {
                    let row = constant(&at).and_then(|k| rows.get(usize::try_from(k).ok()?));
                    match row {
                        Some(row) => row.clone(),
                        // The check that was emitted for this index traps before anything asks for the value.
                        None => return refuse("an index that is never inside a literal"),
                    }
                }
                (Source::Rows(rows), Some(at)) if element => {
                    let rows = rows.clone();
                    return self.choose(&rows, &at, &array);
                }
                (Source::Reshape(inner, shape), _) if element => {
                    let (inner, shape) = (inner.clone(), shape.clone());
                    array = self.through_reshape(&inner, &shape, &array.places);
                    continue;
                }
                (Source::Concat(parts), Some(at)) if element => {
                    let parts = parts.clone();
                    return self.element_of_parts(&parts, &at, &array.places[1..]);
                }
                (Source::Name(var), _) if element => {
                    let (var, elem, safe) = (*var, array.elem, array.proven);
                    return Ok(Value::Scalar(self.read(var, elem, fixed(&array.places), safe)));
                }
                (Source::Iota { start, step }, Some(at)) => {
                    let ty = array.elem;
                    let value = counted(ty, at, start, step);
                    return Ok(Value::Scalar(self.bind(ty, value)));
                }
                _ => return Ok(Value::Array(array)),
            };
            match inner {
                Value::Scalar(exp) => return Ok(Value::Scalar(exp)),
                Value::Array(row) => {
                    let view = row.seen_through(&array.places[1..], &array.shape);
                    let proven = view.proven && array.proven;
                    array = self.with_short_starts(Array { proven, ..view });
                }
            }
        }
    }

    /// The view with names for what views of views have added up to.
    pub fn with_short_starts(&mut self, mut view: Array) -> Array {
        for place in &mut view.places {
            if let Some(start) = place.start.as_mut().filter(|start| size(start) > LONGEST_START) {
                *start = self.bind(ElemType::I64, start.clone());
            }
        }
        view
    }

    /// Rows of arrays at an index that is inside all of them.
    pub fn rows(&mut self, arrays: &[Array], index: &Exp) -> Lift<Vec<Value>> {
        arrays.iter().map(|a| self.reach(a.fix(0, index))).collect()
    }

    /// An element of the part that an index falls into.
    fn element_of_parts(&mut self, parts: &[Array], at: &Exp, rest: &[Place]) -> Lift<Value> {
        let Some((first, others)) = parts.split_first() else { return refuse("an element of nothing") };
        let at = self.bind(ElemType::I64, at.clone());
        let view = first.fix(0, &at).seen_through(rest, &[]);
        if others.is_empty() {
            return self.reach(view);
        }
        let extent = first.shape[0].clone();
        let cond = algebra::int(ScalarOp::Lt, at.clone(), extent.clone());
        self.open();
        let here = self.reach(view)?;
        let then = self.close_scalars(vec![here])?;
        self.open();
        let there = self.element_of_parts(others, &algebra::sub(at, extent), rest)?;
        let otherwise = self.close_scalars(vec![there])?;
        let var = self.local(Type::scalar(first.elem));
        self.emit(vec![var], Rhs::If { cond, then, otherwise });
        Ok(Value::Scalar(Exp::Var(var)))
    }

    /// The row of a literal whose number is only known when the code runs.
    fn choose(&mut self, rows: &[Value], at: &Exp, array: &Array) -> Lift<Value> {
        if rows.len() > FEW_ROWS {
            return refuse(format!("an array literal of {} rows, indexed by a variable", rows.len()));
        }
        let mut chosen: Option<Exp> = None;
        for (k, row) in rows.iter().enumerate().rev() {
            let value = match row {
                Value::Scalar(exp) => exp.clone(),
                Value::Array(row) => match self.reach(row.seen_through(&array.places[1..], &[]))? {
                    Value::Scalar(exp) => exp,
                    Value::Array(_) => return refuse("an array literal of unequal rows"),
                },
            };
            chosen = Some(match chosen {
                None => value,
                Some(others) => {
                    let here = algebra::int(ScalarOp::Eq, at.clone(), Exp::int(k as i64));
                    let here = self.bind(ElemType::Bool, here);
                    let exp = algebra::op(ScalarOp::Select, array.elem, vec![here, value, others]);
                    self.bind(array.elem, exp)
                }
            });
        }
        match chosen {
            Some(exp) => Ok(Value::Scalar(exp)),
            None => refuse("an element of an empty literal"),
        }
    }

    /// An element under new extents, in the array with the old ones.
    fn through_reshape(&mut self, inner: &Array, shape: &[Exp], places: &[Place]) -> Array {
        let index = fixed(places);
        // Leading dimensions that are the same in both need no arithmetic.
        let rank = inner.rank().min(shape.len());
        let same = (0..rank).take_while(|k| self.same(&inner.shape[*k], &shape[*k])).count();
        let mut view = index[..same].iter().fold(inner.clone(), |view, at| view.fix(0, at));
        let flat = self.bind(ElemType::I64, row_major(&index[same..], &shape[same..]));
        let mut rest = flat;
        let mut old = Vec::new();
        for extent in view.shape.iter().skip(1).rev() {
            let at = algebra::int(ScalarOp::Mod, rest.clone(), extent.clone());
            old.push(self.bind(ElemType::I64, at));
            rest = self.bind(ElemType::I64, algebra::int(ScalarOp::Div, rest, extent.clone()));
        }
        if view.rank() > 0 {
            old.push(rest);
        }
        for at in old.iter().rev() {
            view = view.fix(0, at);
        }
        view
    }
}

/// The indices of a view without dimensions.
fn fixed(places: &[Place]) -> Vec<Exp> {
    places.iter().filter(|place| place.is_complete()).map(|place| place.clone().first()).collect()
}
