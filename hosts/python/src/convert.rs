//! Objects of Python to values of programs and back, as the types of entry points say.

use crate::arrays::{Held, shown};
use crate::error::{RunError, exception};
use crate::parts::{Constructor, Parts};
use galopvm::derived::{put_sum, take_sum};
use galopvm::{Array, ElemType, Memory, Scalar, Type, Value, ValueType, f16, scalar};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple};
use std::vec::IntoIter;

/// A value that only programs take apart: one of a type that a module hides, or an array of sums. It can be given to entry points.
#[pyclass(frozen, weakref, module = "galopvm")]
pub struct Opaque {
    /// The type as the source writes it.
    #[pyo3(get)]
    r#type: String,
    values: Vec<Value>,
}

#[pymethods]
impl Opaque {
    fn __repr__(&self) -> String {
        format!("<galopvm value of type {}>", self.r#type)
    }
}

/// One parameter or result of an entry point.
pub struct Place {
    /// For messages: a parameter's name, or its number.
    pub name: String,
    /// The type as the source writes it.
    pub ty: String,
    pub parts: Parts,
}

/// The values of an argument.
pub fn argument(object: &Bound<'_, PyAny>, place: &Place, values: &mut Vec<Value>) -> PyResult<()> {
    Taking { name: &place.name }.take(object, &place.parts, values)
}

struct Taking<'a> {
    /// What messages call the argument.
    name: &'a str,
}

