//! Columns of Apache Arrow, with the feature `arrow`: arguments and results of the crate `arrow-array`.
//!
//! | Arrow has | in the program | copied |
//! |---|---|---|
//! | `PrimitiveArray` of numbers, also a slice of one | array of that element type | if it is consumed |
//! | `BooleanArray`, eight to a byte | array of truth values | at once |
//! | `FixedSizeListArray` of these, lists of lists | array of more dimensions | if it is consumed |
//! | `ArrayRef`, `&dyn Array` | what it is | as above |
//! | `RecordBatch` | the arguments that have the names of its columns: [`arguments`] | as above |
//!
//! Results are taken as columns of the same types. They stay where the program made them, if their elements are in row-major order, else
//! they are copied. What has nulls is an error, as programs have none; so are dates, times and decimals, whose numbers
//! `PrimitiveArray::reinterpret_cast` shows.
//!
//! ```
//! use arrow_array::{Array, Float64Array, Int64Array, RecordBatch, cast::AsArray, types::Float64Type};
//! use galopvm::{Engine, Program, arrow};
//! use std::sync::Arc;
//!
//! fn main() -> Result<(), galopvm::Error> {
//!     let program = Program::from_source(
//!         "worth.fut",
//!         "entry worth [n] (price: [n]f64) (size: [n]i64): [n]f64 = map2 (\\p s -> p * f64.i64 s) price size",
//!     )?;
//!     let mut session = Engine::new().session(&program);
//!
//!     let (price, size) = (Float64Array::from(vec![10.0, 0.5]), Int64Array::from(vec![1, 4]));
//!     let worth: Float64Array = session.call("worth", (&price, &size))?;
//!     assert_eq!(worth, Float64Array::from(vec![10.0, 2.0]));
//!
//!     // The columns of a batch, by the names of the parameters.
//!     let columns: [(&str, Arc<dyn Array>); 2] = [("size", Arc::new(size)), ("price", Arc::new(price))];
//!     let batch = RecordBatch::try_from_iter(columns).unwrap();
//!     let arguments = arrow::arguments(&batch, session.entry("worth")?)?;
//!     let worth: Arc<dyn Array> = session.call("worth", arguments)?;
//!     assert_eq!(worth.as_primitive::<Float64Type>().value(1), 2.0);
//!     Ok(())
//! }
//! ```

