//! galopvm in the place of `futhark`: `c`, `multicore` and `vm` make what looks like a compiled program.
//!
//! Futhark's `test`, `bench`, `autotune` and `literate` run `EXE BACKEND PROG -o BIN --server`, then `./BIN` with the options of a
//! server. BIN is a shell script with the program's bytecode behind it.

use crate::failure::{Failure, Outcome, colours, say};
use crate::header::{self, Backend};
use crate::stand::output_of;
use crate::{bundle, input};
use clap::error::ErrorKind;
use galopvm::{Compiling, Imports};
use galopvm_base::{Sources, system_message};
use std::path::{Path, PathBuf};

/// The version of Futhark that programs and tools may count with.
const FUTHARK: &str = "0.28.0";

/// Make an executable as Futhark's compilers do: a script that starts galopvm on the compiled program
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  galopvm c sum.fut && ./sum < sum.in
  galopvm c --library sum.fut
  futhark test --futhark=galopvm --backend=vm tests/")]
pub struct Args {
    /// The program: Futhark source, or a .gbc file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The executable to make [default: FILE without its extension]
    #[arg(short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The executable speaks the server protocol
    #[arg(long)]
    server: bool,
    /// The executable runs an entry point, as is done without this
    #[arg(long, conflicts_with = "server")]
    executable: bool,
    /// Make functions in C instead, as `galopvm header` does: FILE.h, FILE.c and FILE.json
    #[arg(long, conflicts_with_all = ["server", "executable"])]
    library: bool,
    /// Print no warnings
    #[arg(short = 'w')]
    no_warnings: bool,
    /// Treat warnings as errors
    #[arg(long = "Werror")]
    warnings_are_errors: bool,
    /// Check sizes and indices everywhere, which is done anyway
    #[arg(long)]
    safe: bool,
    /// Print more about compiling; there is nothing to print
    #[arg(short, long, num_args = 0..=1, require_equals = true)]
    verbose: Option<Option<String>>,
}

/// Which compiler galopvm stands for.
#[derive(Clone, Copy)]
pub enum Compiler {
    /// One thread, as sequential C has.
    Sequential,
    /// All threads.
    Multicore,
    /// All threads, and nothing that Futhark has.
    Machine,
}

impl Compiler {
    /// What a library for C says of itself.
    fn backend(self) -> Backend {
        match self {
            Compiler::Sequential => Backend { name: "c", threads: 1 },
            Compiler::Multicore => Backend { name: "multicore", threads: 0 },
            Compiler::Machine => Backend { name: "vm", threads: 0 },
        }
    }
}

/// Carries out the command.
pub fn run(args: Args, compiler: Compiler) -> Outcome {
    let source = input::bytes_of(&args.file)?;
    let bounds = crate::deadline::Bounds::default();
    let program = source.program(Compiling::default(), bounds)?;
    let warned = !args.no_warnings && warn(&source);
    if warned && args.warnings_are_errors {
        return Err(Failure::Told);
    }
    if args.library {
        return header::write(&program, &source, &args.file, args.output, compiler.backend());
    }
    let output = output_of(args.output, &args.file)?;
    let own = std::env::current_exe().map_err(|error| {
        Failure::user(format!("cannot find galopvm itself: {}", system_message(&error)), "")
    })?;
    let command = if args.server {
        let source = std::path::absolute(&args.file).unwrap_or(args.file);
        format!("server --attributes-of {}", quoted(&source)?)
    } else {
        "run".into()
    };
    let threads = match compiler {
        Compiler::Sequential => " --threads 1",
        Compiler::Multicore | Compiler::Machine => "",
    };
    let script = format!("#!/bin/sh\nexec {} {command}{threads} \"$0\" \"$@\"\n", quoted(&own)?);
    bundle::write(&output, &mut script.as_bytes(), &program.to_bytecode())
}

/// Prints the warnings about a source; whether there are any.
fn warn(source: &input::Input) -> bool {
    let Ok(text) = source.text() else { return false };
    let mut sources = Sources::new();
    let file = sources.add(source.name.as_str(), text);
    let report = galopvm_frontend::check_with(&mut sources, file, Imports::Anywhere);
    let all: Vec<_> = report.diagnostics.iter().chain(&report.warnings).collect();
    all.iter().for_each(|warning| say(&warning.render(&sources, colours())));
    !all.is_empty()
}

/// A path as one word of a shell.
fn quoted(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().ok_or_else(|| {
        Failure::user(format!("{}: the name of this file is not UTF-8", path.display()), "rename it")
    })?;
    Ok(format!("'{}'", text.replace('\'', "'\\''")))
}

/// Whether this process was started by the name of Futhark's compiler.
pub fn is_called() -> bool {
    let name = std::env::args_os().next();
    name.is_some_and(|name| Path::new(&name).file_stem().is_some_and(|stem| stem == "futhark"))
}

/// The exit code of Futhark's compiler where no command is named, or one that there is not.
pub const NO_COMMAND: u8 = 1;

/// Whether a complaint about a command line is that.
pub fn names_no_command(message: &clap::Error) -> bool {
    matches!(
        message.kind(),
        ErrorKind::InvalidSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    )
}

/// The commands with those that only Futhark's compiler has in the list that help shows.
pub fn listed(command: clap::Command) -> clap::Command {
    ["c", "multicore", "vm"]
        .into_iter()
        .fold(command, |command, name| command.mut_subcommand(name, |own| own.hide(false)))
}

/// What `futhark --version` prints.
pub fn version() -> String {
    format!(
        "Futhark {FUTHARK}\ngalopvm {}: a virtual machine for Futhark programs, in the place of the compiler",
        env!("CARGO_PKG_VERSION")
    )
}