impl Taking<'_> {
    fn wrong(&self, object: &Bound<'_, PyAny>, wanted: &str) -> PyErr {
        let given = object.get_type().name().map_or_else(|_| "object".to_string(), |name| name.to_string());
        PyTypeError::new_err(format!("`{}` is {wanted}, not {given}", self.name))
    }

    fn take(&self, object: &Bound<'_, PyAny>, parts: &Parts, values: &mut Vec<Value>) -> PyResult<()> {
        match parts {
            Parts::One(ty) => {
                values.push(self.one(object, *ty)?);
                Ok(())
            }
            Parts::Opaque(ty, count) => {
                let opaque = object.cast::<Opaque>().ok().map(Bound::get);
                let Some(opaque) = opaque.filter(|o| o.values.len() == *count && o.r#type == *ty) else {
                    return Err(self.wrong(object, &format!("a value of type {ty} that a program made")));
                };
                values.extend(opaque.values.iter().cloned());
                Ok(())
            }
            Parts::Tuple(items) => {
                let objects = self.items(object, items.len())?;
                objects.iter().zip(items).try_for_each(|(object, parts)| self.take(object, parts, values))
            }
            Parts::Record(_, fields) => {
                let objects = self.fields(object, fields)?;
                let pairs = objects.iter().zip(fields);
                pairs.into_iter().try_for_each(|(object, (_, parts))| self.take(object, parts, values))
            }
            Parts::Sum(ty, constructors) => {
                let (constructor, held) = self.constructor(object, ty, constructors)?;
                let mut payload = Vec::new();
                for (object, parts) in held.iter().zip(&constructor.payload) {
                    self.take(object, parts, &mut payload)?;
                }
                put_sum(ty, &constructor.name, payload, &Memory::default(), values)
                    .map_err(|error| exception(&error))
            }
        }
    }

    /// The constructor that an object has, and what it holds: that of a variant, or a text that names one which holds nothing.
    fn constructor<'py, 'c>(
        &self,
        object: &Bound<'py, PyAny>,
        ty: &Type,
        constructors: &'c [Constructor],
    ) -> PyResult<(&'c Constructor, Vec<Bound<'py, PyAny>>)> {
        let named = |name: &str| constructors.iter().find(|constructor| constructor.name == name);
        let found = match object.cast::<PyString>() {
            Ok(text) => named(&text.to_cow()?).map(|constructor| (constructor, Vec::new())),
            Err(_) => match (object.getattr("constructor"), object.cast::<PyTuple>()) {
                (Ok(name), Ok(held)) => name
                    .extract::<String>()
                    .ok()
                    .and_then(|name| named(&name).map(|constructor| (constructor, held.iter().collect()))),
                _ => None,
            },
        };
        let wrong = || {
            let given = object.repr().map_or_else(|_| "that".to_string(), |text| text.to_string());
            PyTypeError::new_err(format!(
                "`{}` is one of {ty} (galopvm.variant.NAME(..)), not {given}",
                self.name
            ))
        };
        found.filter(|(constructor, held)| held.len() == constructor.payload.len()).ok_or_else(wrong)
    }

    fn items<'py>(&self, object: &Bound<'py, PyAny>, count: usize) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let wrong = || self.wrong(object, &format!("a tuple of {count} values"));
        let items: Vec<Bound<'py, PyAny>> = object.extract().map_err(|_| wrong())?;
        if items.len() == count { Ok(items) } else { Err(wrong()) }
    }

    /// The fields of a dictionary, a named tuple or another object with attributes, or a tuple in their order.
    fn fields<'py>(
        &self,
        object: &Bound<'py, PyAny>,
        fields: &[(String, Parts)],
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let names = || fields.iter().map(|(name, _)| name.as_str());
        let wrong = || self.wrong(object, &format!("a record of {}", names().collect::<Vec<_>>().join(", ")));
        if let Ok(dict) = object.cast::<PyDict>() {
            if dict.len() != fields.len() {
                return Err(wrong());
            }
            return names().map(|name| dict.get_item(name)?.ok_or_else(wrong)).collect();
        }
        let attributes: PyResult<Vec<_>> = names().map(|name| object.getattr(name)).collect();
        match attributes {
            Ok(attributes) => Ok(attributes),
            Err(_) if object.is_instance_of::<PyTuple>() => self.items(object, fields.len()),
            Err(_) => Err(wrong()),
        }
    }

    fn one(&self, object: &Bound<'_, PyAny>, ty: ValueType) -> PyResult<Value> {
        if ty.is_scalar() {
            self.scalar(object, ty.elem).map(Value::Scalar)
        } else {
            self.array(object, ty).map(Value::Array)
        }
    }

    fn scalar(&self, object: &Bound<'_, PyAny>, ty: ElemType) -> PyResult<Scalar> {
        let found = match ty {
            ElemType::I8 => object.extract().map(scalar::<i8>),
            ElemType::I16 => object.extract().map(scalar::<i16>),
            ElemType::I32 => object.extract().map(scalar::<i32>),
            ElemType::I64 => object.extract().map(scalar::<i64>),
            ElemType::U8 => object.extract().map(scalar::<u8>),
            ElemType::U16 => object.extract().map(scalar::<u16>),
            ElemType::U32 => object.extract().map(scalar::<u32>),
            ElemType::U64 => object.extract().map(scalar::<u64>),
            ElemType::F16 => object.extract().map(|x| scalar(f16::from_f64(x))),
            ElemType::F32 => object.extract().map(|x: f64| scalar(x as f32)),
            ElemType::F64 => object.extract().map(scalar::<f64>),
            ElemType::Bool => object.extract().map(scalar::<bool>),
        };
        found.map_err(|error| match error.is_instance_of::<PyTypeError>(object.py()) {
            true => self.wrong(object, &format!("of type {ty}")),
            false => error,
        })
    }

    fn array(&self, object: &Bound<'_, PyAny>, ty: ValueType) -> PyResult<Array> {
        let py = object.py();
        let (object, found) = match shown(object)? {
            Some(found) => (object.clone(), Some(found)),
            // Lists, and arrays of other libraries.
            None => {
                self.refuse_nulls(object)?;
                let array = numpy_array(object, ty.elem).map_err(|error| self.no_array(object, ty, error))?;
                let found = shown(&array)?;
                (array, found)
            }
        };
        let Some(found) = found else { return Err(self.wrong(&object, &format!("an array {ty}"))) };
        if found.elem != Some(ty.elem) || found.shape.len() != usize::from(ty.rank) {
            let given = object.getattr("dtype").map_or_else(|_| "other elements".into(), |d| d.to_string());
            return Err(PyTypeError::new_err(format!(
                "`{}` is an array {ty}, that is {} of {} dimensions, not {given} of {}",
                self.name,
                numpy_name(ty.elem),
                ty.rank,
                found.shape.len()
            )));
        }
        if let Some(array) = found.lend()? {
            return Ok(array);
        }
        // Elements that begin between others, as fields of structures may.
        let copy = numpy(py)?.call_method1("ascontiguousarray", (object,))?;
        let copy = shown(&copy)?.map(|found| found.lend()).transpose()?.flatten();
        copy.ok_or_else(|| PyValueError::new_err(format!("`{}` is an array that cannot be read", self.name)))
    }

    fn no_array(&self, object: &Bound<'_, PyAny>, ty: ValueType, error: PyErr) -> PyErr {
        let py = object.py();
        let wrong = self.wrong(object, &format!("an array {ty}"));
        let wrong = PyTypeError::new_err(format!("{}: {}", wrong.value(py), error.value(py)));
        wrong.set_cause(py, Some(error));
        wrong
    }

    /// Columns of Arrow and Polars, and those of Pandas with types of its own, may lack values. NumPy would take such a one for a number
    /// that is none.
    fn refuse_nulls(&self, object: &Bound<'_, PyAny>) -> PyResult<()> {
        let (nulls, fill) = if let Ok(nulls) = object.getattr("null_count") {
            (if nulls.is_callable() { nulls.call0()? } else { nulls }, "fill_null")
        } else if object.getattr("dtype").is_ok_and(|ty| ty.hasattr("na_value").unwrap_or(false)) {
            (object.call_method0("isna")?.call_method0("sum")?, "fillna")
        } else {
            return Ok(());
        };
        match nulls.extract::<u64>() {
            Ok(nulls) if nulls > 0 => Err(PyTypeError::new_err(format!(
                "`{}` lacks {nulls} of its values (null); with `.{fill}(0)`, say, there is one in each place",
                self.name
            ))),
            _ => Ok(()),
        }
    }
}