use crate::convert::{FromValue, IntoValue};
use crate::error::{Error, gone, of_trap};
use crate::types::Type;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array as Column, ArrayRef, BooleanArray, FixedSizeListArray, PrimitiveArray, RecordBatch};
use arrow_buffer::{BooleanBuffer, Buffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use galopvm_base::ElemType;
use galopvm_bytecode::Entry;
use galopvm_runtime::{Array, Element, Memory, Value};
use std::sync::Arc;

/// Calls a macro with the number types of Arrow and the element types that they are.
macro_rules! with_numbers {
    ($use:ident) => {
        $use! {
            Int8Type Int8 I8, Int16Type Int16 I16, Int32Type Int32 I32, Int64Type Int64 I64,
            UInt8Type UInt8 U8, UInt16Type UInt16 U16, UInt32Type UInt32 U32, UInt64Type UInt64 U64,
            Float16Type Float16 F16, Float32Type Float32 F32, Float64Type Float64 F64
        }
    };
}

/// The error of a column with nulls.
fn without_nulls(column: &dyn Column) -> Result<(), Error> {
    match column.logical_null_count() {
        0 => Ok(()),
        1 => Err(Error::Type("a column with a null is no array: fill it or leave it out before".into())),
        n => Err(Error::Type(format!(
            "a column with {n} nulls is no array: fill them or leave them out before"
        ))),
    }
}

fn length(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The numbers of a column where they are.
fn numbers<P: ArrowPrimitiveType<Native: Element>>(column: &PrimitiveArray<P>) -> Result<Array, Error> {
    without_nulls(column)?;
    Array::lent::<P::Native>(column.values().clone(), &[length(column.len())]).map_err(of_trap)
}

fn truths(column: &BooleanArray) -> Result<Array, Error> {
    without_nulls(column)?;
    Array::from_vec(column.values().iter().collect(), &[length(column.len())]).map_err(of_trap)
}

/// The elements of a column of a type that is known only when the host runs.
fn elements(column: &dyn Column) -> Result<Array, Error> {
    macro_rules! by_type {
        ($($ty:ident $data:ident $elem:ident),+) => {
            match column.data_type() {
                $(DataType::$data => numbers(column.as_primitive::<$ty>()),)+
                DataType::Boolean => truths(column.as_boolean()),
                DataType::FixedSizeList(..) => lists(column.as_fixed_size_list()),
                other => Err(Error::Type(format!("a column of type {other} is no array of numbers or truth values{}", hint(other)))),
            }
        };
    }
    with_numbers!(by_type)
}

/// What can be done with a column whose type programs do not have.
fn hint(ty: &DataType) -> &'static str {
    match ty {
        DataType::Date32 | DataType::Time32(_) => "; reinterpret_cast::<Int32Type>() has its numbers",
        DataType::Date64 | DataType::Time64(_) | DataType::Timestamp(..) | DataType::Duration(_) => {
            "; reinterpret_cast::<Int64Type>() has its numbers"
        }
        DataType::Dictionary(..) | DataType::RunEndEncoded(..) => "; arrow-cast unpacks it",
        DataType::List(_) | DataType::LargeList(_) => {
            "; lists of one length are a FixedSizeList, others are their elements with their offsets"
        }
        DataType::Struct(_) => "; its fields are",
        _ => "",
    }
}

/// Lists of one length as the rows of an array.
fn lists(column: &FixedSizeListArray) -> Result<Array, Error> {
    without_nulls(column)?;
    let width = i64::from(column.value_length());
    let all = elements(column.values().as_ref())?;
    let shape = [&[length(column.len()), width], &all.shape()[1..]].concat();
    let strides = [&[width.saturating_mul(all.strides()[0])], all.strides().as_slice()].concat();
    // The values of a slice begin with its first row.
    let (block, elem, view) = all.into_parts();
    Array::view_of(block, elem, view.offset, &shape, &strides).map_err(of_trap)
}

impl IntoValue for &dyn Column {
    fn into_value(self, _: &Memory) -> Result<Value, Error> {
        elements(self).map(Value::Array)
    }
}

macro_rules! columns {
    ($($ty:ty, $value_type:expr, $make:expr;)+) => {$(
        impl IntoValue for &$ty {
            fn value_type() -> Type {
                $value_type
            }

            fn into_value(self, _: &Memory) -> Result<Value, Error> {
                $make(self).map(Value::Array)
            }
        }

        impl IntoValue for $ty {
            fn value_type() -> Type {
                $value_type
            }

            fn into_value(self, memory: &Memory) -> Result<Value, Error> {
                (&self).into_value(memory)
            }
        }
    )+};
}

columns! {
    ArrayRef, Type::Any, |column: &ArrayRef| elements(column.as_ref());
    BooleanArray, Type::array(&[0], Type::Scalar(ElemType::Bool)), truths;
    FixedSizeListArray, Type::Any, lists;
}

macro_rules! number_columns {
    ($($ty:ident $data:ident $elem:ident),+) => {
        columns! { $(PrimitiveArray<$ty>, Type::array(&[0], Type::Scalar(ElemType::$elem)), numbers;)+ }

        $(
            impl FromValue for PrimitiveArray<$ty> {
                fn value_type() -> Type {
                    Type::array(&[0], Type::Scalar(ElemType::$elem))
                }

                fn from_value(value: Value) -> Result<Self, Error> {
                    let array = column_of(value, ElemType::$elem)?;
                    Ok(PrimitiveArray::new(buffer(array)?, None))
                }
            }
        )+

        /// The elements of an array, in row-major order, as a column.
        fn flat(array: Array) -> Result<ArrayRef, Error> {
            Ok(match array.elem() {
                $(ElemType::$elem => Arc::new(PrimitiveArray::<$ty>::new(buffer(array)?, None)),)+
                ElemType::Bool => Arc::new(packed(array)?),
            })
        }
    };
}

with_numbers!(number_columns);

/// A result as an array of one dimension.
fn column_of(value: Value, elem: ElemType) -> Result<Array, Error> {
    let found = value.ty();
    match value {
        Value::Array(array) if array.rank() == 1 && array.elem() == elem => Ok(array),
        _ => Err(Error::Type(format!("the value is a {found}, not a []{elem}"))),
    }
}

/// An array whose bytes are looked at by others.
struct Bytes(Array);

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self.0.row_major_bytes().unwrap_or_default()
    }
}

