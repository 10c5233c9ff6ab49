//! Programs and values from standard input or files, with messages that show the place.

use crate::bundle;
use crate::deadline::Bounds;
use crate::failure::{Failure, colours, say};
use galopvm::data::{self, DataError, Reader};
use galopvm::{Compiling, Diagnostic, Entry, Memory, Session, Value, ValueType};
use galopvm_base::{Sources, Span, system_message};
use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

/// Longest line of input that a message shows.
const LINE_SHOWN: usize = 400;

/// What takes its time and memory where a source becomes a program.
pub const COMPILING: &str = "Compiling the program";

/// What messages call standard input.
const STANDARD_INPUT: &str = "<stdin>";

/// An input of values, and what messages call it.
pub struct Values {
    name: String,
    /// The bytes.
    pub input: data::Input,
}

impl Values {
    /// Those of a file, packed or not; `-` is standard input. They live in this memory, or in the file.
    pub fn open(memory: &Memory, path: &Path) -> Result<Values, Failure> {
        if path != Path::new("-") {
            let input = galopvm::program::open_input(memory, path)?;
            return Ok(Values { name: path.display().to_string(), input });
        }
        match standard_values(memory) {
            Ok(input) => Ok(Values { name: STANDARD_INPUT.into(), input }),
            Err(error) => {
                Err(Failure::user(format!("cannot read standard input: {}", system_message(&error)), ""))
            }
        }
    }

    /// Those of this file, or else of standard input, if the program did not come from there.
    pub fn beside(memory: &Memory, program: &Input, path: Option<&Path>) -> Result<Option<Values>, Failure> {
        match path {
            None if program.is_standard_input => Ok(None),
            path => Values::open(memory, path.unwrap_or("-".as_ref())).map(Some),
        }
    }
}

/// The values for an entry point: text, binary and numpy's, one after the other, from these files or else from standard input.
/// Nothing is read if it takes none.
pub fn arguments(
    session: &Session,
    entry: &Entry,
    program: &Input,
    files: &[PathBuf],
) -> Result<Vec<Value>, Failure> {
    let types = session.argument_types(entry);
    if types.is_empty() {
        return Ok(Vec::new());
    }
    let Some(last) = files.last() else {
        if !program.is_standard_input && std::io::stdin().is_terminal() {
            say(&format!("{}; type the values, and Ctrl-D in an empty line", signature(entry)));
        }
        return arguments_of(session, entry, Values::beside(session.memory(), program, None)?.as_ref());
    };
    let mut values = Vec::new();
    for file in files {
        let Values { name, input } = Values::open(session.memory(), file)?;
        let mut reader = Reader::of_input(session.memory(), &input);
        take(&mut reader, input.bytes(), &name, entry, &types, &mut values)?;
    }
    enough(&last.display().to_string(), entry, types.len(), values)
}

/// The values for an entry point from an input that may be used more than once.
pub fn arguments_of(
    session: &Session,
    entry: &Entry,
    values: Option<&Values>,
) -> Result<Vec<Value>, Failure> {
    let types = session.argument_types(entry);
    match values {
        _ if types.is_empty() => Ok(Vec::new()),
        Some(Values { name, input }) => {
            read(Reader::of_input(session.memory(), input), input.bytes(), name, entry, &types)
        }
        None => Err(Failure::user(
            "the program came from standard input, so its arguments cannot",
            "name a file of values with --input",
        )),
    }
}

/// Standard input may be a file, which need not be read.
#[cfg(unix)]
fn standard_values(memory: &Memory) -> std::io::Result<data::Input> {
    use std::os::fd::AsFd;
    let file = std::io::stdin().as_fd().try_clone_to_owned()?;
    data::Input::of_file(memory, file.into())
}

#[cfg(not(unix))]
fn standard_values(memory: &Memory) -> std::io::Result<data::Input> {
    data::Input::read(memory, &mut std::io::stdin().lock(), 0)
}

