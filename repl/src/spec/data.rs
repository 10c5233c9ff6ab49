//! The values that a case takes, and those that it expects.

use super::script::Script;
use super::{Case, Expected, Given};
use crate::{dataset, failure, input};
use galopvm::data::{Bounds, DataError, Input, Misfit, Reader};
use galopvm::{Memory, Session, Value};
use galopvm_base::system_message;
use std::path::{Path, PathBuf};

/// Where each random value starts. Futhark's tools make each by itself, so that results kept by them are those of our values,
/// and two values of one type are the same.
const SEED: u64 = 1;

/// What the cases of a program find beside it.
pub struct Data<'p> {
    /// The program's file.
    pub program: &'p Path,
}

/// The arguments of a case.
pub struct Dataset {
    /// The values.
    pub values: Vec<Value>,
    /// The input that they may lie in.
    _input: Option<Input>,
}

impl Data<'_> {
    /// The file of this name beside the program.
    fn beside(&self, name: &str) -> PathBuf {
        self.program.parent().unwrap_or(Path::new("")).join(name)
    }

    fn open(&self, memory: &Memory, name: &str) -> Result<Input, String> {
        let path = self.beside(name);
        Input::open(memory, &path).map_err(|error| format!("{}: {}", path.display(), system_message(&error)))
    }

    /// The arguments of a case, of the types that its entry point takes.
    pub fn arguments(&self, session: &mut Session, case: &Case) -> Result<Dataset, String> {
        let entry = session.entry(&case.entry).map_err(|error| error.to_string())?.clone();
        let types = session.argument_types(&entry);
        let memory = session.memory().clone();
        let mut input = None;
        let values = match &case.given {
            Given::Values(text) => read(&memory, text).map_err(|error| error.to_string())?,
            Given::Random(types) => random(&memory, types)?,
            Given::Script(text) => Script::new(self, session, text).arguments(&types)?,
            Given::ScriptFile(file) => {
                let bytes = self.open(&memory, file)?;
                let text = String::from_utf8_lossy(bytes.bytes()).into_owned();
                Script::new(self, session, &text).arguments(&types)?
            }
            Given::File(file) => {
                let found = input.insert(self.open(&memory, file)?);
                let reader = Reader::of_input(&memory, found).taking(Misfit::Wrapped);
                let name = self.beside(file).display().to_string();
                input::read(session, &entry, reader, found.bytes(), &name).map_err(failure::text)?
            }
        };
        let found: Vec<_> = values.iter().map(Value::ty).collect();
        if found != types {
            let shown = |types: &[galopvm::ValueType]| {
                types.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
            };
            return Err(format!(
                "The input has values of types ({}), but {}: values of types ({}).",
                shown(&found),
                input::signature(&entry),
                shown(&types)
            ));
        }
        Ok(Dataset { values, _input: input })
    }

    /// The values that a case expects, if it says any.
    pub fn expected(&self, memory: &Memory, case: &Case) -> Result<Option<Vec<Value>>, String> {
        match &case.expected {
            Expected::Anything | Expected::Error(_) => Ok(None),
            Expected::Values(text) => {
                read(memory, text).map(Some).map_err(|error| format!("Expected output: {error}"))
            }
            Expected::File(file) => self.file(memory, file).map(Some),
            Expected::Auto => {
                let name = self.reference(case);
                if self.beside(&name).is_file() { self.file(memory, &name).map(Some) } else { Ok(None) }
            }
        }
    }

    /// The values of a file, of any types.
    pub fn file(&self, memory: &Memory, file: &str) -> Result<Vec<Value>, String> {
        let input = self.open(memory, file)?;
        let mut reader = Reader::of_input(memory, &input).taking(Misfit::Wrapped);
        reader.values().map_err(|error| format!("{file}:{error}"))
    }

    /// The bytes of a file.
    pub fn bytes(&self, memory: &Memory, file: &str) -> Result<Vec<u8>, String> {
        Ok(self.open(memory, file)?.bytes().to_vec())
    }

    /// The file in which Futhark's tools keep the result of a case.
    fn reference(&self, case: &Case) -> String {
        let stem = self.program.file_stem().unwrap_or_default().to_string_lossy();
        let case_name: String =
            case.description.chars().map(|c| if c == '/' || c == ' ' { '_' } else { c }).collect();
        format!("data/{stem}:{}-{case_name}.out", case.entry)
    }
}

/// The values of a text in a test block, where integers may be more than their types have.
pub(super) fn read(memory: &Memory, text: &str) -> Result<Vec<Value>, DataError> {
    Reader::new(memory, text.as_bytes()).taking(Misfit::Wrapped).values()
}

/// Random values of these types, those that `futhark dataset` makes.
fn random(memory: &Memory, types: &str) -> Result<Vec<Value>, String> {
    let mut values = Vec::new();
    for ty in types.split_whitespace() {
        let made = dataset::generate(memory, ty, &Bounds::default(), SEED);
        values.extend(made.map_err(failure::text)?);
    }
    Ok(values)
}