/// The elements of an array in row-major order: where they are, or a copy.
fn buffer<T: Element + arrow_buffer::ArrowNativeType>(array: Array) -> Result<ScalarBuffer<T>, Error> {
    // Nothing has no place, which for Arrow would be a wrong one.
    if array.as_slice::<T>().is_some_and(|elements| !elements.is_empty()) {
        return Ok(Buffer::from(bytes::Bytes::from_owner(Bytes(array))).into());
    }
    array.to_vec::<T>().map(ScalarBuffer::from).ok_or_else(gone)
}

fn packed(array: Array) -> Result<BooleanArray, Error> {
    let elements = array.into_vec::<bool>().map_err(|_| gone())?;
    Ok(BooleanArray::new(BooleanBuffer::from(elements), None))
}

impl FromValue for BooleanArray {
    fn value_type() -> Type {
        Type::array(&[0], Type::Scalar(ElemType::Bool))
    }

    fn from_value(value: Value) -> Result<Self, Error> {
        packed(column_of(value, ElemType::Bool)?)
    }
}

impl FromValue for ArrayRef {
    /// Arrays of more than one dimension are lists of one length.
    fn from_value(value: Value) -> Result<Self, Error> {
        let array = Array::from_value(value)?;
        let shape = array.shape();
        let Some((rows, widths)) = shape.split_first() else {
            return Err(Error::Type(format!("an array of {} without dimensions is no column", array.elem())));
        };
        // Of nothing there can be more rows than Arrow counts.
        let counted = shape.iter().try_fold(1i64, |count, extent| count.checked_mul((*extent).max(1)));
        if counted.is_none() || widths.iter().any(|width| i32::try_from(*width).is_err()) {
            let shape = shape.iter().map(|extent| format!("[{extent}]")).collect::<String>();
            return Err(Error::Type(format!("lists of the shape {shape} are longer than Arrow's can be")));
        }
        let mut column = flat(array)?;
        // Lists of elements first, then lists of lists.
        for (at, width) in widths.iter().enumerate().rev() {
            let count = rows * widths[..at].iter().product::<i64>();
            let field = Arc::new(Field::new_list_field(column.data_type().clone(), false));
            let lists =
                FixedSizeListArray::try_new_with_length(field, *width as i32, column, None, count as usize);
            column = Arc::new(lists.map_err(|error| Error::Type(error.to_string()))?);
        }
        Ok(column)
    }
}

/// The arguments of an entry point: for each parameter the column of its name. Columns that no parameter names are left out.
pub fn arguments(batch: &RecordBatch, entry: &Entry) -> Result<Vec<Value>, Error> {
    let of = |name: &str| {
        let column = batch.column_by_name(name).ok_or_else(|| {
            let schema = batch.schema();
            let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            Error::Type(format!("there is no column `{name}`; there are {}", names.join(", ")))
        })?;
        let value = elements(column.as_ref()).map(Value::Array);
        value.map_err(|error| Error::Type(format!("column `{name}`: {error}")))
    };
    entry.params.iter().map(|param| of(&param.name)).collect()
}
