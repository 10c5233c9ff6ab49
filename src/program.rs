//! Programs: verified bytecode, from source or from a `.gbc` file.

use crate::convert::{Arguments, Results};
use crate::entry::TypedEntry;
use crate::error::{Error, Messages, guarded};
use galopvm_base::source::without_mark;
use galopvm_base::{Sources, path, system_message};
use galopvm_bytecode::{Entry, Module, VerifiedModule, file};
use galopvm_frontend::{Imports, Options};
use galopvm_runtime::data::Input;
use galopvm_runtime::{Memory, Switches};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What may be chosen about compiling source.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Compiling {
    /// What the compiler does to make programs faster.
    pub switches: Switches,
    /// Where files may lie that the program imports: anywhere, unless something else is said.
    pub imports: Imports,
}

impl From<Switches> for Compiling {
    fn from(switches: Switches) -> Compiling {
        Compiling { switches, ..Compiling::default() }
    }
}

/// A program that may run. Cheap to clone; belongs to no engine.
///
/// ```
/// use galopvm::{Compiling, Imports, Program, Switches};
///
/// # fn main() -> Result<(), galopvm::Error> {
/// let text = "entry scale [n] (xs: [n]f64): [n]f64 = map (* f64.i64 (#[param(factor)] 3)) xs";
/// // Source of somebody else: imports stay in its folder.
/// let strict = Compiling { imports: Imports::Confined, ..Compiling::default() };
/// let program = Program::from_source_with("scale.fut", text, strict)?;
/// assert!(program.warnings().is_none());
/// assert_eq!((program.entries()[0].name.as_str(), program.params()), ("scale", vec!["factor"]));
/// assert_eq!(program.module().module().entries.len(), 1);
///
/// // As bytes, which are verified when they come back; without places they are fewer.
/// let bytes = program.to_bytecode();
/// let same = Program::from_bytecode("scale.gbc", &bytes)?;
/// assert_eq!(same.to_bytecode(), bytes);
/// assert!(program.stripped()?.to_bytecode().len() < bytes.len());
/// let module = same.module().module().clone();
/// assert_eq!(Program::from_module("scale", module)?.entries().len(), 1);
///
/// // From a file, source or bytecode.
/// let file = std::env::temp_dir().join(format!("scale-{}.gbc", std::process::id()));
/// std::fs::write(&file, bytes).unwrap();
/// assert_eq!(Program::load(&file)?.entries()[0].name, "scale");
/// assert_eq!(Program::load_with(&file, Switches::default())?.params(), ["factor"]);
/// std::fs::remove_file(&file).unwrap();
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Program {
    module: VerifiedModule,
    warnings: Option<Messages>,
    /// The folder of the source, from which files look the same wherever it lies.
    folder: Option<PathBuf>,
}

impl Program {
    /// Compiles source text. `name` is what messages call the file; imports are looked for from its folder.
    pub fn from_source(name: &str, text: &str) -> Result<Program, Error> {
        Program::from_source_with(name, text, Compiling::default())
    }

    /// Compiles source text in a chosen way. With some switches off the results of the program are the same.
    pub fn from_source_with(
        name: &str,
        text: &str,
        compiling: impl Into<Compiling>,
    ) -> Result<Program, Error> {
        let Compiling { switches, imports } = compiling.into();
        guarded(|| {
            let mut sources = Sources::new();
            let file = sources.add(name, text);
            let options = Options { fusion: switches.fusion, imports, ..Options::default() };
            let compiled = galopvm_frontend::compile_with(&mut sources, file, &options);
            let messages = Messages::new(Arc::new(sources), compiled.diagnostics);
            let Some(module) = compiled.module else { return Err(Error::Compile(messages)) };
            let warnings = (!messages.diagnostics().is_empty()).then_some(messages);
            Ok(Program { module: verified(name, module)?, warnings, folder: Some(path::folder(name)) })
        })
    }

    /// The program of the bytes of a `.gbc` file. `name` is what messages call them.
    pub fn from_bytecode(name: &str, bytes: &[u8]) -> Result<Program, Error> {
        guarded(|| {
            let module = file::decode(bytes).map_err(|error| load_error(name, error.to_string(), ""))?;
            Program::from_module(name, module)
        })
    }

    /// A program made by other means. `name` is what messages call it.
    pub fn from_module(name: &str, module: Module) -> Result<Program, Error> {
        guarded(|| Ok(Program { module: verified(name, module)?, warnings: None, folder: None }))
    }

    /// The program in a file: `.gbc` bytes are recognised by their first bytes, everything else is source.
    pub fn load(path: impl AsRef<Path>) -> Result<Program, Error> {
        Program::load_with(path, Compiling::default())
    }

