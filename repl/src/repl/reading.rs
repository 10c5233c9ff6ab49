//! `:read FILE [NAME ..]`: values, tables and images as definitions.
//!
//! Definitions are text here, whatever they come from: what has so many elements that it is no text for people is refused, and
//! left to programs. Names are those that are given, or those of a table's columns, or that of the file.

use super::{Repl, filename, print};
use crate::failure::{Failure, say, text};
use crate::input::Values;
use crate::values::type_text;
use galopvm::{Memory, Value, data};
use galopvm_bytecode::Form;
use std::io;
use std::path::Path;

/// The most elements of all values of a file.
pub const MOST: i64 = 50_000;

impl Repl {
    /// Defines the values of a file.
    pub(super) fn read(&mut self, typed: &str) -> io::Result<()> {
        let (file, names) = filename::first(typed);
        let found = values_of(&self.memory, &file).and_then(|(values, columns)| {
            let names = named(&file, names, values.len(), columns)?;
            Ok(names.into_iter().zip(values).collect::<Vec<_>>())
        });
        let defined = match found {
            Ok(defined) => defined,
            Err(failure) => {
                say(&text(failure));
                return Ok(());
            }
        };
        let definition = |(name, value): &(String, Value)| format!("def {name} = {}", literal(value));
        let all: Vec<String> = defined.iter().map(definition).collect();
        if self.define(&all.join("\n")) {
            for (name, value) in &defined {
                print(&format!("{name} : {}", type_text(value)))?;
            }
        }
        Ok(())
    }
}

/// The values of a file, and the names of its columns if it is a table that has them.
fn values_of(memory: &Memory, file: &Path) -> Result<(Vec<Value>, Option<Vec<String>>), Failure> {
    let input = Values::open(memory, file)?;
    let (mut values, mut elements) = (Vec::new(), 0);
    input.each(memory, &mut |value| {
        elements += value.as_array().map_or(1, |array| array.elements());
        values.push(value.clone());
        Ok(())
    })?;
    if elements > MOST {
        let message =
            format!("{}: {elements} elements are more than the {MOST} of a definition", file.display());
        return Err(Failure::user(message, "`galopvm run` gives programs values of any size"));
    }
    Ok((values, input.columns(memory)))
}

/// A name for each value.
fn named(
    file: &Path,
    given: &str,
    count: usize,
    columns: Option<Vec<String>>,
) -> Result<Vec<String>, Failure> {
    let stem = || vec![file.file_stem().unwrap_or_default().to_string_lossy().into_owned()];
    let names: Vec<String> = match (columns, count) {
        _ if !given.is_empty() => given.split_whitespace().map(String::from).collect(),
        (Some(columns), _) => columns,
        (None, 1) => stem(),
        _ => Vec::new(),
    };
    let wrong = |what: String| {
        Failure::user(format!("{}: {what}", file.display()), &format!(":read {} NAME ..", file.display()))
    };
    if names.is_empty() && count > 0 {
        let values = if count == 1 {
            "its value needs a name".into()
        } else {
            format!("its {count} values need names")
        };
        return Err(wrong(values));
    }
    if names.len() != count {
        return Err(wrong(format!("values and names are not as many: {count} and {}", names.len())));
    }
    match names.iter().find(|name| !is_name(name)) {
        Some(name) => Err(wrong(format!("`{name}` cannot be defined"))),
        None => Ok(names),
    }
}

/// Whether a word can be a name. Words of the language that cannot are told by the front end.
fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '\'')
}

/// How many elements some values have together.
pub fn elements(values: &[Value]) -> i64 {
    values
        .iter()
        .map(|value| value.as_array().map_or(1, |array| array.elements()))
        .fold(0, i64::saturating_add)
}

/// A value as an expression, if it is not too large for one. One of a sum type may be no expression by itself.
pub fn expression(form: &Form, values: &[Value]) -> Option<String> {
    if elements(values) > MOST {
        return None;
    }
    if let Form::Value(number) = form {
        return values.get(*number as usize).map(literal);
    }
    let mut text = Vec::new();
    data::write_form(&mut text, form, values, data::Style::Program).ok()?;
    String::from_utf8(text).ok()
}

/// A value as the language writes it, without an `empty`.
fn literal(value: &Value) -> String {
    let shape = value.as_array().map_or_else(Vec::new, |array| array.shape().to_vec());
    let Some(first) = shape.iter().position(|extent| *extent == 0) else { return value.to_string() };
    let inner: String = shape[first..].iter().map(|extent| format!("[{extent}]")).collect();
    let inner = format!("([] : {inner}{})", value.elem());
    shape[..first].iter().rev().fold(inner, |inner, extent| format!("(replicate {extent} {inner})"))
}
