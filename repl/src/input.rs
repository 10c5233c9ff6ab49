//! Programs and values from standard input or files, with messages that show the place.

use crate::bundle;
use crate::deadline::Bounds;
use crate::failure::{Failure, colours, complaint, say};
use crate::files::{Format, Kind, Problem, Table, columns, is_other_image, netpbm, pixels, png};
use crate::given::Inputs;
use crate::values;
use crate::wanted::{Leaf, Wanted};
use galopvm::data::{self, DataError, Reader};
use galopvm::{Compiling, Diagnostic, ElemType, Entry, Memory, Session, Value, ValueType};
use galopvm_base::{Sources, Span, system_message};
use std::collections::BTreeSet;
use std::io::{IsTerminal, Read};
use std::path::Path;

/// Longest line of input that a message shows.
const LINE_SHOWN: usize = 400;

/// What takes its time and memory where a source becomes a program.
pub const COMPILING: &str = "Compiling the program";

/// What messages call standard input.
const STANDARD_INPUT: &str = "<stdin>";

/// The most lines before one that is shown.
const LINES_BEFORE: usize = 1 << 20;

/// An input of values, and what messages call it.
pub struct Values {
    name: String,
    /// The bytes.
    pub input: data::Input,
    /// What they are.
    pub kind: Kind,
}

impl Values {
    /// Those of a file, packed or not; `-` is standard input. They live in this memory, or in the file.
    pub fn open(memory: &Memory, path: &Path) -> Result<Values, Failure> {
        Values::open_as(memory, path, None)
    }

    /// The same, if it is known what they are.
    pub fn open_as(memory: &Memory, path: &Path, kind: Option<Kind>) -> Result<Values, Failure> {
        if kind.is_none() && is_other_image(path) {
            let message = format!("{}: images are read from PNG, PPM and PGM files", path.display());
            return Err(Failure::user(message, "convert it, or read its bytes with --raw"));
        }
        let as_it_is = kind == Some(Kind::Raw);
        let (name, input) = if path != Path::new("-") {
            let open =
                if as_it_is { galopvm::program::open_input_as_it_is } else { galopvm::program::open_input };
            (path.display().to_string(), open(memory, path)?)
        } else {
            let input = standard_values(memory, as_it_is).map_err(|error| {
                Failure::user(format!("cannot read standard input: {}", system_message(&error)), "")
            })?;
            (STANDARD_INPUT.into(), input)
        };
        let kind = kind.unwrap_or_else(|| Kind::of(path, input.bytes()));
        Ok(Values { name, input, kind })
    }

    /// Those of this file, or else of standard input, if the program did not come from there.
    pub fn beside(memory: &Memory, program: &Input, path: Option<&Path>) -> Result<Option<Values>, Failure> {
        match path {
            None if program.is_standard_input => Ok(None),
            path => Values::open(memory, path.unwrap_or("-".as_ref())).map(Some),
        }
    }

    /// All values, of the types that they have by themselves.
    pub fn each(
        &self,
        memory: &Memory,
        visit: &mut dyn FnMut(&Value) -> std::io::Result<()>,
    ) -> Result<(), Failure> {
        let made = match self.kind {
            Kind::Table => Table::of(memory, self.input.bytes())
                .and_then(|table| columns::read_naturally(memory, &table)),
            Kind::Image(_) => self.image(memory, &[Leaf::of(ElemType::U32, 2)]),
            Kind::Raw => self.raw(&[Leaf::of(ElemType::U8, 1)]),
            Kind::Values => {
                let mut reader = Reader::of_input(memory, &self.input);
                let wrong = |error: DataError| self.wrong_value(&error, "");
                while let Some(value) = reader.value(None).map_err(wrong)? {
                    visit(&value)?;
                }
                return Ok(());
            }
        };
        Ok(made.map_err(|problem| self.wrong(problem, ""))?.iter().try_for_each(visit)?)
    }

    /// The names of the columns, if it is a table that has them.
    pub fn columns(&self, memory: &Memory) -> Option<Vec<String>> {
        match self.kind {
            Kind::Table => Table::of(memory, self.input.bytes()).ok()?.header,
            _ => None,
        }
    }

    /// Reads the values that are still wanted, as many as there are; behind the last one nothing may follow.
    fn take(&self, memory: &Memory, wanted: &Wanted<'_>, values: &mut Vec<Value>) -> Result<(), Failure> {
        let left = &wanted.leaves[values.len()..];
        let made = match self.kind {
            Kind::Values => {
                let mut reader = Reader::of_input(memory, &self.input);
                let taken = take(memory, &mut reader, wanted, values);
                return taken.map_err(|error| self.wrong_value(&error, &wanted.signature_at(values.len())));
            }
            Kind::Table => {
                Table::of(memory, self.input.bytes()).and_then(|table| columns::read(memory, &table, left))
            }
            Kind::Image(_) => self.image(memory, left),
            Kind::Raw => self.raw(left),
        };
        values.extend(made.map_err(|problem| self.wrong(problem, &wanted.signature()))?);
        Ok(())
    }

