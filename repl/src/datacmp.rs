//! `galopvm datacmp`: do two files hold the same values?

use crate::failure::{Failure, Outcome};
use crate::input::Values;
use galopvm::data::{self, Reader};
use galopvm::{Memory, Value};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Compare the values of two files
///
/// Integers must be equal; floats may differ by 0.002, or by 0.002 times the greatest float of the second file's value. Each
/// difference is printed on a line. Formats do not matter: text, binary, .npy, packed with gzip or not.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  galopvm datacmp found.out expected.out
  galopvm run prog.fut < prog.in | galopvm datacmp - prog.out

Exit codes, as those of `futhark datacmp`: 0 the values are the same, 1 a file cannot be read, 2 they differ.")]
pub struct Args {
    /// The values that were found, or - for standard input
    #[arg(value_name = "FILE")]
    found: PathBuf,
    /// The values that were expected
    #[arg(value_name = "FILE")]
    expected: PathBuf,
}

/// Carries out the command.
pub fn run(args: Args) -> Outcome {
    let memory = Memory::default();
    let found = read(&memory, &args.found)?;
    let expected = read(&memory, &args.expected)?;
    let mut out = BufWriter::new(io::stdout().lock());
    let mut outcome = Ok(());
    let mut differences = 0;
    data::compare(&found, &expected, data::TOLERANCE, &mut |difference| {
        differences += 1;
        outcome = writeln!(out, "{difference}");
        outcome.is_ok()
    });
    outcome.and_then(|()| out.flush())?;
    if differences > 0 { Err(Failure::Told) } else { Ok(()) }
}

fn read(memory: &Memory, path: &Path) -> Result<Vec<Value>, Failure> {
    // What cannot be read has the exit code 1 here.
    let values = Values::open(memory, path).map_err(|failure| match failure {
        Failure::User(text) => Failure::Run(text),
        other => other,
    })?;
    let mut reader = Reader::of_input(memory, &values.input);
    let mut found = Vec::new();
    loop {
        match reader.value(None) {
            Ok(Some(value)) => found.push(value),
            Ok(None) => return Ok(found),
            Err(error) => {
                let name = path.display();
                return Err(Failure::Run(format!("Error reading values from {name}\n{name}:{error}")));
            }
        }
    }
}
