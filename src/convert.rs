//! Values of Rust types to values of programs and back.
//!
//! Scalars are Rust's scalars, arrays of one dimension are slices and vectors, arrays of any rank are [`Array`].
//! Several arguments or results together are tuples; `parts.rs` has those that consist of several values themselves. Vectors that are given, shared slices and [`Array`]s are passed on without copying; slices
//! that are only shown are copied.

use crate::error::{Error, of_trap};
use crate::parts::{Argument, Outcome, Rows};
use crate::types::Type;
use galopvm_base::Scalar;
use galopvm_runtime::{Array, Element, Memory, Value, f16};
use std::sync::Arc;
use std::vec::IntoIter;

/// What can be given to an entry point as one value.
pub trait IntoValue {
    /// Its type in the language, where that is known before there is a value.
    fn value_type() -> Type {
        Type::Any
    }

    /// The value, in this memory.
    fn into_value(self, memory: &Memory) -> Result<Value, Error>;
}

/// What one value of an entry point can be taken as.
pub trait FromValue: Sized {
    /// Its type in the language, where that is known before there is a value.
    fn value_type() -> Type {
        Type::Any
    }

    /// The Rust value, or an error that names both types.
    fn from_value(value: Value) -> Result<Self, Error>;
}

/// All arguments of a call: a tuple of values, or a vector of them.
pub trait Arguments {
    /// The types of the arguments, where it is known how many there are.
    fn argument_types() -> Option<Vec<Type>>;

    /// The values, in order.
    fn into_values(self, memory: &Memory) -> Result<Vec<Value>, Error>;
}

/// All results of a call: one value or a tuple of them.
pub trait Results: Sized {
    /// The types of the results.
    fn result_types() -> Vec<Type>;

    /// The Rust values, or an error that says what does not fit.
    fn from_values(values: Vec<Value>) -> Result<Self, Error>;
}

impl IntoValue for Value {
    fn into_value(self, _: &Memory) -> Result<Value, Error> {
        Ok(self)
    }
}

impl IntoValue for &Value {
    fn into_value(self, _: &Memory) -> Result<Value, Error> {
        Ok(self.clone())
    }
}

impl IntoValue for Array {
    fn into_value(self, _: &Memory) -> Result<Value, Error> {
        Ok(Value::Array(self))
    }
}

impl IntoValue for &Array {
    fn into_value(self, _: &Memory) -> Result<Value, Error> {
        Ok(Value::Array(self.clone()))
    }
}

impl<T: Element> IntoValue for &[T] {
    fn value_type() -> Type {
        one_dimension::<T>(0)
    }

    fn into_value(self, memory: &Memory) -> Result<Value, Error> {
        let length = i64::try_from(self.len()).unwrap_or(i64::MAX);
        let array = Array::from_slice(memory, self, &[length]).map_err(of_trap)?;
        Ok(Value::Array(array))
    }
}

impl<T: Element> IntoValue for &Vec<T> {
    fn value_type() -> Type {
        one_dimension::<T>(0)
    }

    fn into_value(self, memory: &Memory) -> Result<Value, Error> {
        self.as_slice().into_value(memory)
    }
}

impl<T: Element> IntoValue for Vec<T> {
    fn value_type() -> Type {
        one_dimension::<T>(0)
    }

    fn into_value(self, _: &Memory) -> Result<Value, Error> {
        let shape = [i64::try_from(self.len()).unwrap_or(i64::MAX)];
        Ok(Value::Array(Array::from_vec(self, &shape).map_err(of_trap)?))
    }
}

impl<T: Element> IntoValue for Arc<[T]> {
    fn value_type() -> Type {
        one_dimension::<T>(0)
    }

    fn into_value(self, _: &Memory) -> Result<Value, Error> {
        let shape = [i64::try_from(self.len()).unwrap_or(i64::MAX)];
        Ok(Value::Array(Array::lent(self, &shape).map_err(of_trap)?))
    }
}

impl<T: Element, const N: usize> IntoValue for &[T; N] {
    fn value_type() -> Type {
        one_dimension::<T>(N)
    }

    fn into_value(self, memory: &Memory) -> Result<Value, Error> {
        self.as_slice().into_value(memory)
    }
}

impl<T: Element, const N: usize> IntoValue for [T; N] {
    fn value_type() -> Type {
        one_dimension::<T>(N)
    }

    fn into_value(self, memory: &Memory) -> Result<Value, Error> {
        self.as_slice().into_value(memory)
    }
}

/// The type of arrays of one dimension, of so many elements if that is not 0.
fn one_dimension<T: Element>(extent: usize) -> Type {
    Type::array(&[i64::try_from(extent).unwrap_or(0)], Type::Scalar(T::TYPE))
}

impl FromValue for Value {
    fn from_value(value: Value) -> Result<Value, Error> {
        Ok(value)
    }
}

impl FromValue for Array {
    fn from_value(value: Value) -> Result<Array, Error> {
        match value {
            Value::Array(array) => Ok(array),
            Value::Scalar(scalar) => Err(Error::Type(format!("the value is a {}, not an array", scalar.ty))),
        }
    }
}