    fn image(&self, memory: &Memory, wanted: &[Leaf]) -> Result<Vec<Value>, Problem> {
        let bytes = self.input.bytes();
        let samples = match self.kind {
            Kind::Image(Format::Png) => png::read(memory, bytes)?,
            _ => netpbm::read(memory, bytes)?,
        };
        pixels::of_samples(memory, &samples, wanted.first()).map(|value| vec![value])
    }

    fn raw(&self, wanted: &[Leaf]) -> Result<Vec<Value>, Problem> {
        if wanted.first().map(|leaf| leaf.ty) != Some(ValueType::array(ElemType::U8, 1)) {
            let message = match wanted.first() {
                Some(leaf) => {
                    format!("a file with --raw is of type []u8, but a value of type {} is expected", leaf.ty)
                }
                None => "no value is expected that this file could be".into(),
            };
            return Err(Problem::of_file(message, ""));
        }
        match self.input.array() {
            Some(bytes) => Ok(vec![Value::Array(bytes)]),
            None => Err(Problem::of_file("this file became shorter while it was read", "")),
        }
    }

    /// What is wrong with a value, at its place.
    fn wrong_value(&self, error: &DataError, hint: &str) -> Failure {
        Failure::User(located(&self.name, self.input.bytes(), error, hint))
    }

    /// What is wrong with a table, an image or bytes. Where there is no better hint, this one is given.
    fn wrong(&self, problem: Problem, hint: &str) -> Failure {
        let hint = if problem.hint.is_empty() { hint } else { &problem.hint };
        match problem.at {
            Some(at) => {
                let memory = Memory::default();
                let place = Reader::new(&memory, self.input.bytes()).error(at, problem.message);
                self.wrong_value(&place, hint)
            }
            None => Failure::user(format!("{}: {}", self.name, problem.message), hint),
        }
    }
}

/// The values for an entry point, from these files or else from standard input. Nothing is read if it takes none.
pub fn arguments(
    session: &Session,
    entry: &Entry,
    program: &Input,
    inputs: &Inputs,
) -> Result<Vec<Value>, Failure> {
    let wanted = Wanted::of(session, entry);
    if wanted.leaves.is_empty() {
        return Ok(Vec::new());
    }
    let memory = session.memory();
    let Some((last, _)) = inputs.files.last() else {
        if program.is_standard_input {
            return arguments_of(session, entry, None);
        }
        if std::io::stdin().is_terminal() {
            say(&format!("{}; type the values, and Ctrl-D in an empty line", signature(entry)));
        }
        let values = Values::open_as(memory, "-".as_ref(), inputs.standard)?;
        return arguments_of(session, entry, Some(&values));
    };
    let mut values = Vec::new();
    for (file, kind) in &inputs.files {
        Values::open_as(memory, file, *kind)?.take(memory, &wanted, &mut values)?;
    }
    enough(&last.display().to_string(), &wanted, values)
}

/// The values for an entry point from an input that may be used more than once.
pub fn arguments_of(session: &Session, entry: &Entry, input: Option<&Values>) -> Result<Vec<Value>, Failure> {
    let wanted = Wanted::of(session, entry);
    let mut values = Vec::new();
    match input {
        _ if wanted.leaves.is_empty() => Ok(values),
        Some(input) => {
            input.take(session.memory(), &wanted, &mut values)?;
            enough(&input.name, &wanted, values)
        }
        None => Err(Failure::user(
            "the program came from standard input, so its arguments cannot",
            "name a file of values with --input",
        )),
    }
}

/// Standard input may be a file, which need not be read.
#[cfg(unix)]
fn standard_values(memory: &Memory, as_it_is: bool) -> std::io::Result<data::Input> {
    use std::os::fd::AsFd;
    let file = std::io::stdin().as_fd().try_clone_to_owned()?;
    let open = if as_it_is { data::Input::as_it_is } else { data::Input::of_file };
    open(memory, file.into())
}