/// The bytes of a program; `-` is standard input.
pub fn bytes_of(path: &Path) -> Result<Input, Failure> {
    if path != Path::new("-") {
        let name = path.display().to_string();
        let bytes = match bundle::program_in(path) {
            Some(bytes) => bytes,
            None => galopvm::program::read(path)?,
        };
        return Ok(Input { name, bytes, is_standard_input: false });
    }
    let mut bytes = Vec::new();
    match std::io::stdin().lock().read_to_end(&mut bytes) {
        Ok(_) => Ok(Input { name: STANDARD_INPUT.into(), bytes, is_standard_input: true }),
        Err(error) => {
            Err(Failure::user(format!("cannot read standard input: {}", system_message(&error)), ""))
        }
    }
}

/// The bytes of a program, and what messages call it.
pub struct Input {
    /// The name.
    pub name: String,
    /// The bytes.
    pub bytes: Vec<u8>,
    is_standard_input: bool,
}

impl Input {
    /// The bytes as text.
    pub fn text(&self) -> Result<&str, Failure> {
        Ok(galopvm::program::source_text(&self.name, &self.bytes)?)
    }

    /// Whether it is standard input.
    pub fn is_standard_input(&self) -> bool {
        self.is_standard_input
    }

    /// The program: bytecode if the bytes say so, otherwise source.
    pub fn program(&self, compiling: Compiling, bounds: Bounds) -> Result<galopvm::Program, Failure> {
        let _compiling = bounds.watch(COMPILING);
        Ok(if galopvm_bytecode::file::is_bytecode(&self.bytes) {
            galopvm::Program::from_bytecode(&self.name, &self.bytes)?
        } else {
            galopvm::Program::from_source_with(&self.name, self.text()?, compiling)?
        })
    }
}

/// The values for an entry point from a reader of `input`, which messages call `name`.
pub fn read(
    mut reader: Reader<'_>,
    input: &[u8],
    name: &str,
    entry: &Entry,
    types: &[ValueType],
) -> Result<Vec<Value>, Failure> {
    let mut values = Vec::new();
    take(&mut reader, input, name, entry, types, &mut values)?;
    enough(name, entry, types.len(), values)
}

/// Reads the values that are still wanted, as many as there are; behind the last one nothing may follow.
fn take(
    reader: &mut Reader<'_>,
    input: &[u8],
    name: &str,
    entry: &Entry,
    types: &[ValueType],
    values: &mut Vec<Value>,
) -> Result<(), Failure> {
    let located = |error: DataError| Failure::User(located(name, input, &error, entry));
    for ty in types.iter().skip(values.len()) {
        match reader.value(Some(*ty)).map_err(located)? {
            Some(value) => values.push(value),
            None => return Ok(()),
        }
    }
    reader.end().map_err(located)
}

/// Refuses fewer values than an entry point takes.
fn enough(name: &str, entry: &Entry, wanted: usize, values: Vec<Value>) -> Result<Vec<Value>, Failure> {
    if values.len() == wanted {
        return Ok(values);
    }
    let (wanted, found) = (counted(wanted), counted(values.len()));
    let text = format!("{name}: `{}` takes {wanted}, but the input has {found}", entry.name);
    Err(Failure::user(text, &signature(entry)))
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
    let mut error = error.clone();
    let line_of = |line: usize| input.split(|b| *b == b'\n').nth(line.saturating_sub(1)).unwrap_or_default();
    // What ends too early ends behind its last word, not in the empty line after that.
    let ends = input.split(|b| *b == b'\n').skip(error.line.saturating_sub(1)).all(<[u8]>::is_empty);
    while ends && error.line > 1 && line_of(error.line).trim_ascii().is_empty() {
        error.line -= 1;
        error.column = String::from_utf8_lossy(line_of(error.line).trim_ascii_end()).chars().count() + 1;
    }
    let line = line_of(error.line);
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