impl<T: Element> FromValue for Vec<T> {
    fn value_type() -> Type {
        one_dimension::<T>(0)
    }

    fn from_value(value: Value) -> Result<Vec<T>, Error> {
        let ty = value.ty();
        let wrong = || Error::Type(format!("the value is a {ty}, not a []{}", T::TYPE));
        match value {
            Value::Array(array) if array.rank() == 1 => array.into_vec().map_err(|_| wrong()),
            _ => Err(wrong()),
        }
    }
}

impl<T: Element, const N: usize> FromValue for [T; N] {
    fn value_type() -> Type {
        one_dimension::<T>(N)
    }

    fn from_value(value: Value) -> Result<[T; N], Error> {
        let elements = Vec::from_value(value)?;
        elements.try_into().map_err(|elements: Vec<T>| {
            Error::Type(format!("the array has {} elements, not {N}", elements.len()))
        })
    }
}

/// A number or truth value as a scalar of the machine.
pub fn scalar<T: Element>(value: T) -> Scalar {
    let mut bytes = [0; 8];
    value.write(&mut bytes);
    Scalar::new(T::TYPE, u64::from_le_bytes(bytes))
}

macro_rules! scalars {
    ($($rust:ty)+) => {$(
        impl IntoValue for $rust {
            fn value_type() -> Type {
                Type::Scalar(<$rust as Element>::TYPE)
            }

            fn into_value(self, _: &Memory) -> Result<Value, Error> {
                Ok(Value::Scalar(scalar(self)))
            }
        }

        impl FromValue for $rust {
            fn value_type() -> Type {
                Type::Scalar(<$rust as Element>::TYPE)
            }

            fn from_value(value: Value) -> Result<$rust, Error> {
                match value {
                    Value::Scalar(found) if found.ty == <$rust as Element>::TYPE => {
                        Ok(<$rust as Element>::read(&found.bits.to_le_bytes()))
                    }
                    other => {
                        let wanted = <$rust as Element>::TYPE;
                        Err(Error::Type(format!("the value is a {}, not a {wanted}", other.ty())))
                    }
                }
            }
        }
    )+};
}

scalars! { i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64 bool }

impl Arguments for Vec<Value> {
    fn argument_types() -> Option<Vec<Type>> {
        None
    }

    fn into_values(self, _: &Memory) -> Result<Vec<Value>, Error> {
        Ok(self)
    }
}

impl Arguments for () {
    fn argument_types() -> Option<Vec<Type>> {
        Some(Vec::new())
    }

    fn into_values(self, _: &Memory) -> Result<Vec<Value>, Error> {
        Ok(Vec::new())
    }
}

impl Results for () {
    fn result_types() -> Vec<Type> {
        Vec::new()
    }

    fn from_values(values: Vec<Value>) -> Result<(), Error> {
        exactly(0, values).map(|_| ())
    }
}

impl<T: FromValue> Results for T {
    fn result_types() -> Vec<Type> {
        vec![T::value_type()]
    }

    fn from_values(values: Vec<Value>) -> Result<T, Error> {
        single(values)
    }
}

impl<T: Outcome> Results for Rows<T> {
    fn result_types() -> Vec<Type> {
        vec![Rows::<T>::result_type()]
    }

    fn from_values(values: Vec<Value>) -> Result<Rows<T>, Error> {
        single(values)
    }
}

/// The only result of a call. For what is derived, too.
#[doc(hidden)]
pub fn single<T: Outcome>(values: Vec<Value>) -> Result<T, Error> {
    let mut values = exactly(T::result_type().count(), values)?;
    let result = T::take(&mut values)?;
    Ok(result)
}

fn exactly(wanted: usize, values: Vec<Value>) -> Result<IntoIter<Value>, Error> {
    if values.len() == wanted {
        return Ok(values.into_iter());
    }
    Err(Error::Type(format!("the call has {} results, not {wanted}", values.len())))
}

macro_rules! tuples {
    ($($($name:ident)+;)+) => {$(
        #[allow(non_snake_case, reason = "one letter names the type and its value")]
        impl<$($name: Argument),+> Arguments for ($($name,)+) {
            fn argument_types() -> Option<Vec<Type>> {
                Some(vec![$($name::argument_type()),+])
            }

            fn into_values(self, memory: &Memory) -> Result<Vec<Value>, Error> {
                let ($($name,)+) = self;
                let mut values = Vec::new();
                $($name.put(memory, &mut values)?;)+
                Ok(values)
            }
        }

        impl<$($name: Outcome),+> Results for ($($name,)+) {
            fn result_types() -> Vec<Type> {
                vec![$($name::result_type()),+]
            }

            fn from_values(values: Vec<Value>) -> Result<($($name,)+), Error> {
                let wanted = 0 $(+ $name::result_type().count())+;
                let mut values = exactly(wanted, values)?;
                Ok(($($name::take(&mut values)?,)+))
            }
        }
    )+};
}

tuples! {
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
}
