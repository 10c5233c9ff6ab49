//! `galopvm stand`: a program as an executable of its own.

use crate::failure::{Failure, Outcome, rendered, say};
use crate::settings::{Bounded, Off};
use crate::{bundle, input, run};
use clap::{CommandFactory, FromArgMatches};
use galopvm_base::system_message;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Make an executable that needs nothing else
///
/// The executable is galopvm with the program inside. It takes the options of `galopvm run`, which are those of the executables that
/// Futhark makes: -e -b -n -t -r -D -L and others.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  galopvm stand sum.fut                      makes sum
  galopvm stand sum.gbc -o build/sum
  echo '[1, 2, 3]' | ./sum -t time.txt -r 10")]
pub struct Args {
    /// The program: Futhark source or a .gbc file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The executable to make [default: FILE without its extension]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print no warnings
    #[arg(short = 'w', long)]
    no_warnings: bool,
    #[command(flatten)]
    bounded: Bounded,
    #[command(flatten)]
    off: Off,
}

/// Carries out the command.
pub fn run(args: Args) -> Outcome {
    let source = input::bytes_of(&args.file)?;
    let program = source.program(args.off.compiling(), args.bounded.bounds())?;
    if let Some(warnings) = program.warnings().filter(|_| !args.no_warnings) {
        say(&rendered(warnings));
    }
    let output = output_of(args.output, &args.file)?;
    let own = std::env::current_exe().and_then(File::open);
    let mut own = own.map_err(|error| {
        Failure::user(format!("cannot read galopvm itself: {}", system_message(&error)), "")
    })?;
    bundle::write(&output, &mut own, &program.to_bytecode())
}

/// The executable to make: what was asked for, or the source's name without its extension.
pub fn output_of(wanted: Option<PathBuf>, source: &Path) -> Result<PathBuf, Failure> {
    let output = wanted.unwrap_or_else(|| source.with_extension(""));
    if output == source || output == Path::new("-") {
        return Err(Failure::user("there is no name to make the executable's from", "add -o FILE"));
    }
    Ok(output)
}

/// Options of an executable with a program inside.
#[derive(clap::Parser)]
#[command(name = "galopvm", version, max_term_width = 100)]
struct Standing {
    #[command(flatten)]
    run: run::Args,
}

/// Runs the program inside of this executable; nothing if there is none.
pub fn standing(arguments: &[OsString]) -> Option<u8> {
    let own = std::env::current_exe().ok()?;
    bundle::program_in(&own)?;
    let mut command = Standing::command()
        .about("A Futhark program, executed by galopvm")
        .after_help("")
        .mut_arg("file", |file| file.hide(true).required(false).default_value(&*own.into_os_string().leak()));
    let parsed = command
        .try_get_matches_from_mut(arguments)
        .and_then(|found| Standing::from_arg_matches(&found).map_err(|message| message.format(&mut command)));
    Some(match parsed {
        Ok(standing) => run::run(standing.run).map_or_else(Failure::report, |()| 0),
        Err(message) => {
            let _ = message.print();
            if message.use_stderr() { crate::failure::USER } else { 0 }
        }
    })
}
