//! Everything that can go wrong between a program's text and its values.

use galopvm_base::{Diagnostic, Sources};
use galopvm_runtime::{RuntimeError, Trap, stack};
use std::fmt;
use std::sync::Arc;

/// Messages about a program's source, with the text they are about.
///
/// ```
/// use galopvm::{Error, Program};
///
/// let Err(Error::Compile(messages)) = Program::from_source("half.fut", "entry half (x: f64) = x / y") else { panic!() };
/// assert_eq!((messages.errors(), messages.diagnostics().len(), messages.is_incomplete()), (1, 1, false));
/// assert!(messages.render(false).contains("half.fut:1:"));
/// let span = messages.diagnostics()[0].span;
/// assert_eq!(messages.sources().name(span.file), "half.fut");
///
/// // A prompt would ask for more.
/// let Err(Error::Compile(messages)) = Program::from_source("half.fut", "entry half (x: f64) = x /") else { panic!() };
/// assert!(messages.is_incomplete());
/// ```
#[derive(Clone)]
pub struct Messages {
    sources: Arc<Sources>,
    diagnostics: Vec<Diagnostic>,
}

impl Messages {
    /// Messages about these sources.
    pub fn new(sources: Arc<Sources>, diagnostics: Vec<Diagnostic>) -> Messages {
        Messages { sources, diagnostics }
    }

    /// The messages one by one.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The files they are about.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// How many of them are errors.
    pub fn errors(&self) -> usize {
        self.diagnostics.iter().filter(|d| d.is_error()).count()
    }

    /// True if more text could make the program right: a prompt then asks for another line.
    pub fn is_incomplete(&self) -> bool {
        self.diagnostics.iter().find(|d| d.is_error()).is_some_and(|d| d.incomplete)
    }

    /// All messages as people read them, with file, line, column, source line, caret and hints.
    pub fn render(&self, colour: bool) -> String {
        let texts: Vec<String> = self.diagnostics.iter().map(|d| d.render(&self.sources, colour)).collect();
        texts.join("\n\n")
    }
}

impl fmt::Display for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl fmt::Debug for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.diagnostics, f)
    }
}

/// What is asked of people who meet an internal error.
const REPORT: &str =
    "this is a mistake in galopvm, not in your program: please report it, with the program and its input";

/// Does what may not panic across the interface: a panic is an error. However small the host's stack is, the work has room.
pub(crate) fn guarded<T: Send>(work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    // Whoever shares state with `work` gives it up after an internal error.
    let caught = stack::with_room(|| std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)));
    let Some(outcome) = caught else {
        return Err(Error::Internal("there is no memory for a stack".into()));
    };
    outcome.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_string());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Err(Error::Internal(text.unwrap_or_else(|| "no message".into())))
    })
}

/// An error of the embedding interface. Its text is meant for people.
#[derive(Clone, Debug)]
pub enum Error {
    /// The source does not compile.
    Compile(Messages),
    /// A file cannot be read, or is no program.
    Load {
        /// The file, or another name of the bytes.
        name: String,
        /// What is wrong.
        message: String,
        /// What to do about it; may be empty.
        hint: String,
    },
    /// The program, or a call of it, failed.
    Run(RuntimeError),
    /// A value has another type than the host asked for.
    Type(String),
    /// A mistake of galopvm itself, which it asks to report. A session in which it happened takes no more calls.
    Internal(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Compile(messages) => fmt::Display::fmt(messages, f),
            Error::Load { name, message, hint } if hint.is_empty() => write!(f, "{name}: {message}"),
            Error::Load { name, message, hint } => write!(f, "{name}: {message} ({hint})"),
            Error::Run(error) => fmt::Display::fmt(error, f),
            Error::Type(message) => f.write_str(message),
            Error::Internal(message) => write!(f, "internal error: {message} ({REPORT})"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Run(error) => Some(error),
            _ => None,
        }
    }
}

/// What goes wrong with an array outside of a call.
pub(crate) fn of_trap(trap: Trap) -> Error {
    Error::Run(trap.into())
}

impl From<RuntimeError> for Error {
    fn from(error: RuntimeError) -> Error {
        Error::Run(error)
    }
}

/// What is wrong with elements that are no longer where they were.
#[cfg(any(feature = "arrow", feature = "ndarray"))]
pub(crate) fn gone() -> Error {
    Error::Type("the elements of the result lie in a file that was shortened".into())
}
