//! Records, sums and arrays, made of parts and read part by part.
//!
//! A value of the language is the list of the machine's values that its type says ([`Type::parts`]). A function here takes
//! lists that fit their types; where it makes an array of rows, it checks that they agree in their extents.

use super::{Constructor, Shape, Slot, Type, rank_of};
use galopvm::elements::{self, shape};
use galopvm::{Array, ElemType, Memory, Scalar, Value, ValueType};
use std::sync::Arc;

/// What is wrong, for people.
type Made<T> = Result<T, String>;

/// The values of a type whose list does not fit it. Nobody should ever see this.
const MISFIT: &str = "The value does not fit its type.";

/// The extents of an array of so many dimensions; an array of rows has more, which are those of the rows.
pub fn outer_shape(rank: u8, parts: &[Value]) -> Made<Vec<i64>> {
    let array = parts.first().and_then(Value::as_array);
    let shape = array.and_then(|array| array.shape().get(..rank.into()).map(<[i64]>::to_vec));
    shape.ok_or_else(|| "This array consists of nothing, and has no extents.".into())
}

/// The element of an array at an index inside it.
pub fn element(ty: &Type, parts: &[Value], index: &[i64]) -> Made<Vec<Value>> {
    let mut out = Vec::new();
    let mut parts = parts.iter();
    each_leaf(ty, 0, &mut |kept| {
        let part = parts.next().and_then(|part| row(part, index)).ok_or(MISFIT)?;
        out.extend(kept.map(|_| part));
        Ok(())
    })?;
    Ok(out)
}

/// Puts an element into an array at an index inside it, in place where nobody else holds the array.
pub fn set(memory: &Memory, ty: &Type, parts: &mut [Value], index: &[i64], element: &[Value]) -> Made<()> {
    // All shapes first: a refusal changes nothing.
    let mut checked = (parts.iter(), element.iter());
    each_leaf(ty, 0, &mut |kept| {
        let old = checked.0.next().and_then(|part| row(part, index)).ok_or(MISFIT)?;
        let new = kept.map(|_| checked.1.next().ok_or(MISFIT)).transpose()?;
        match new.filter(|new| shape(new) != shape(&old)) {
            Some(new) => {
                let (found, wanted) = (shape_text(&shape(new)), shape_text(&shape(&old)));
                Err(format!(
                    "The element has the shape {found} where the array has elements of shape {wanted}."
                ))
            }
            None => Ok(()),
        }
    })?;
    let (mut parts, mut element) = (parts.iter_mut(), element.iter());
    each_leaf(ty, 0, &mut |kept| {
        let (Some(Value::Array(array)), Some(_)) = (parts.next(), kept) else { return Ok(()) };
        let new = element.next().ok_or(MISFIT)?;
        elements::put(memory, array, index, new).map_err(|error| error.to_string())
    })
}

/// An array of this shape from elements in row-major order, which are as many as it says.
pub fn array(memory: &Memory, ty: &Type, shape: &[i64], elements: &[&[Value]]) -> Made<Vec<Value>> {
    let mut rows = Rows::of(ty)?;
    elements.iter().try_for_each(|element| rows.push(element))?;
    rows.into_array(memory, shape)
}

/// An array in the making, element by element.
pub struct Rows {
    columns: Vec<Column>,
}

/// One part of each element.
enum Column {
    /// None: elements of this type have no such part, but arrays of them do.
    Nothing(ElemType),
    /// The bits of scalars.
    Scalars(ElemType, Vec<u64>),
    /// Arrays, of this type and these extents if there are none.
    Arrays(ElemType, Vec<i64>, Vec<Value>),
}

