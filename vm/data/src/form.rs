//! Values of the language as text: tuples, records, sums and arrays of them, put together as their form says.
//!
//! Numbers are written as Futhark's interpreter writes traced values (`Style::Bare`) or as values are given to programs.
//! What does not fit, as rows that are not there, is left out: forms are proved to fit types, not extents.

use super::numeral::Style;
use super::writer::write_text_in;
use crate::Value;
use galopvm_base::ElemType;
use galopvm_bytecode::Form;
use galopvm_store::Array;
use std::io::{self, Write};

/// Writes the value that a form makes of values, on one line without its end.
pub fn write_form(out: &mut dyn Write, form: &Form, values: &[Value], style: Style) -> io::Result<()> {
    FormWriter { out, values, style, index: Vec::new() }.form(form)
}

struct FormWriter<'w> {
    out: &'w mut dyn Write,
    values: &'w [Value],
    style: Style,
    /// Indices of the arrays that the current element lies in, outermost first.
    index: Vec<i64>,
}

impl FormWriter<'_> {
    /// The part of a value at the current indices.
    fn part(&self, number: u32) -> Option<Value> {
        match self.values.get(number as usize)? {
            Value::Scalar(scalar) => Some(Value::Scalar(*scalar)),
            Value::Array(array) if array.rank() == self.index.len() => {
                array.get(&self.index).map(Value::Scalar)
            }
            Value::Array(array) => self.rows(array).map(Value::Array),
        }
    }

    fn rows(&self, array: &Array) -> Option<Array> {
        let mut part = array.clone();
        for i in &self.index {
            if part.rank() < 2 || !(0..part.lmad().dims[0].size).contains(i) {
                return None;
            }
            part = part.row(*i);
        }
        Some(part)
    }

    fn length(&self, number: u32) -> i64 {
        let array = self.values.get(number as usize).and_then(Value::as_array);
        let dim = array.and_then(|a| a.lmad().dims.get(self.index.len()).copied());
        dim.map_or(0, |d| d.size)
    }

    fn list(
        &mut self,
        between: [&str; 2],
        count: usize,
        item: &mut dyn FnMut(&mut Self, usize) -> io::Result<()>,
    ) -> io::Result<()> {
        self.out.write_all(between[0].as_bytes())?;
        for k in 0..count {
            if k > 0 {
                self.out.write_all(b", ")?;
            }
            item(self, k)?;
        }
        self.out.write_all(between[1].as_bytes())
    }

    fn form(&mut self, form: &Form) -> io::Result<()> {
        match form {
            Form::Value(number) => match self.part(*number) {
                Some(value) => write_text_in(self.out, &value, self.style),
                None => Ok(()),
            },
            Form::Tuple(items) => self.list(["(", ")"], items.len(), &mut |w, k| w.form(&items[k])),
            Form::Record(fields) => self.list(["{", "}"], fields.len(), &mut |w, k| {
                write!(w.out, "{} = ", fields[k].0)?;
                w.form(&fields[k].1)
            }),
            Form::Array(number, element) => {
                let length = self.length(*number);
                self.list(["[", "]"], usize::try_from(length).unwrap_or(0), &mut |w, k| {
                    w.index.push(k as i64);
                    let written = w.form(element);
                    w.index.pop();
                    written
                })
            }
            Form::Sum(tag, constructors) => {
                let tag = self.part(*tag).and_then(|v| v.as_scalar()).filter(|s| s.ty == ElemType::I8);
                let constructor = tag.and_then(|s| constructors.get(usize::from(s.bits as u8)));
                let Some((name, payload)) = constructor else { return Ok(()) };
                write!(self.out, "#{name}")?;
                for item in payload {
                    self.out.write_all(b" ")?;
                    // An argument that is no single word stands in parentheses.
                    if is_single(item) && (self.style == Style::Bare || !self.is_negative(item)) {
                        self.form(item)?;
                    } else {
                        self.list(["(", ")"], 1, &mut |w, _| w.form(item))?;
                    }
                }
                Ok(())
            }
        }
    }

    fn is_negative(&self, form: &Form) -> bool {
        let Form::Value(number) = form else { return false };
        let scalar = self.part(*number).and_then(|v| v.as_scalar());
        scalar.is_some_and(|s| s.plain().starts_with('-'))
    }
}

/// True if a form is written as one word or with brackets of its own.
fn is_single(form: &Form) -> bool {
    !matches!(form, Form::Sum(..))
}
