//! Options that Futhark's `test` and `bench` have, and that choose what galopvm has no choice of: they are taken, so that command
//! lines need no change, and said once to have no effect.

use crate::failure::say;

/// The options that both commands have.
#[derive(clap::Args)]
pub struct Foreign {
    /// The compiler, which is galopvm itself
    #[arg(long, hide = true, value_name = "PROGRAM")]
    futhark: Option<String>,
    /// What starts compiled programs
    #[arg(long, hide = true, value_name = "PROGRAM")]
    runner: Option<String>,
    /// Options for compiled programs
    #[arg(short = 'p', long, hide = true, value_name = "OPTION", allow_hyphen_values = true)]
    pass_option: Vec<String>,
    /// Options for the compiler
    #[arg(long, hide = true, value_name = "OPTION", allow_hyphen_values = true)]
    pass_compiler_option: Vec<String>,
    /// The ending of files that keep compiled kernels
    #[arg(long, hide = true, value_name = "EXTENSION")]
    cache_extension: Option<String>,
    /// More words about what is done
    #[arg(short, long, hide = true, action = clap::ArgAction::Count)]
    verbose: u8,
}

impl Foreign {
    /// Says which of them were given, with `others` that only one command has.
    pub fn note(&self, others: &[(&'static str, bool)]) {
        let own = [
            ("--futhark", self.futhark.is_some()),
            ("--runner", self.runner.is_some()),
            ("--pass-option", !self.pass_option.is_empty()),
            ("--pass-compiler-option", !self.pass_compiler_option.is_empty()),
            ("--cache-extension", self.cache_extension.is_some()),
            ("--verbose", self.verbose > 0),
        ];
        let given: Vec<&str> =
            own.iter().chain(others).filter(|(_, is_given)| *is_given).map(|(name, _)| *name).collect();
        if !given.is_empty() {
            say(&format!("note: without effect: {}", given.join(", ")));
        }
    }
}
