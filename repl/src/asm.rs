//! `galopvm asm`: text to bytecode.

use crate::compile::write_whole;
use crate::failure::{Failure, Outcome, colours};
use crate::input::{self, Input};
use galopvm::{Diagnostic, Program};
use galopvm_base::{Sources, Span};
use galopvm_bytecode::text::TextError;
use std::path::{Path, PathBuf};

/// Make a .gbc file of bytecode text
///
/// Takes the text that `galopvm dis` prints. What is written has passed the verifier.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  galopvm asm sum.gbt -o sum.gbc
  galopvm dis sum.gbc | sed 's/add i32/mul i32/' | galopvm asm - -o product.gbc")]
pub struct Args {
    /// The text, or - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The file to make [default: FILE with the extension .gbc]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Carries out the command.
pub fn run(args: Args) -> Outcome {
    let input = input::bytes_of(&args.file)?;
    let module = galopvm_bytecode::text::parse(input.text()?).map_err(|error| located(&input, &error))?;
    let program = Program::from_module(&input.name, module)?;
    let output = match args.output {
        Some(output) => output,
        None if args.file == Path::new("-") => {
            return Err(Failure::user("standard input has no name to make the output's from", "add -o FILE"));
        }
        None => args.file.with_extension("gbc"),
    };
    write_whole(&output, &program.to_bytecode())
}

fn located(input: &Input, error: &TextError) -> Failure {
    let text = input.text().unwrap_or_default();
    let line_start = text.split_inclusive('\n').take(error.line.saturating_sub(1)).map(str::len).sum();
    let line: &str = text.get(line_start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    let column = error.column.saturating_sub(1);
    let start = line_start + line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
    let mut sources = Sources::new();
    let file = sources.add(&input.name, text);
    let message = Diagnostic::error(Span::new(file, start, start + 1), &error.message);
    Failure::User(message.render(&sources, colours()))
}
