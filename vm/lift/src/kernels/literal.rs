//! Literals of many elements: arrays of the region, with every element put in its place. The element of such a literal at a
//! variable index would be a long chain of comparisons.

use super::build::{Lift, Lifter};
use super::element::FEW_ROWS;
use super::value::{Array, Source, Value};
use galopvm_base::Scalar;
use galopvm_kir::{DimIndex, Exp, Index, Rhs, Type};
use std::rc::Rc;

/// Literals of more elements stay formulas, since code that puts each of them in its place would be long: they are refused where an
/// index is a variable.
const MOST_ELEMENTS: usize = 64;

/// Where an element of a literal is, and the element.
type Element = (Vec<i64>, Exp);

impl Lifter<'_> {
    /// A literal, as an array of the region if it has many elements.
    pub fn literal(&mut self, array: Array) -> Lift<Array> {
        let mut elements = Vec::new();
        let is_known = add_elements(&array, &mut Vec::new(), &mut elements);
        if !is_known || !(FEW_ROWS + 1..=MOST_ELEMENTS).contains(&elements.len()) {
            return Ok(array);
        }
        let ty = Type { elem: array.elem, shape: array.shape.clone() };
        let mut made = self.materialise(zeros(&array))?;
        for (at, value) in elements {
            let Source::Name(name) = made.source else { return Ok(array) };
            let index = at.into_iter().map(|at| DimIndex::At(Exp::int(at))).collect();
            let new = self.local(ty.clone());
            self.emit(vec![new], Rhs::Update { array: name, index: Index::Dims(index), value });
            made = Array::whole(array.elem, array.shape.clone(), Source::Name(new));
        }
        Ok(made)
    }
}

/// Adds the elements of a literal, in whose rows are literals again; false if there are others.
fn add_elements(array: &Array, at: &mut Vec<i64>, elements: &mut Vec<Element>) -> bool {
    let Source::Rows(rows) = &array.source else { return false };
    if (0..array.rank()).any(|axis| !array.is_whole(axis)) {
        return false;
    }
    rows.iter().enumerate().all(|(k, row)| {
        at.push(k as i64);
        let is_known = match row {
            Value::Scalar(value) => {
                elements.push((at.clone(), value.clone()));
                true
            }
            Value::Array(row) => add_elements(row, at, elements),
        };
        at.pop();
        is_known
    })
}

/// Zeros of the shape of an array.
fn zeros(array: &Array) -> Array {
    let zero = Value::Scalar(Exp::Const(Scalar::new(array.elem, 0)));
    let filled = (0..array.rank()).rev().fold(zero, |row, dim| {
        let source = Source::Replicate(Rc::new(row));
        Value::Array(Array::whole(array.elem, array.shape[dim..].to_vec(), source))
    });
    match filled {
        Value::Array(zeros) => zeros,
        Value::Scalar(_) => array.clone(),
    }
}
