//! How commands end: what is said, where, and with which exit code.

use galopvm::Messages;
use galopvm_base::system_message;
use std::io::{self, IsTerminal, Write};
use std::panic::{UnwindSafe, catch_unwind};

/// Exit code: the program failed while it ran.
pub const RUN: u8 = 1;
/// Exit code: the user's source, file or command line is wrong.
pub const USER: u8 = 2;
/// Exit code: ended by Ctrl-C, as shells say it.
pub const INTERRUPTED: u8 = 130;
/// Exit code: a mistake of galopvm itself.
pub const INTERNAL: u8 = 70;

/// Why a command did not succeed.
pub enum Failure {
    /// The user's source, file or command line is wrong. The text is complete.
    User(String),
    /// The program failed while it ran. The text is complete.
    Run(String),
    /// The program was ended by Ctrl-C. The text is complete.
    Interrupted(String),
    /// galopvm itself is wrong; [`report_panic`] has said so.
    Internal,
    /// As `User`; everything has been said.
    Told,
    /// As `Run`; everything has been said.
    Failed,
    /// As `Interrupted`; everything has been said.
    Stopped,
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

    /// Says it now: what is left of it is the exit code.
    pub fn said(self) -> Failure {
        match self {
            Failure::User(text) => {
                say(&text);
                Failure::Told
            }
            Failure::Run(text) => {
                say(&text);
                Failure::Failed
            }
            Failure::Interrupted(text) => {
                say(&text);
                Failure::Stopped
            }
            said => said,
        }
    }

    /// Says it, and gives the exit code.
    pub fn report(self) -> u8 {
        match self.said() {
            Failure::User(_) | Failure::Told => USER,
            Failure::Run(_) | Failure::Failed => RUN,
            Failure::Interrupted(_) | Failure::Stopped => INTERRUPTED,
            Failure::Internal => INTERNAL,
            // The reader has seen enough, as in `galopvm dump .. | head`.
            Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
            Failure::Output(error) => {
                say(&complaint(&format!("cannot write the output: {}", system_message(&error)), ""));
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
                galopvm::ErrorKind::Interrupted => Failure::Interrupted(format!("Error: {error}")),
                _ => Failure::Run(format!("Error: {error}")),
            },
            galopvm::Error::Type(message) => Failure::user(message, ""),
            galopvm::Error::Internal(_) => Failure::Internal,
        }
    }
}

/// What a failure says, for those who do not end with it.
pub fn text(failure: Failure) -> String {
    match failure {
        Failure::User(text) | Failure::Run(text) | Failure::Interrupted(text) => text,
        Failure::Internal => "a mistake of galopvm".into(),
        Failure::Told | Failure::Failed | Failure::Stopped => String::new(),
        Failure::Output(error) => system_message(&error),
    }
}

/// An error of a call as text: what a run of the program would say.
pub fn message(error: &galopvm::Error) -> String {
    match error {
        galopvm::Error::Run(error) => format!("Error: {error}"),
        other => other.to_string(),
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

/// Does the work of a command; a panic in it is told by [`report_panic`] and has an exit code of its own.
pub fn carried_out(work: impl FnOnce() -> u8 + UnwindSafe) -> u8 {
    catch_unwind(work).unwrap_or(INTERNAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_of_galopvm_has_its_own_exit_code() {
        assert_eq!(carried_out(|| panic!("a mistake, for a test")), INTERNAL);
        let caught = galopvm::Error::Internal("a mistake, caught at the interface".into());
        assert_eq!(Failure::from(caught).report(), INTERNAL);
        assert_eq!(carried_out(|| USER), USER);
    }

    #[test]
    fn every_other_end_has_one_as_well() {
        assert_eq!(Failure::user("so", "do this").report(), USER);
        assert_eq!(Failure::Run("so".into()).report(), RUN);
        assert_eq!(Failure::Interrupted("so".into()).report(), INTERRUPTED);
        assert_eq!(Failure::from(io::Error::from(io::ErrorKind::BrokenPipe)).report(), 0);
        assert_eq!(Failure::from(io::Error::other("no room")).report(), RUN);
    }
}