#[cfg(not(unix))]
fn standard_values(memory: &Memory, as_it_is: bool) -> std::io::Result<data::Input> {
    let read = if as_it_is { data::Input::read_as_it_is } else { data::Input::read };
    read(memory, &mut std::io::stdin().lock(), 0)
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

    /// The text of a file of the program: this one, or another, which is read where the compiler found it.
    pub fn text_of(&self, name: &str) -> Option<String> {
        match name == self.name {
            true => self.text().ok().map(str::to_string),
            false => std::fs::read_to_string(name).ok(),
        }
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
    session: &Session,
    entry: &Entry,
    mut reader: Reader<'_>,
    input: &[u8],
    name: &str,
) -> Result<Vec<Value>, Failure> {
    let wanted = Wanted::of(session, entry);
    let mut values = Vec::new();
    let taken = take(session.memory(), &mut reader, &wanted, &mut values);
    let hint = wanted.signature_at(values.len());
    taken.map_err(|error| Failure::User(located(name, input, &error, &hint)))?;
    enough(name, &wanted, values)
}

/// Reads the values that are still wanted, as many as there are; behind the last one nothing may follow. Parameters may be
/// given as a whole, or part by part.
fn take(
    memory: &Memory,
    reader: &mut Reader<'_>,
    wanted: &Wanted<'_>,
    values: &mut Vec<Value>,
) -> Result<(), DataError> {
    while let Some(leaf) = wanted.leaves.get(values.len()) {
        if let Some(ty) = wanted.param_at(values.len()).filter(|ty| values::is_whole(ty, reader)) {
            values.extend(values::whole(memory, ty, reader)?);
            continue;
        }
        match reader.value(Some(leaf.ty))? {
            Some(value) => values.push(value),
            None => return Ok(()),
        }
    }
    reader.end()
}

/// Refuses fewer values than an entry point takes.
fn enough(name: &str, wanted: &Wanted<'_>, values: Vec<Value>) -> Result<Vec<Value>, Failure> {
    if values.len() == wanted.leaves.len() {
        return Ok(values);
    }
    let (count, found) = (counted(wanted.leaves.len(), "value"), values.len());
    // A record is one argument, and may be given as its parts.
    let text = match wanted.entry.params.len() {
        params if params == wanted.leaves.len() => {
            format!("takes {count}, but the input has {}", counted(found, "value"))
        }
        params => format!("takes {} ({count}), but the input has {found}", counted(params, "argument")),
    };
    let text = format!("{name}: `{}` {text}", wanted.entry.name);
    Err(Failure::user(text, &wanted.signature()))
}

fn counted(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// What an entry point takes, as its source says.
pub fn signature(entry: &Entry) -> String {
    let params = entry.params.iter().zip(param_types(entry));
    let params: Vec<String> = params
        .map(|(param, ty)| if param.name.is_empty() { ty } else { format!("({}: {ty})", param.name) })
        .collect();
    format!("`{}` takes {}", entry.name, params.join(" "))
}

/// The types of the parameters of an entry point. Sizes that the compiler has named, `d0`, are left out where they say nothing: the
/// source has `[]`.
pub fn param_types(entry: &Entry) -> Vec<String> {
    let all: String = entry.params.iter().map(|param| format!("{} ", param.ty)).collect();
    let made: BTreeSet<&str> = all
        .split(['[', ']'])
        .filter(|name| name.strip_prefix('d').is_some_and(|number| number.parse::<u32>().is_ok()))
        .filter(|name| all.matches(&format!("[{name}]")).count() == 1)
        .collect();
    let plain =
        |ty: &str| made.iter().fold(ty.to_string(), |ty, name| ty.replace(&format!("[{name}]"), "[]"));
    entry.params.iter().map(|param| plain(&param.ty)).collect()
}

/// A message about a place in the input, with the line and a caret where that can be shown.
fn located(name: &str, input: &[u8], error: &DataError, hint: &str) -> String {
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
        Ok(text) if text.len() <= LINE_SHOWN && error.line <= LINES_BEFORE => {
            let mut sources = Sources::new();
            // Only the line is shown; the lines before it are there for its number.
            let before = "\n".repeat(error.line.saturating_sub(1));
            let column = error.column.saturating_sub(1);
            let start = before.len() + text.char_indices().nth(column).map_or(text.len(), |(at, _)| at);
            let rest = &text[start - before.len()..];
            let word = rest.find(|c: char| c.is_whitespace() || ",;[]".contains(c)).unwrap_or(rest.len());
            let file = sources.add(name, before + text);
            let wrong = Diagnostic::error(Span::new(file, start, start + word.max(1)), &error.message);
            let wrong = if hint.is_empty() { wrong } else { wrong.with_hint(hint) };
            wrong.render(&sources, colours())
        }
        _ => complaint(&format!("{name}:{}:{}: {}", error.line, error.column, error.message), hint),
    }
}