impl Rows {
    /// No elements yet, of this type.
    pub fn of(ty: &Type) -> Made<Rows> {
        let (mut columns, mut extents) = (Vec::new(), Vec::new());
        ty.part_extents(&[], &mut extents);
        let mut extents = extents.into_iter();
        leaf_types(ty, 0, &mut |leaf, kept| {
            columns.push(match if kept { extents.next() } else { None } {
                Some(extents) if extents.is_empty() => Column::Scalars(leaf.elem, Vec::new()),
                Some(extents) => Column::Arrays(leaf.elem, extents, Vec::new()),
                None => Column::Nothing(leaf.elem),
            });
            Ok(())
        })?;
        Ok(Rows { columns })
    }

    /// Adds an element.
    pub fn push(&mut self, element: &[Value]) -> Made<()> {
        let mut parts = element.iter();
        for column in &mut self.columns {
            match column {
                Column::Nothing(_) => {}
                Column::Scalars(_, bits) => {
                    bits.push(parts.next().and_then(Value::as_scalar).ok_or(MISFIT)?.bits);
                }
                Column::Arrays(_, _, rows) => rows.push(parts.next().ok_or(MISFIT)?.clone()),
            }
        }
        Ok(())
    }

    /// The array of this shape, which has as many elements as were added.
    pub fn into_array(self, memory: &Memory, shape: &[i64]) -> Made<Vec<Value>> {
        let made = |column: Column| match column {
            Column::Nothing(elem) => zeros(memory, elem, shape),
            Column::Scalars(elem, bits) => scalars(memory, elem, shape, &bits),
            Column::Arrays(elem, extents, rows) => {
                stacked(memory, elem, shape, extents, &rows).map(Value::Array)
            }
        };
        self.columns.into_iter().map(made).collect()
    }
}

/// Refuses arrays that are not all of the same outer shape.
pub fn same_outer_shape(rank: u8, arrays: &[&[Value]]) -> Made<()> {
    let shapes: Vec<Vec<i64>> = arrays.iter().filter_map(|parts| outer_shape(rank, parts).ok()).collect();
    match shapes.iter().find(|shape| **shape != shapes[0]) {
        Some(other) => {
            let (one, other) = (shape_text(&shapes[0]), shape_text(other));
            Err(format!("The arrays differ in their shapes: {one} and {other}."))
        }
        None => Ok(()),
    }
}

/// The parts of one field after the other.
pub fn fields(types: impl Iterator<Item = Arc<Type>>, mut parts: &[Value]) -> Vec<&[Value]> {
    let mut fields = Vec::new();
    for ty in types {
        let (own, rest) = parts.split_at(ty.parts().len().min(parts.len()));
        fields.push(own);
        parts = rest;
    }
    fields
}

/// The constructor of a sum's value, and its number.
pub fn constructor<'t>(constructors: &'t [Constructor], parts: &[Value]) -> Made<&'t Constructor> {
    let tag = parts.first().and_then(Value::as_scalar).map(Scalar::as_i64);
    let found = tag.and_then(|tag| constructors.get(usize::try_from(tag).ok()?));
    found.ok_or_else(|| "The value has no constructor of its type.".into())
}

/// The payload of a sum's value: the parts of each item.
pub fn payload(constructor: &Constructor, parts: &[Value]) -> Made<Vec<Vec<Value>>> {
    let mut slots = constructor.slots.iter();
    let mut items = Vec::new();
    for ty in &constructor.payload {
        let own = slots.by_ref().take(ty.parts().len());
        let own: Option<Vec<Value>> = own.map(|slot| parts.get(slot + 1).cloned()).collect();
        items.push(own.ok_or(MISFIT)?);
    }
    Ok(items)
}

/// A value of a sum from the parts of the payload. Slots that the constructor does not use hold nothing in particular.
pub fn construct(
    memory: &Memory,
    number: usize,
    constructor: &Constructor,
    slots: &[Slot],
    payload: &[Value],
) -> Made<Vec<Value>> {
    let mut parts = vec![Value::Scalar(Scalar::from_int(ElemType::I8, number as i64))];
    for (slot, Slot { ty, extents }) in slots.iter().enumerate() {
        let own = constructor.slots.iter().position(|own| *own == slot).and_then(|k| payload.get(k));
        parts.push(match own {
            Some(part) => part.clone(),
            None if ty.is_scalar() => Value::Scalar(Scalar::from_int(ty.elem, 0)),
            None => zeros(memory, ty.elem, extents)?,
        });
    }
    Ok(parts)
}

