//! Small arrays whose every element is known where they are made: reading an element of one is the element, and an update of one
//! is made at once of what it consists of, so that nothing is filled to be overwritten.
//!
//! Adjoints are such arrays: of a camera's eleven numbers each gets its own, one after the other.

use super::emit::FunState;
use super::ir::*;
use galopvm_bytecode::ValueType;

/// Arrays of more elements stay what they are: a loop over them is less code than their elements.
const MOST_ELEMENTS: usize = 16;

/// What a statement on known elements comes to.
pub(super) enum Known {
    /// A value that is there already.
    Value(Atom),
    /// An array of these elements.
    Array(Vec<Atom>),
}

impl FunState {
    /// What a statement comes to if the elements of what it reads are known.
    pub(super) fn known_elements(&self, op: &Op, ty: ValueType) -> Option<Known> {
        match op {
            Op::Index { array, index } => self.element(*array, index).map(Known::Value),
            Op::Update { array, dims, value } => {
                let ([SliceDim::At(at)], true) = (dims.as_slice(), self.type_of(*value).is_scalar()) else {
                    return None;
                };
                let mut elements = self.elements.get(array)?.clone();
                *elements.get_mut(position(*at)?)? = *value;
                Some(Known::Array(elements))
            }
            Op::Copy { array } if ty.rank == 1 => self.elements.get(array).cloned().map(Known::Array),
            Op::Concat { arrays, .. } if ty.rank == 1 => {
                let parts: Option<Vec<_>> = arrays.iter().map(|array| self.elements.get(array)).collect();
                let elements: Vec<Atom> = parts?.into_iter().flatten().copied().collect();
                (elements.len() <= MOST_ELEMENTS).then_some(Known::Array(elements))
            }
            _ => None,
        }
    }

    /// The elements, or rows, of the array that a statement makes, if they are known and few.
    pub(super) fn elements_of(&self, op: &Op) -> Option<Vec<Atom>> {
        match op {
            Op::Array { rows, .. } => (rows.len() <= MOST_ELEMENTS).then(|| rows.clone()),
            Op::Replicate { count, value } if self.type_of(*value).is_scalar() => {
                let count = position(*count).filter(|count| *count <= MOST_ELEMENTS)?;
                Some(vec![*value; count])
            }
            _ => None,
        }
    }

    /// An element of an array, through the rows that it is made of.
    fn element(&self, array: Var, index: &[Atom]) -> Option<Atom> {
        let (at, inside) = index.split_first()?;
        let found = *self.elements.get(&array)?.get(position(*at)?)?;
        match (found, inside) {
            (found, []) => self.type_of(found).is_scalar().then_some(found),
            (Atom::Var(row), inside) => self.element(row, inside),
            (Atom::Const(_), _) => None,
        }
    }
}

/// A constant that can count elements.
fn position(atom: Atom) -> Option<usize> {
    usize::try_from(atom.constant()?.as_i64()).ok()
}
