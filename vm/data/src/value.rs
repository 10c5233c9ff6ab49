//! A value: a scalar or an array.

use galopvm_base::{ElemType, Scalar};
use galopvm_bytecode::ValueType;
use galopvm_store::Array;
use std::fmt;

/// A value of the machine.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// A scalar.
    Scalar(Scalar),
    /// An array of one or more dimensions.
    Array(Array),
}

impl Value {
    /// The type.
    pub fn ty(&self) -> ValueType {
        match self {
            Value::Scalar(scalar) => ValueType::scalar(scalar.ty),
            // Ranks of verified code and of data files are below 256.
            Value::Array(array) => {
                ValueType::array(array.elem(), u8::try_from(array.rank()).unwrap_or(u8::MAX))
            }
        }
    }

    /// The element type.
    pub fn elem(&self) -> ElemType {
        self.ty().elem
    }

    /// The scalar, if it is one.
    pub fn as_scalar(&self) -> Option<Scalar> {
        if let Value::Scalar(scalar) = self { Some(*scalar) } else { None }
    }

    /// The array, if it is one.
    pub fn as_array(&self) -> Option<&Array> {
        if let Value::Array(array) = self { Some(array) } else { None }
    }
}

impl From<Scalar> for Value {
    fn from(scalar: Scalar) -> Value {
        Value::Scalar(scalar)
    }
}

impl From<Array> for Value {
    fn from(array: Array) -> Value {
        Value::Array(array)
    }
}

/// The text of the data format.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::value_text(self))
    }
}
