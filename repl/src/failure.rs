//! How commands end: what is said, where, and with which exit code.

use galopvm::Messages;
use std::io::{self, IsTerminal, Write};

/// Exit code: the program failed while it ran.
pub const RUN: u8 = 1;
/// Exit code: the user's source, file or command line is wrong.
pub const USER: u8 = 2;
/// Exit code: a mistake of galopvm itself.
pub const INTERNAL: u8 = 70;

/// Why a command did not succeed.
pub enum Failure {
    /// The user's source, file or command line is wrong. The text is complete.
    User(String),
    /// The program failed while it ran. The text is complete.
    Run(String),
    /// As `User`; everything has been said.
    Told,
    /// Writing results failed.
    Output(io::Error),
}

/// The outcome of a command.
pub type Outcome = Result<(), Failure>;

impl Failure {
    /// A complaint about what the user gave, in the form of all messages.
    pub fn user(message: impl AsRef<str>, hint: &str) -> Failure {
        Failure::User(complaint(message.as_ref(), hint))
    }

    /// Says it, and gives the exit code.
    pub fn report(self) -> u8 {
        match self {
            Failure::User(text) => {
                say(&text);
                USER
            }
            Failure::Run(text) => {
                say(&text);
                RUN
            }
            Failure::Told => USER,
            // The reader has seen enough, as in `galopvm dump .. | head`.
            Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
            Failure::Output(error) => {
                say(&complaint(&format!("cannot write the output: {error}"), ""));
                RUN
            }
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Output(error)
    }
}

impl From<galopvm::Error> for Failure {
    fn from(error: galopvm::Error) -> Failure {
        match error {
            galopvm::Error::Compile(messages) => Failure::User(rendered(&messages)),
            galopvm::Error::Load { name, message, hint } => {
                Failure::user(format!("{name}: {message}"), &hint)
            }
            galopvm::Error::Run(error) => match error.kind {
                galopvm::ErrorKind::Usage => Failure::user(error.message, ""),
                _ => Failure::Run(format!("Error: {error}")),
            },
            galopvm::Error::Type(message) => Failure::user(message, ""),
        }
    }
}

/// Messages about source as text, in colour on a terminal.
pub fn rendered(messages: &Messages) -> String {
    messages.render(colours())
}

/// True if standard error wants colours.
pub fn colours() -> bool {
    io::stderr().is_terminal()
        && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
        && std::env::var_os("TERM").is_none_or(|v| v != "dumb")
}

/// `error: message`, with a hint below if there is one.
pub fn complaint(message: &str, hint: &str) -> String {
    let hint = if hint.is_empty() { String::new() } else { format!("\n  = help: {hint}") };
    format!("error: {message}{hint}")
}

/// Writes to standard error; if nobody listens there, so be it.
pub fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// What users see when galopvm itself is wrong.
pub fn report_panic(panic: &std::panic::PanicHookInfo<'_>) {
    let what = panic.payload_as_str().unwrap_or("no message");
    let place = panic.location().map_or_else(String::new, |place| format!(" ({place})"));
    say(&format!(
        "galopvm {}: internal error: {what}{place}\n  \
         = note: this is a mistake in galopvm, not in your program\n  \
         = help: please report it, with the program and the command that led here",
        env!("CARGO_PKG_VERSION")
    ));
}
