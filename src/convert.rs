//! Values of Rust types to values of programs and back.
//!
//! Scalars are Rust's scalars, arrays of one dimension are slices and vectors, arrays of any rank are [`Array`].
//! Several values together are tuples. Vectors that are given, shared slices and [`Array`]s are passed on without copying; slices
//! that are only shown are copied.

use crate::error::{Error, of_trap};
use galopvm_base::Scalar;
use galopvm_runtime::{Array, Element, Memory, Value, f16};
use std::sync::Arc;

/// What can be given to an entry point as one value.
pub trait IntoValue {
    /// The value, in this memory.
    fn into_value(self, memory: &Memory) -> Result<Value, Error>;
}

/// What one value of an entry point can be taken as.
pub trait FromValue: Sized {
    /// The Rust value, or an error that names both types.
    fn from_value(value: Value) -> Result<Self, Error>;
}

/// All arguments of a call: a tuple of values, or a vector of them.
pub trait Arguments {
    /// The values, in order.
    fn into_values(self, memory: &Memory) -> Result<Vec<Value>, Error>;
}

/// All results of a call: one value or a tuple of them.
pub trait Results: Sized {
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
    fn into_value(self, memory: &Memory) -> Result<Value, Error> {
        let length = i64::try_from(self.len()).unwrap_or(i64::MAX);
        let array = Array::from_slice(memory, self, &[length]).map_err(of_trap)?;
        Ok(Value::Array(array))
    }
}

impl<T: Element> IntoValue for &Vec<T> {
    fn into_value(self, memory: &Memory) -> Result<Value, Error> {
        self.as_slice().into_value(memory)
    }
}

impl<T: Element> IntoValue for Vec<T> {
    fn into_value(self, _: &Memory) -> Result<Value, Error> {
        let shape = [i64::try_from(self.len()).unwrap_or(i64::MAX)];
        Ok(Value::Array(Array::from_vec(self, &shape).map_err(of_trap)?))
    }
}

impl<T: Element> IntoValue for Arc<[T]> {
    fn into_value(self, _: &Memory) -> Result<Value, Error> {
        let shape = [i64::try_from(self.len()).unwrap_or(i64::MAX)];
        Ok(Value::Array(Array::lent(self, &shape).map_err(of_trap)?))
    }
}

impl<T: Element, const N: usize> IntoValue for &[T; N] {
    fn into_value(self, memory: &Memory) -> Result<Value, Error> {
        self.as_slice().into_value(memory)
    }
}

impl<T: Element, const N: usize> IntoValue for [T; N] {
    fn into_value(self, memory: &Memory) -> Result<Value, Error> {
        self.as_slice().into_value(memory)
    }
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
    fn from_value(value: Value) -> Result<Vec<T>, Error> {
        let ty = value.ty();
        let wrong = || Error::Type(format!("the value is a {ty}, not a []{}", T::TYPE));
        match value {
            Value::Array(array) if array.rank() == 1 => array.into_vec().map_err(|_| wrong()),
            _ => Err(wrong()),
        }
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
            fn into_value(self, _: &Memory) -> Result<Value, Error> {
                Ok(Value::Scalar(scalar(self)))
            }
        }

        impl FromValue for $rust {
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
    fn into_values(self, _: &Memory) -> Result<Vec<Value>, Error> {
        Ok(self)
    }
}

impl Arguments for () {
    fn into_values(self, _: &Memory) -> Result<Vec<Value>, Error> {
        Ok(Vec::new())
    }
}

impl Results for () {
    fn from_values(values: Vec<Value>) -> Result<(), Error> {
        exactly::<0>(values).map(|_| ())
    }
}

impl<T: FromValue> Results for T {
    fn from_values(values: Vec<Value>) -> Result<T, Error> {
        let [value] = exactly::<1>(values)?;
        T::from_value(value)
    }
}

fn exactly<const N: usize>(values: Vec<Value>) -> Result<[Value; N], Error> {
    let found = values.len();
    values.try_into().map_err(|_| Error::Type(format!("the call has {found} results, not {N}")))
}

macro_rules! tuples {
    ($($count:literal: $($name:ident)+;)+) => {$(
        #[allow(non_snake_case, reason = "one letter names the type and its value")]
        impl<$($name: IntoValue),+> Arguments for ($($name,)+) {
            fn into_values(self, memory: &Memory) -> Result<Vec<Value>, Error> {
                let ($($name,)+) = self;
                Ok(vec![$($name.into_value(memory)?),+])
            }
        }

        #[allow(non_snake_case, reason = "one letter names the type and its value")]
        impl<$($name: FromValue),+> Results for ($($name,)+) {
            fn from_values(values: Vec<Value>) -> Result<($($name,)+), Error> {
                let [$($name),+] = exactly::<$count>(values)?;
                Ok(($($name::from_value($name)?,)+))
            }
        }
    )+};
}

tuples! {
    1: A;
    2: A B;
    3: A B C;
    4: A B C D;
    5: A B C D E;
    6: A B C D E F;
    7: A B C D E F G;
    8: A B C D E F G H;
}
