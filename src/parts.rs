//! Arguments and results of Rust types that consist of several values: tuples, records, sums, arrays of these.
//!
//! `#[derive(Argument, Outcome)]` (`hosts/derive`) makes a struct a record and an enum a sum. What is one value, as numbers, vectors and [`Array`]s, is both
//! by itself. A type says what it is in the language before there is a program ([`Type`]), and its values are exactly those that the type says.

use crate::convert::{FromValue, IntoValue};
use crate::elements::{of_bytes, zeros};
use crate::error::Error;
use crate::types::{Leaf, Slots, Type};
use galopvm_base::{ElemType, Scalar};
use galopvm_runtime::{Array, Element, Memory, Value};
use std::ops::Deref;
use std::vec::IntoIter;

/// What can be given to an entry point as one argument.
pub trait Argument: Sized {
    /// What it is in the language.
    fn argument_type() -> Type;

    /// Adds its values, in this memory.
    fn put(self, memory: &Memory, values: &mut Vec<Value>) -> Result<(), Error>;
}

/// What one result of an entry point can be taken as.
pub trait Outcome: Sized {
    /// What it is in the language.
    fn result_type() -> Type;

    /// Takes its values from the front.
    fn take(values: &mut IntoIter<Value>) -> Result<Self, Error>;
}

impl<T: IntoValue> Argument for T {
    fn argument_type() -> Type {
        T::value_type()
    }

    fn put(self, memory: &Memory, values: &mut Vec<Value>) -> Result<(), Error> {
        values.push(self.into_value(memory)?);
        Ok(())
    }
}

impl<T: FromValue> Outcome for T {
    fn result_type() -> Type {
        T::value_type()
    }

    fn take(values: &mut IntoIter<Value>) -> Result<T, Error> {
        T::from_value(next(values)?)
    }
}

/// The next value of those that a result consists of.
fn next(values: &mut IntoIter<Value>) -> Result<Value, Error> {
    values.next().ok_or_else(|| Error::Type("the call has fewer results than are wanted".into()))
}

macro_rules! tuples {
    ($(($($name:ident)*))+) => {$(
        #[allow(non_snake_case, unused_variables, reason = "one letter names the type and its value; an empty tuple has no values")]
        impl<$($name: Argument),*> Argument for ($($name,)*) {
            fn argument_type() -> Type {
                Type::Tuple(vec![$($name::argument_type()),*])
            }

            fn put(self, memory: &Memory, values: &mut Vec<Value>) -> Result<(), Error> {
                let ($($name,)*) = self;
                $($name.put(memory, values)?;)*
                Ok(())
            }
        }

        #[allow(unused_variables, reason = "an empty tuple has no values")]
        impl<$($name: Outcome),*> Outcome for ($($name,)*) {
            fn result_type() -> Type {
                Type::Tuple(vec![$($name::result_type()),*])
            }

            fn take(values: &mut IntoIter<Value>) -> Result<Self, Error> {
                Ok(($($name::take(values)?,)*))
            }
        }
    )+};
}

tuples! { () (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H) }

/// An array of so many dimensions with elements of a type: an [`Array`] whose type is known.
///
/// ```
/// use galopvm::{ArrayOf, Engine, Program};
///
/// # fn main() -> Result<(), galopvm::Error> {
/// let program = Program::from_source("turn.fut", "entry turn [n][m] (xs: [n][m]i32) = transpose xs")?;
/// let turn = program.entry::<(ArrayOf<i32, 2>,), ArrayOf<i32, 2>>("turn")?;
/// let mut session = Engine::new().session(&program);
/// let rows = ArrayOf::new(session.give(vec![1, 2, 3, 4, 5, 6], &[2, 3])?)?;
/// let turned = turn.call(&mut session, (rows,))?;
/// assert_eq!((turned.shape().as_slice(), turned.into_array().to_vec::<i32>().unwrap()), (&[3, 2][..], vec![1, 4, 2, 5, 3, 6]));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ArrayOf<T, const RANK: usize>(Array, std::marker::PhantomData<fn() -> T>);