    /// The same, with source compiled in a chosen way.
    pub fn load_with(path: impl AsRef<Path>, compiling: impl Into<Compiling>) -> Result<Program, Error> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let bytes = read(path)?;
        if is_bytecode(&bytes) {
            return Program::from_bytecode(&name, &bytes);
        }
        Program::from_source_with(&name, source_text(&name, &bytes)?, compiling)
    }

    /// The bytecode.
    pub fn module(&self) -> &VerifiedModule {
        &self.module
    }

    /// The entry points, in source order.
    pub fn entries(&self) -> &[Entry] {
        &self.module.module().entries
    }

    /// An entry point with the types of its arguments, a tuple, and of its results, which are compared with the program's here and not
    /// in each call.
    ///
    /// ```
    /// use galopvm::{Argument, ArrayOf, Engine, Outcome, Program};
    ///
    /// #[derive(Argument, Outcome)]
    /// struct Fit { slope: f64, offset: f64 }
    ///
    /// # fn main() -> Result<(), galopvm::Error> {
    /// let program = Program::from_source(
    ///     "line.fut",
    ///     "entry at (fit: {slope: f64, offset: f64}) (xs: []f64) = map (\\x -> fit.slope * x + fit.offset) xs",
    /// )?;
    /// let at = program.entry::<(Fit, Vec<f64>), Vec<f64>>("at")?;
    /// let mut session = Engine::new().session(&program);
    /// assert_eq!(at.call(&mut session, (Fit { slope: 2.0, offset: 1.0 }, vec![1.0, 2.5]))?, [3.0, 6.0]);
    ///
    /// let wrong = program.entry::<(Fit, ArrayOf<f32, 2>), Vec<f64>>("at");
    /// assert!(wrong.unwrap_err().to_string().contains("has []f64 (`xs`) as parameter 2, where [][]f32 is wanted"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn entry<A: Arguments, R: Results>(&self, name: &str) -> Result<TypedEntry<A, R>, Error> {
        TypedEntry::of(self, name)
    }

    /// The names of the tuning parameters, `#[param(name)]`.
    pub fn params(&self) -> Vec<&str> {
        self.module.module().params()
    }

    /// Warnings of the compilation, if there were any.
    pub fn warnings(&self) -> Option<&Messages> {
        self.warnings.as_ref()
    }

    /// The bytes of a `.gbc` file. It names source files as they look from the program's folder, so that it is the same
    /// wherever the program was compiled.
    pub fn to_bytecode(&self) -> Vec<u8> {
        let Some(folder) = &self.folder else { return file::encode(self.module.module()) };
        let mut module = self.module.module().clone();
        module.files.iter_mut().for_each(|name| *name = path::seen_from(folder, name));
        file::encode(&module)
    }

    /// The program without its source places.
    pub fn stripped(&self) -> Result<Program, Error> {
        let mut module = self.module.module().clone();
        module.strip();
        Program::from_module("the stripped program", module)
    }
}

/// Whether bytes are a program in bytecode, by their first ones; others are source.
pub fn is_bytecode(bytes: &[u8]) -> bool {
    file::is_bytecode(bytes)
}

/// The bytes of a file, with the error that users should see.
pub fn read(path: &Path) -> Result<Vec<u8>, Error> {
    opened(path, "name a .fut or .gbc file in it", || std::fs::read(path))
}

/// The values in a file, with the error that users should see. Large files are mapped, not read.
///
/// ```
/// use galopvm::{Memory, program};
///
/// # fn main() -> Result<(), galopvm::Error> {
/// let file = std::env::temp_dir().join(format!("values-{}.txt", std::process::id()));
/// std::fs::write(&file, "[1i32, 2i32] true").unwrap();
/// let memory = Memory::default();
/// let input = program::open_input(&memory, &file)?;
/// let values = galopvm::data::read_values(&memory, input.bytes()).unwrap();
/// assert_eq!(values[0].ty().to_string(), "[]i32");
/// // The same file as its bytes, and as text.
/// assert_eq!(program::open_input_as_it_is(&memory, &file)?.array().unwrap().elements(), 17);
/// assert_eq!(program::source_text("values.txt", &program::read(&file)?)?, "[1i32, 2i32] true");
/// assert!(!program::is_bytecode(&program::read(&file)?));
/// std::fs::remove_file(&file).unwrap();
/// # Ok(())
/// # }
/// ```
pub fn open_input(memory: &Memory, path: &Path) -> Result<Input, Error> {
    opened(path, "name a file of values in it", || Input::open(memory, path))
}

/// The bytes of a file, as values that are packed if they are, with the error that users should see.
pub fn open_input_as_it_is(memory: &Memory, path: &Path) -> Result<Input, Error> {
    opened(path, "name a file in it", || Input::as_it_is(memory, File::open(path)?))
}

fn opened<T>(path: &Path, what: &str, open: impl FnOnce() -> std::io::Result<T>) -> Result<T, Error> {
    let name = path.display().to_string();
    if path.is_dir() {
        return Err(load_error(&name, "this is a directory", what));
    }
    open().map_err(|error| {
        let hint = match error.kind() {
            std::io::ErrorKind::NotFound => "check the spelling and the current directory",
            std::io::ErrorKind::PermissionDenied => "you may not read this file",
            _ => "",
        };
        load_error(&name, system_message(&error), hint)
    })
}

/// The bytes of a file as source text, without a byte order mark.
pub fn source_text<'a>(name: &str, bytes: &'a [u8]) -> Result<&'a str, Error> {
    std::str::from_utf8(bytes).map(without_mark).map_err(|error| {
        let line = bytes[..error.valid_up_to()].iter().filter(|b| **b == b'\n').count() + 1;
        load_error(
            name,
            format!("this is neither a .gbc file nor source text (line {line} is not UTF-8)"),
            "",
        )
    })
}

fn load_error(name: &str, message: impl Into<String>, hint: &str) -> Error {
    Error::Load { name: name.into(), message: message.into(), hint: hint.into() }
}

/// Compiled code is verified as any other: a front end's mistake must not become the machine's.
fn verified(name: &str, module: Module) -> Result<VerifiedModule, Error> {
    galopvm_bytecode::verify(module)
        .map_err(|error| load_error(name, format!("the bytecode is not valid: {error}"), ""))
}