/// The name of an element type in NumPy.
pub fn numpy_name(ty: ElemType) -> &'static str {
    match ty {
        ElemType::I8 => "int8",
        ElemType::I16 => "int16",
        ElemType::I32 => "int32",
        ElemType::I64 => "int64",
        ElemType::U8 => "uint8",
        ElemType::U16 => "uint16",
        ElemType::U32 => "uint32",
        ElemType::U64 => "uint64",
        ElemType::F16 => "float16",
        ElemType::F32 => "float32",
        ElemType::F64 => "float64",
        ElemType::Bool => "bool",
    }
}

fn numpy(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static NUMPY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    NUMPY.get_or_try_init(py, || py.import("numpy").map(|m| m.into_any().unbind())).map(|m| m.bind(py))
}

fn as_array(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static AS_ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    AS_ARRAY.get_or_try_init(py, || numpy(py)?.getattr("asarray").map(Bound::unbind)).map(|f| f.bind(py))
}

/// An object as an array of NumPy: over the same memory, by DLPack, where that is offered. Truth values that are packed bits become bytes.
fn numpy_array<'py>(object: &Bound<'py, PyAny>, ty: ElemType) -> PyResult<Bound<'py, PyAny>> {
    let numpy = numpy(object.py())?;
    let is_array = object.hasattr("__array__")? || object.hasattr("__array_interface__")?;
    if object.hasattr("__dlpack__")? {
        let found = numpy.call_method1("from_dlpack", (object,));
        if found.is_ok() || ty != ElemType::Bool || !is_array {
            return found;
        }
    }
    if is_array {
        return numpy.call_method1("asarray", (object,));
    }
    numpy.call_method1("asarray", (object, numpy_name(ty)))
}

/// The object of a result's values, which are taken from the front.
pub fn result(py: Python<'_>, parts: &Parts, values: &mut IntoIter<Value>) -> PyResult<Py<PyAny>> {
    let objects = |py, parts: &mut dyn Iterator<Item = &Parts>, values: &mut IntoIter<Value>| {
        let objects: Vec<_> = parts.map(|parts| result(py, parts, values)).collect::<PyResult<_>>()?;
        PyTuple::new(py, objects)
    };
    match parts {
        Parts::One(_) => match values.next() {
            Some(value) => object_of(py, value),
            None => Ok(py.None()),
        },
        Parts::Opaque(ty, count) => {
            let values = values.take(*count).collect();
            Ok(Py::new(py, Opaque { r#type: ty.clone(), values })?.into_any())
        }
        Parts::Tuple(items) => Ok(objects(py, &mut items.iter(), values)?.into_any().unbind()),
        Parts::Record(class, fields) => {
            class.call1(py, objects(py, &mut fields.iter().map(|(_, parts)| parts), values)?)
        }
        Parts::Sum(ty, constructors) => {
            let (number, mut held) = take_sum(ty, values).map_err(|error| exception(&error))?;
            // The values of a sum have one of its constructors.
            let constructor = &constructors[number];
            constructor.class.call1(py, objects(py, &mut constructor.payload.iter(), &mut held)?)
        }
    }
}

fn object_of(py: Python<'_>, value: Value) -> PyResult<Py<PyAny>> {
    match value {
        Value::Scalar(scalar) => scalar_object(py, scalar),
        Value::Array(array) => {
            let gone = || RunError::new_err("The elements of the array are gone.");
            let held = Bound::new(py, Held::new(array).ok_or_else(gone)?)?;
            match as_array(py) {
                Ok(as_array) => Ok(as_array.call1((held,))?.unbind()),
                // Without NumPy the memory shows itself.
                Err(_) => Ok(held.into_any().unbind()),
            }
        }
    }
}

fn scalar_object(py: Python<'_>, scalar: Scalar) -> PyResult<Py<PyAny>> {
    let bits = scalar.bits;
    match scalar.ty {
        ElemType::I8 => (bits as i8).into_py_any(py),
        ElemType::I16 => (bits as i16).into_py_any(py),
        ElemType::I32 => (bits as i32).into_py_any(py),
        ElemType::I64 => (bits as i64).into_py_any(py),
        ElemType::U8 => (bits as u8).into_py_any(py),
        ElemType::U16 => (bits as u16).into_py_any(py),
        ElemType::U32 => (bits as u32).into_py_any(py),
        ElemType::U64 => bits.into_py_any(py),
        ElemType::F16 => f16::from_bits(bits as u16).to_f64().into_py_any(py),
        ElemType::F32 => f32::from_bits(bits as u32).into_py_any(py),
        ElemType::F64 => f64::from_bits(bits).into_py_any(py),
        ElemType::Bool => (bits != 0).into_py_any(py),
    }
}
