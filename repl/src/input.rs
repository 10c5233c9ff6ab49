//! Values from standard input or a file, with messages that show the place.

use crate::failure::{Failure, colours};
use galopvm::data::{DataError, Reader};
use galopvm::{Diagnostic, Entry, Optimisation, Session, Value, ValueType};
use galopvm_base::{Sources, Span};
use galopvm_runtime::MappedFile;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Longest line of input that a message shows.
const LINE_SHOWN: usize = 400;

/// The values for an entry point: text or binary, one after the other. Nothing is read if it takes none.
pub fn arguments(session: &Session, entry: &Entry, file: Option<&PathBuf>) -> Result<Vec<Value>, Failure> {
    let types = session.argument_types(entry);
    if types.is_empty() {
        return Ok(Vec::new());
    }
    match file {
        Some(path) => {
            let map = Arc::new(galopvm::program::open(path)?);
            let name = path.display().to_string();
            read(Reader::of_file(session.memory(), &map), (*map).as_ref(), &name, entry, &types)
        }
        None => arguments_of(session, entry, Some(&bytes_of("-".as_ref())?)),
    }
}

/// The values for an entry point from an input that may be used more than once.
pub fn arguments_of(session: &Session, entry: &Entry, input: Option<&Input>) -> Result<Vec<Value>, Failure> {
    let types = session.argument_types(entry);
    match input {
        _ if types.is_empty() => Ok(Vec::new()),
        Some(input) => {
            read(Reader::new(session.memory(), input.bytes()), input.bytes(), &input.name, entry, &types)
        }
        None => Err(Failure::user(
            "the program came from standard input, so its arguments cannot",
            "name a file of values with --input",
        )),
    }
}

/// All of standard input.
pub fn standard_input() -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    match std::io::stdin().lock().read_to_end(&mut bytes) {
        Ok(_) => Ok(bytes),
        Err(error) => Err(Failure::user(format!("cannot read standard input: {error}"), "")),
    }
}

/// A file's bytes; `-` is standard input.
pub fn bytes_of(path: &Path) -> Result<Input, Failure> {
    if path == Path::new("-") {
        return Ok(Input { name: "<stdin>".into(), bytes: Bytes::Read(standard_input()?) });
    }
    Ok(Input { name: path.display().to_string(), bytes: Bytes::Mapped(galopvm::program::open(path)?) })
}

/// The bytes of a file, and what messages call it.
pub struct Input {
    /// The name.
    pub name: String,
    bytes: Bytes,
}

enum Bytes {
    Mapped(MappedFile),
    Read(Vec<u8>),
}

impl Input {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(map) => map.as_ref(),
            Bytes::Read(bytes) => bytes,
        }
    }

    /// True if the bytes came from standard input.
    pub fn is_standard_input(&self) -> bool {
        matches!(self.bytes, Bytes::Read(_))
    }

    /// The bytes as text.
    pub fn text(&self) -> Result<&str, Failure> {
        Ok(galopvm::program::source_text(&self.name, self.bytes())?)
    }

    /// The program: bytecode if the bytes say so, otherwise source.
    pub fn program(&self, off: &[Optimisation]) -> Result<galopvm::Program, Failure> {
        Ok(if galopvm_bytecode::file::is_bytecode(self.bytes()) {
            galopvm::Program::from_bytecode(&self.name, self.bytes())?
        } else {
            galopvm::Program::from_source_without(&self.name, self.text()?, off)?
        })
    }
}

fn read(
    mut reader: Reader<'_>,
    input: &[u8],
    name: &str,
    entry: &Entry,
    types: &[ValueType],
) -> Result<Vec<Value>, Failure> {
    let located = |error: DataError| Failure::User(located(name, input, &error, entry));
    let mut values = Vec::new();
    for ty in types {
        match reader.value(Some(*ty)).map_err(located)? {
            Some(value) => values.push(value),
            None => {
                return Err(Failure::user(
                    format!(
                        "{name}: `{}` takes {}, but the input has {}",
                        entry.name,
                        counted(types.len()),
                        counted(values.len())
                    ),
                    &signature(entry),
                ));
            }
        }
    }
    reader.end().map_err(located)?;
    Ok(values)
}

fn counted(n: usize) -> String {
    if n == 1 { "1 value".into() } else { format!("{n} values") }
}

/// What an entry point takes, as its source says.
pub fn signature(entry: &Entry) -> String {
    let params: Vec<String> = entry
        .params
        .iter()
        .map(|p| if p.name.is_empty() { p.ty.clone() } else { format!("({}: {})", p.name, p.ty) })
        .collect();
    format!("`{}` takes {}", entry.name, params.join(" "))
}

/// A message about a place in the input, with the line and a caret where that can be shown.
fn located(name: &str, input: &[u8], error: &DataError, entry: &Entry) -> String {
    let line = input.split(|b| *b == b'\n').nth(error.line.saturating_sub(1)).unwrap_or_default();
    match std::str::from_utf8(line) {
        Ok(text) if text.len() <= LINE_SHOWN => {
            let mut sources = Sources::new();
            // Only the line is shown; the lines before it are there for its number.
            let before = "\n".repeat(error.line.saturating_sub(1).min(1 << 20));
            let column = error.column.saturating_sub(1);
            let start = before.len() + text.char_indices().nth(column).map_or(text.len(), |(at, _)| at);
            let rest = &text[start - before.len()..];
            let word = rest.find(|c: char| c.is_whitespace() || ",[]".contains(c)).unwrap_or(rest.len());
            let file = sources.add(name, before + text);
            Diagnostic::error(Span::new(file, start, start + word.max(1)), &error.message)
                .with_hint(signature(entry))
                .render(&sources, colours())
        }
        _ => crate::failure::complaint(
            &format!("{name}:{}:{}: {}", error.line, error.column, error.message),
            &signature(entry),
        ),
    }
}
