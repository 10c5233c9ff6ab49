//! `galopvm compile`: source to a `.gbc` file.

use crate::failure::{Failure, Outcome, rendered, say};
use crate::files::whole::Whole;
use crate::input;
use crate::settings::{Bounded, Off};
use galopvm_base::system_message;
use std::path::{Path, PathBuf};

/// Compile a program to a .gbc file
///
/// The file holds verified bytecode that `galopvm run` loads without a front end. It is the same for every machine.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  galopvm compile sum.fut                    makes sum.gbc
  galopvm compile sum.fut -o build/sum.gbc
  galopvm compile sum.fut --strip            no source places: smaller, but errors say less")]
pub struct Args {
    /// The program: Futhark source, a .gbc file (to strip it), or - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The file to make [default: FILE with the extension .gbc]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Leave the source places out
    #[arg(long)]
    strip: bool,
    #[command(flatten)]
    bounded: Bounded,
    #[command(flatten)]
    off: Off,
    /// Print no warnings
    #[arg(short = 'w', long)]
    no_warnings: bool,
}

/// Carries out the command.
pub fn run(args: Args) -> Outcome {
    let input = input::bytes_of(&args.file)?;
    let mut program = input.program(args.off.compiling(), args.bounded.bounds())?;
    if let Some(warnings) = program.warnings().filter(|_| !args.no_warnings) {
        say(&rendered(warnings));
    }
    if args.strip {
        program = program.stripped()?;
    }
    let output = match args.output {
        Some(output) => output,
        None if args.file == Path::new("-") => {
            return Err(Failure::user("standard input has no name to make the output's from", "add -o FILE"));
        }
        None => args.file.with_extension("gbc"),
    };
    let bytes = program.to_bytecode();
    drop(input);
    write_whole(&output, &bytes)
}

/// Writes a file so that nobody ever sees half of it.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Outcome {
    let failed = |error: std::io::Error| {
        Failure::user(format!("{}: cannot write: {}", path.display(), system_message(&error)), "")
    };
    if path.is_dir() {
        return Err(Failure::user(format!("{}: this is a directory", path.display()), "name a file with -o"));
    }
    let written = Whole::create(path).and_then(|mut file| {
        file.out().write_all(bytes)?;
        file.finish()
    });
    written.map_err(failed)
}
