//! `galopvm dis`: bytecode as text.

use crate::failure::Outcome;
use crate::input;
use crate::settings::Bounded;
use std::io::Write;
use std::path::PathBuf;

/// Show the bytecode of a program as text
///
/// `galopvm asm` makes the same bytecode of the text again.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  galopvm dis sum.gbc
  galopvm dis sum.fut | galopvm asm - -o sum.gbc")]
pub struct Args {
    /// The program: a .gbc file, Futhark source, or - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    bounded: Bounded,
}

/// Carries out the command.
pub fn run(args: Args) -> Outcome {
    let program =
        input::bytes_of(&args.file)?.program(galopvm::Compiling::default(), args.bounded.bounds())?;
    let text = galopvm_bytecode::text::print(program.module().module());
    std::io::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}
