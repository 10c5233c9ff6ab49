//! How a value of the source language is made of values of the machine, with the classes that Python has for it.
//!
//! Tuples and records are their parts, one after the other; an array of them is as many arrays. What the type does not tell, as one
//! that a module hides, and arrays of sums are opaque: so many values together.

use galopvm::{ElemType, Type, ValueType};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// The parts of a value.
pub enum Parts {
    /// One scalar or array.
    One(ValueType),
    /// A tuple, or an array of tuples.
    Tuple(Vec<Parts>),
    /// A record, or an array of records: the class of its named tuples, and its fields.
    Record(Py<PyAny>, Vec<(String, Parts)>),
    /// One of several constructors.
    Sum(Type, Vec<Constructor>),
    /// So many values of a type that only the program takes apart.
    Opaque(String, usize),
}

/// A constructor of a sum.
pub struct Constructor {
    pub name: String,
    /// The class of its values.
    pub class: Py<PyAny>,
    /// What it holds.
    pub payload: Vec<Parts>,
}

impl Parts {
    /// The parts of a parameter or result whose type is written like this, with values of these types.
    pub fn of(py: Python<'_>, written: &str, types: &[ValueType]) -> PyResult<Parts> {
        let mut found = Vec::new();
        let parts = Parts::of_type(py, "record", &Type::read(written), 0, &mut found)?;
        Ok(match (parts, types) {
            (Some(parts), types) if found == types => parts,
            (_, [ty]) => Parts::One(*ty),
            (_, types) => Parts::Opaque(written.trim_start_matches('*').to_string(), types.len()),
        })
    }

    /// Those of a type that lies in arrays of so many dimensions; `found` gets the types of its values. Nothing if it does not tell.
    fn of_type(
        py: Python<'_>,
        name: &str,
        ty: &Type,
        above: u8,
        found: &mut Vec<ValueType>,
    ) -> PyResult<Option<Parts>> {
        let mut one = |elem| {
            let ty = ValueType { elem, rank: above };
            found.push(ty);
            Ok(Some(Parts::One(ty)))
        };
        match ty {
            Type::Any => Ok(None),
            Type::Scalar(elem) => one(*elem),
            // An array of empty tuples still has a length.
            Type::Tuple(items) if items.is_empty() && above > 0 => one(ElemType::Bool),
            Type::Array(extents, element) => {
                let rank = u8::try_from(extents.len()).unwrap_or(u8::MAX);
                Parts::of_type(py, name, element, above.saturating_add(rank), found)
            }
            Type::Tuple(items) => {
                let item = |ty| Parts::of_type(py, name, ty, above, found);
                Ok(items.iter().map(item).collect::<PyResult<Option<_>>>()?.map(Parts::Tuple))
            }
            Type::Record(fields) => {
                let names = PyTuple::new(py, fields.iter().map(|(name, _)| name.as_str()))?;
                let class = py.import("galopvm.records")?.getattr("named")?.call1((name, names))?;
                let field = |(name, ty): &(String, Type)| {
                    let parts = Parts::of_type(py, name, ty, above, found)?;
                    Ok(parts.map(|parts| (name.clone(), parts)))
                };
                let fields = fields.iter().map(field).collect::<PyResult<Option<_>>>()?;
                Ok(fields.map(|fields| Parts::Record(class.unbind(), fields)))
            }
            Type::Sum(constructors) => {
                let Some(values) = ty.values() else { return Ok(None) };
                let value = |(elem, extents): &(ElemType, Vec<i64>)| {
                    let rank = u8::try_from(extents.len()).unwrap_or(u8::MAX);
                    ValueType { elem: *elem, rank: above.saturating_add(rank) }
                };
                found.extend(values.iter().map(value));
                if above > 0 {
                    return Ok(Some(Parts::Opaque(array_text(ty, above), values.len())));
                }
                let constructor = |(name, payload): &(String, Vec<Type>)| {
                    let item = |ty| Parts::of_type(py, "record", ty, 0, &mut Vec::new());
                    let payload = payload.iter().map(item).collect::<PyResult<Option<_>>>()?;
                    let class = py.import("galopvm.sums")?.getattr("named")?.call1((name,))?.unbind();
                    Ok(payload.map(|payload| Constructor { name: name.clone(), class, payload }))
                };
                let constructors = constructors.iter().map(constructor).collect::<PyResult<Option<_>>>()?;
                Ok(constructors.map(|constructors| Parts::Sum(ty.clone(), constructors)))
            }
        }
    }
}

/// How a program would write the type of arrays of sums; of any sizes, so that what one entry point made another one takes.
fn array_text(element: &Type, rank: u8) -> String {
    Type::array(&vec![0; usize::from(rank)], element.clone()).to_string()
}
