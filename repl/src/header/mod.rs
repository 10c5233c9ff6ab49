//! `galopvm header`: the entry points of a program as typed functions in C.
//!
//! Three files, named as Futhark's `--library` names them: a header, the functions behind it, and a manifest that tells tools what there is.
//! The functions have the names and the meaning of those that Futhark makes, and are made of those of `galopvm.h`; the program is in
//! them as bytecode.
//!
//! - `names.rs`: the types of the entry points, and what C calls them. `functions.rs`: what can be done with each, from which header and source
//!   are written. `manifest.rs`: the same as JSON. `runtime.c`, `context.c`: what is the same for all programs.
//!
//! Invariant: whatever functions do wrong with a value is an error that the host is told; none trusts a value's type.

mod functions;
mod manifest;
mod names;

use crate::failure::{Failure, Outcome, rendered, say};
use crate::input;
use crate::settings::Bounded;
use galopvm::Compiling;
use galopvm_base::system_message;
use std::path::{Path, PathBuf};

/// Make typed functions in C of the entry points of a program
///
/// NAME.h declares them, NAME.c has them with the program inside, NAME.json tells tools of them. They are what Futhark's compilers make with
/// --library: futhark_context_new, futhark_new_f32_1d, futhark_entry_main and so on, so that a host can choose either. Types have the names
/// that the signatures of the entry points use.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  galopvm header scale.fut                   makes scale.h, scale.c, scale.json
  galopvm header scale.fut -o build/scale
  cc host.c scale.c $(pkg-config --cflags --libs galopvm)

The library and galopvm.h are installed by hosts/c/install.sh.")]
pub struct Args {
    /// The program: Futhark source or a .gbc file, which knows no names of types
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Where the files go, without their extensions [default: FILE without its extension]
    #[arg(short, long, value_name = "NAME")]
    output: Option<PathBuf>,
    /// Print no warnings
    #[arg(short = 'w', long)]
    no_warnings: bool,
    #[command(flatten)]
    bounded: Bounded,
}

/// Whose functions they stand for.
#[derive(Clone, Copy)]
pub struct Backend {
    /// The macro FUTHARK_BACKEND_..
    pub name: &'static str,
    /// Worker threads if the host does not say; 0 is one for each hardware thread.
    pub threads: usize,
}

/// Carries out the command.
pub fn run(args: Args) -> Outcome {
    let source = input::bytes_of(&args.file)?;
    let program = source.program(Compiling::default(), args.bounded.bounds())?;
    if let Some(warnings) = program.warnings().filter(|_| !args.no_warnings) {
        say(&rendered(warnings));
    }
    write(&program, &source, &args.file, args.output, Backend { name: "vm", threads: 0 })
}

/// Writes the three files for a program of this source.
pub fn write(
    program: &galopvm::Program,
    source: &input::Input,
    file: &Path,
    output: Option<PathBuf>,
    backend: Backend,
) -> Outcome {
    let output = crate::stand::output_of(output, file)?;
    let text = source.text().ok();
    let table = names::table(program, text);
    let stem = output.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let functions = functions::all(&table);
    let attributes = text.map(crate::values::attributes).unwrap_or_default();
    let files = [
        ("h", functions::header(&functions, &table, backend)),
        ("c", functions::source(&functions, &stem, program, backend)),
        ("json", manifest::manifest(&table, program, &attributes, backend)),
    ];
    for (extension, text) in files {
        let mut path = output.clone().into_os_string();
        path.push(".");
        path.push(extension);
        std::fs::write(&path, text).map_err(|error| {
            Failure::user(
                format!("{}: cannot write: {}", Path::new(&path).display(), system_message(&error)),
                "name another file with -o",
            )
        })?;
    }
    Ok(())
}
