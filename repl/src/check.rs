//! `galopvm check`: is the program right?

use crate::failure::{Failure, Outcome, rendered, say};
use crate::input;
use galopvm::Error;
use std::path::PathBuf;

/// Check a program without running it
///
/// Reports everything that is wrong with the source, with places and hints. Silent and with exit code 0 if the
/// program is right; exit code 2 if not.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  galopvm check sum.fut
  galopvm check *.fut -w
  galopvm check sum.gbc        is the file whole and safe to run?")]
pub struct Args {
    /// Programs: Futhark source, .gbc files, or - for standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Print no warnings
    #[arg(short = 'w', long)]
    no_warnings: bool,
}

/// Carries out the command.
pub fn run(args: Args) -> Outcome {
    let mut errors = 0;
    let mut wrong = 0;
    for file in &args.files {
        let input = input::bytes_of(file)?;
        let program = if galopvm_bytecode::file::is_bytecode(&input.bytes) {
            galopvm::Program::from_bytecode(&input.name, &input.bytes)
        } else {
            galopvm::Program::from_source(&input.name, input.text()?)
        };
        match program {
            Ok(program) => {
                if let Some(warnings) = program.warnings().filter(|_| !args.no_warnings) {
                    say(&rendered(warnings));
                }
            }
            Err(Error::Compile(messages)) => {
                wrong += 1;
                errors += messages.errors();
                say(&rendered(&messages));
            }
            Err(error) => {
                wrong += 1;
                errors += 1;
                Failure::from(error).report();
            }
        }
    }
    if wrong == 0 {
        return Ok(());
    }
    let plural = |n: usize, noun: &str| if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") };
    Err(Failure::User(match args.files.len() {
        1 => format!("\n{} in {}", plural(errors, "error"), args.files[0].display()),
        all => format!("\n{} in {wrong} of {}", plural(errors, "error"), plural(all, "file")),
    }))
}