impl<T: Element, const RANK: usize> ArrayOf<T, RANK> {
    /// The array, if it has this type.
    pub fn new(array: Array) -> Result<ArrayOf<T, RANK>, Error> {
        if array.elem() == T::TYPE && array.rank() == RANK {
            return Ok(ArrayOf(array, std::marker::PhantomData));
        }
        let (found, wanted) = (Value::Array(array).ty(), Self::ty());
        Err(Error::Type(format!("the array is a {found}, not a {wanted}")))
    }

    /// The array.
    pub fn into_array(self) -> Array {
        self.0
    }

    fn ty() -> Type {
        Type::array(&[0; RANK], Type::Scalar(T::TYPE))
    }
}

impl<T, const RANK: usize> Deref for ArrayOf<T, RANK> {
    type Target = Array;

    fn deref(&self) -> &Array {
        &self.0
    }
}

impl<T: Element, const RANK: usize> IntoValue for ArrayOf<T, RANK> {
    fn value_type() -> Type {
        Self::ty()
    }

    fn into_value(self, _: &Memory) -> Result<Value, Error> {
        Ok(Value::Array(self.0))
    }
}

impl<T: Element, const RANK: usize> IntoValue for &ArrayOf<T, RANK> {
    fn value_type() -> Type {
        ArrayOf::<T, RANK>::ty()
    }

    fn into_value(self, _: &Memory) -> Result<Value, Error> {
        Ok(Value::Array(self.0.clone()))
    }
}

impl<T: Element, const RANK: usize> FromValue for ArrayOf<T, RANK> {
    fn value_type() -> Type {
        Self::ty()
    }

    fn from_value(value: Value) -> Result<Self, Error> {
        ArrayOf::new(Array::from_value(value)?)
    }
}

/// An array of tuples, records or sums without arrays in them: a vector, whose elements are taken apart into an array for each part.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Rows<T>(pub Vec<T>);

/// A part of rows.
struct Column {
    elem: ElemType,
    /// Whether an element has it, too: of the empty tuple, which has no values, an array has truth values.
    is_kept: bool,
}

/// The parts of rows of such elements.
fn columns(element: Type) -> Result<Vec<Column>, Error> {
    let leaves = element.leaves(&[0]).into_iter().flatten();
    let column = |leaf: Leaf| {
        (leaf.extents.len() == 1).then_some(Column { elem: leaf.elem, is_kept: leaf.is_of_elements })
    };
    let columns: Option<Vec<Column>> = leaves.map(column).collect();
    columns
        .filter(|columns| !columns.is_empty())
        .ok_or_else(|| Error::Type(format!("rows consist of scalars, and those of type {element} do not")))
}

impl<T: Argument> Argument for Rows<T> {
    fn argument_type() -> Type {
        Type::array(&[0], T::argument_type())
    }

    fn put(self, memory: &Memory, values: &mut Vec<Value>) -> Result<(), Error> {
        let columns = columns(T::argument_type())?;
        let count = self.0.len();
        let mut bytes: Vec<Vec<u8>> =
            columns.iter().map(|column| Vec::with_capacity(count * column.elem.bytes())).collect();
        let mut parts = Vec::new();
        for row in self.0 {
            row.put(memory, &mut parts)?;
            let mut parts = parts.drain(..);
            for (Column { elem, is_kept }, bytes) in columns.iter().zip(&mut bytes) {
                let bits = match is_kept {
                    true => parts.next().and_then(|part| part.as_scalar()).map(|scalar| scalar.bits),
                    false => Some(0),
                };
                let bits = bits.ok_or_else(|| Error::Type("rows consist of scalars".into()))?;
                bytes.extend_from_slice(&bits.to_le_bytes()[..elem.bytes()]);
            }
        }
        let shape = [i64::try_from(count).unwrap_or(i64::MAX)];
        for (column, bytes) in columns.into_iter().zip(bytes) {
            values.push(Value::Array(of_bytes(memory, column.elem, &bytes, &shape)?));
        }
        Ok(())
    }
}