/// The types of the values that files have of a value of this type, and whether it has them itself: of the empty tuple, which
/// consists of nothing, a file has a truth value, as arrays of it have.
pub fn leaves(ty: &Type) -> Vec<(ValueType, bool)> {
    let mut leaves = Vec::new();
    // Nothing is refused.
    let _ = leaf_types(ty, 0, &mut |leaf, is_kept| {
        leaves.push((leaf, is_kept));
        Ok(())
    });
    leaves
}

/// The values that files have of a value.
pub fn stored(ty: &Type, parts: &[Value]) -> Vec<Value> {
    let mut parts = parts.iter();
    let stored = |(ty, is_kept): (ValueType, bool)| match is_kept {
        true => parts.next().cloned(),
        false => Some(Value::Scalar(Scalar::from_int(ty.elem, 0))),
    };
    leaves(ty).into_iter().filter_map(stored).collect()
}

/// Visits what an array of such elements consists of: whether the element has that part, and its type there.
fn each_leaf(ty: &Type, above: u8, visit: &mut dyn FnMut(Option<ValueType>) -> Made<()>) -> Made<()> {
    leaf_types(ty, above, &mut |leaf, kept| visit(kept.then_some(leaf)))
}

fn leaf_types(ty: &Type, above: u8, visit: &mut dyn FnMut(ValueType, bool) -> Made<()>) -> Made<()> {
    match &ty.shape {
        Shape::Scalar(elem) => visit(ValueType { elem: *elem, rank: above }, true),
        Shape::Array(extents, element) => leaf_types(element, above + rank_of(extents), visit),
        Shape::Record(fields) if fields.is_empty() => {
            visit(ValueType { elem: ElemType::Bool, rank: above }, above > 0)
        }
        Shape::Record(fields) => fields.iter().try_for_each(|(_, ty)| leaf_types(ty, above, visit)),
        Shape::Sum(_, slots) => {
            visit(ValueType { elem: ElemType::I8, rank: above }, true)?;
            slots.iter().try_for_each(|slot| visit(ValueType { rank: slot.ty.rank + above, ..slot.ty }, true))
        }
        Shape::Opaque(parts) => {
            parts.iter().try_for_each(|ty| visit(ValueType { rank: ty.rank + above, ..*ty }, true))
        }
    }
}

/// The row of an array at an index, or its element.
fn row(part: &Value, index: &[i64]) -> Option<Value> {
    elements::at(part.as_array()?, index)
}

fn shape_text(shape: &[i64]) -> String {
    shape.iter().map(|extent| format!("[{extent}]")).collect()
}

fn zeros(memory: &Memory, elem: ElemType, shape: &[i64]) -> Made<Value> {
    elements::zeros(memory, elem, shape).map(Value::Array).map_err(|error| error.to_string())
}

/// An array of these scalars.
fn scalars(memory: &Memory, elem: ElemType, shape: &[i64], bits: &[u64]) -> Made<Value> {
    let width = elem.bytes();
    let bytes: Vec<u8> = bits.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(width)).collect();
    elements::of_bytes(memory, elem, &bytes, shape).map(Value::Array).map_err(|error| error.to_string())
}

/// One array of rows, which have to agree in their extents; without any, these are theirs.
fn stacked(memory: &Memory, elem: ElemType, outer: &[i64], extents: Vec<i64>, rows: &[Value]) -> Made<Array> {
    let inner = rows.first().map_or(extents, shape);
    if let Some(other) = rows.iter().find(|row| shape(row) != inner) {
        let (one, other) = (shape_text(&inner), shape_text(&shape(other)));
        return Err(format!("The elements differ in their shapes: {one} and {other}."));
    }
    elements::stacked(memory, elem, outer, &inner, rows).map_err(|error| error.to_string())
}
