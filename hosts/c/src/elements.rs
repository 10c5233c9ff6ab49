//! Elements of arrays of whatever values: an array of tuples or records is a value of one array for each part, and an element a value of one
//! element of each.

use crate::boundary::{OutHandle, export, given, values};
use crate::session::Session;
use crate::status::Failure;
use crate::value::{Parts, Value};
use galopvm::Value as Part;
use galopvm::{Array, elements};

/// An array that is a part, of so many dimensions or more.
fn array(part: &Part, rank: usize) -> Result<&Array, Failure> {
    let array = part.as_array().filter(|array| array.rank() >= rank);
    array.ok_or_else(|| {
        Failure::ty(format!("An array of {rank} dimensions or more is wanted; the value is a {}.", part.ty()))
    })
}

fn check_inside(array: &Array, index: &[i64]) -> Result<(), Failure> {
    let shape = array.shape();
    if index.iter().zip(&shape).all(|(i, extent)| (0..*extent).contains(i)) {
        return Ok(());
    }
    let shape: String = shape.iter().map(|extent| format!("[{extent}]")).collect();
    Err(Failure::argument(format!("The index {index:?} is outside of an array of shape {shape}.")))
}

/// The element or row of an array at an index inside it.
fn element_of(array: &Array, index: &[i64]) -> Result<Part, Failure> {
    elements::at(array, index).ok_or_else(Failure::gone)
}

/// Refuses what is no element of an array of elements like this one.
fn check_fits(new: &Part, old: &Part) -> Result<(), Failure> {
    if new.ty() == old.ty() && elements::shape(new) == elements::shape(old) {
        return Ok(());
    }
    let text = |part: &Part| {
        let extents: String = elements::shape(part).iter().map(|extent| format!("[{extent}]")).collect();
        format!("{extents}{}", part.elem())
    };
    Err(Failure::ty(format!("The element is a {}; the array has {}.", text(new), text(old))))
}

export! {
    /// The element of an array at an index; a row if there are fewer numbers than dimensions. Of a value of several arrays, that of each.
    /// Rows share the memory.
    fn galopvm_value_at(value: Option<&Value>, rank: usize, index: *const i64, out: OutHandle<'_, Value>) -> Status {
        let index = values(index, rank, "index")?;
        let mut parts = Parts::new();
        for part in given(value, "value")?.values() {
            let array = array(part, rank)?;
            check_inside(array, index)?;
            parts.push(element_of(array, index)?);
        }
        given(out, "out")?.write(Some(Value::handle(parts)));
    }

    /// Puts an element where `galopvm_value_at` finds it: in place if nobody else holds the memory, else in a copy, which the value then is.
    fn galopvm_value_set(
        session: Option<&Session>,
        value: Option<&mut Value>,
        rank: usize,
        index: *const i64,
        element: Option<&Value>,
    ) -> Status {
        let (session, index) = (given(session, "session")?, values(index, rank, "index")?);
        let (value, new) = (given(value, "value")?, given(element, "element")?);
        if value.values().len() != new.values().len() {
            return Err(Failure::ty(format!(
                "The element has {} parts, those of the array {}.",
                new.values().len(),
                value.values().len()
            )));
        }
        // What does not fit is found before anything is changed.
        for (part, new) in value.values().iter().zip(new.values()) {
            let array = array(part, rank)?;
            check_inside(array, index)?;
            check_fits(new, &element_of(array, index)?)?;
        }
        value.change(|parts| {
            for (part, new) in parts.iter_mut().zip(new.values()) {
                if let Part::Array(array) = part {
                    elements::put(session.memory(), array, index, new)?;
                }
            }
            Ok(())
        })?;
    }

    /// An array of elements in row-major order, as many as the shape says, of which there is one at least.
    fn galopvm_value_stack(
        session: Option<&Session>,
        elements: *const Option<&Value>,
        rank: usize,
        shape: *const i64,
        out: OutHandle<'_, Value>,
    ) -> Status {
        let (session, shape) = (given(session, "session")?, values(shape, rank, "shape")?);
        let count = shape.iter().try_fold(1i64, |count, extent| count.checked_mul(*extent).filter(|_| *extent > 0));
        let count = count.and_then(|count| usize::try_from(count).ok());
        let count = count.ok_or_else(|| Failure::argument(format!("{shape:?} is no shape of an array with elements.")))?;
        let elements: Vec<&Value> =
            values(elements, count, "elements")?.iter().map(|element| given(*element, "elements")).collect::<Result<_, _>>()?;
        let parts = elements[0].values().len();
        if let Some(other) = elements.iter().find(|element| element.values().len() != parts) {
            return Err(Failure::ty(format!("Elements have {parts} and {} parts.", other.values().len())));
        }
        let column = |k: usize| -> Result<Part, Failure> {
            let first = &elements[0].values()[k];
            let column = || elements.iter().map(|element| &element.values()[k]);
            column().try_for_each(|element| check_fits(element, first))?;
            let inner = elements::shape(first);
            Ok(Part::Array(elements::stacked(session.memory(), first.elem(), shape, &inner, column())?))
        };
        let arrays: Vec<Part> = (0..parts).map(column).collect::<Result<_, _>>()?;
        given(out, "out")?.write(Some(Value::handle(arrays)));
    }

    /// Makes an array one whose elements lie in row-major order, by copying them if they do not.
    fn galopvm_value_make_row_major(session: Option<&Session>, value: Option<&mut Value>) -> Status {
        let session = given(session, "session")?;
        given(value, "value")?.change(|parts| {
            for part in parts {
                if let Part::Array(array) = part && array.row_major_bytes().is_none() {
                    let copy = array.copy(session.memory());
                    *array = copy.map_err(|trap| Failure::from(galopvm::Error::Run(trap.into())))?;
                }
            }
            Ok(())
        })?;
    }
}