impl<T: Outcome> Outcome for Rows<T> {
    fn result_type() -> Type {
        Type::array(&[0], T::result_type())
    }

    fn take(values: &mut IntoIter<Value>) -> Result<Self, Error> {
        let columns = columns(T::result_type())?;
        let arrays: Vec<Array> =
            columns.iter().map(|_| Array::from_value(next(values)?)).collect::<Result<_, _>>()?;
        let rows = arrays.first().map_or(0, Array::elements);
        let row = |k: i64| {
            let part = |array: &Array| {
                let scalar = array.get(&[k]).map(Value::Scalar);
                scalar.ok_or_else(|| Error::Type("rows are arrays of one dimension and one length".into()))
            };
            let kept = columns.iter().zip(&arrays).filter(|(column, _)| column.is_kept);
            let parts: Vec<Value> = kept.map(|(_, array)| part(array)).collect::<Result<_, Error>>()?;
            T::take(&mut parts.into_iter())
        };
        (0..rows).map(row).collect::<Result<Vec<T>, Error>>().map(Rows)
    }
}

/// Adds the values of a sum with this constructor and payload. For what is derived.
#[doc(hidden)]
pub fn put_sum(
    ty: &Type,
    constructor: &str,
    payload: Vec<Value>,
    memory: &Memory,
    values: &mut Vec<Value>,
) -> Result<(), Error> {
    let (number, slots) = slots(ty, constructor)?;
    values.push(Value::Scalar(Scalar::from_int(ElemType::I8, number as i64)));
    for (slot, (elem, extents)) in slots.all.iter().enumerate() {
        let own = slots.of[number].iter().position(|own| *own == slot).and_then(|k| payload.get(k));
        values.push(match own {
            Some(value) => value.clone(),
            None if extents.is_empty() => Value::Scalar(Scalar::from_int(*elem, 0)),
            None => Value::Array(zeros(memory, *elem, extents)?),
        });
    }
    Ok(())
}

/// Takes the values of a sum: the constructor's number, in the order of the names, and the payload. For what is derived.
#[doc(hidden)]
pub fn take_sum(ty: &Type, values: &mut IntoIter<Value>) -> Result<(usize, IntoIter<Value>), Error> {
    let (_, slots) = slots(ty, "")?;
    let number = i8::from_value(next(values)?)?;
    let number = usize::try_from(number).ok().filter(|number| *number < slots.of.len());
    let number = number.ok_or_else(no_constructor)?;
    let mut found: Vec<Option<Value>> =
        (0..slots.all.len()).map(|_| next(values).map(Some)).collect::<Result<_, _>>()?;
    let payload: Vec<Value> = slots.of[number].iter().filter_map(|slot| found[*slot].take()).collect();
    Ok((number, payload.into_iter()))
}

/// The error of a value whose constructor there is not. For what is derived.
#[doc(hidden)]
pub fn no_constructor() -> Error {
    Error::Type("the value has no constructor of its type".into())
}

/// The number of a constructor, 0 if there is none of this name, and the places of payloads.
fn slots(ty: &Type, constructor: &str) -> Result<(usize, Slots), Error> {
    let Type::Sum(constructors) = ty else { return Err(Error::Type(format!("{ty} is no sum"))) };
    let slots = Slots::of(constructors).ok_or_else(|| {
        Error::Type(format!("what {ty} holds has to be of known types, as `ArrayOf` is and `Array` is not"))
    })?;
    let number = constructors.iter().position(|(name, _)| name == constructor).unwrap_or(0);
    Ok((number, slots))
}
