//! Values as text in the notation of the language.

use super::{Shape, Type};
use galopvm::data::{Style, write_form};
use galopvm::{Form, Value};
use std::io::{self, Write};

/// Longest text of a value.
const LONGEST: usize = 4096;

/// A value of a type on one line, as a test block takes it, cut off where it is very long.
pub fn shown(ty: &Type, parts: &[Value]) -> String {
    let mut out = Vec::new();
    // Memory takes whatever is written.
    let _ = write(&mut out, ty, parts, Style::Program);
    let text = String::from_utf8_lossy(&out).into_owned();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{} ..", &text[..end]),
        None => text,
    }
}

/// The type of a value of the machine, with its extents.
pub fn type_text(value: &Value) -> String {
    let shape = value.as_array().map_or_else(Vec::new, |array| array.shape().to_vec());
    let extents: String = shape.iter().map(|extent| format!("[{extent}]")).collect();
    format!("{extents}{}", value.elem())
}

/// Writes a value of a type on one line, without its end.
pub fn write(out: &mut dyn Write, ty: &Type, parts: &[Value], style: Style) -> io::Result<()> {
    let mut next = 0;
    let form = form(ty, false, &mut || {
        next += 1;
        next - 1
    });
    write_form(out, &form, parts, style)
}

/// The form of a type whose parts have the numbers that `next` gives.
fn form(ty: &Type, inside: bool, next: &mut dyn FnMut() -> u32) -> Form {
    match &ty.shape {
        Shape::Scalar(_) => Form::Value(next()),
        Shape::Array(extents, element) => {
            if let Shape::Scalar(_) = element.shape {
                return Form::Value(next());
            }
            let mut first = None;
            let inner = form(element, true, &mut || {
                let number = next();
                first.get_or_insert(number);
                number
            });
            let first = first.unwrap_or(0);
            extents.iter().fold(inner, |inner, _| Form::Array(first, Box::new(inner)))
        }
        Shape::Record(fields) => {
            if fields.is_empty() && inside {
                next();
            }
            let items: Vec<(String, Form)> =
                fields.iter().map(|(name, ty)| (name.clone(), form(ty, inside, next))).collect();
            if ty.name.starts_with('(') {
                Form::Tuple(items.into_iter().map(|(_, item)| item).collect())
            } else {
                Form::Record(items)
            }
        }
        Shape::Sum(constructors, slots) => {
            let tag = next();
            let slots: Vec<u32> = slots.iter().map(|_| next()).collect();
            let all = constructors.iter().map(|constructor| {
                let mut own = constructor.slots.iter().map(|slot| slots[*slot]);
                let payload =
                    constructor.payload.iter().map(|ty| form(ty, false, &mut || own.next().unwrap_or(tag)));
                (constructor.name.clone(), payload.collect())
            });
            Form::Sum(tag, all.collect())
        }
        Shape::Opaque(parts) => Form::Tuple(parts.iter().map(|_| Form::Value(next())).collect()),
    }
}
