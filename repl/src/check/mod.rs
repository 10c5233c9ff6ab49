//! `galopvm check`: is the program right?

mod json;

use crate::failure::{Failure, Outcome, colours, say};
use crate::input;
use crate::settings::Bounded;
use galopvm::{Diagnostic, Imports};
use galopvm_base::Sources;
use std::path::{Path, PathBuf};

/// Check programs without running them
///
/// Reports everything that is wrong with the source, with places and hints. Silent and with exit code 0 if the
/// programs are right; exit code 2 if not.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  galopvm check sum.fut
  galopvm check *.fut -w
  galopvm check --json sum.fut    for editors: one JSON object with all messages, on standard output
  galopvm check sum.gbc           is the file whole and safe to run?")]
pub struct Args {
    /// Programs: Futhark source, .gbc files, or - for standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Print no warnings
    #[arg(short = 'w', long)]
    no_warnings: bool,
    /// Let source import only files in its own folder and below, links followed
    #[arg(long)]
    confine_imports: bool,
    #[command(flatten)]
    bounded: Bounded,
    /// Print messages as JSON on standard output
    #[arg(long)]
    json: bool,
}

/// What was found out about one file.
struct Checked {
    sources: Sources,
    diagnostics: Vec<Diagnostic>,
}

impl Checked {
    fn errors(&self) -> usize {
        self.diagnostics.iter().filter(|d| d.is_error()).count()
    }
}

/// Carries out the command.
pub fn run(args: Args) -> Outcome {
    let mut errors = 0;
    let mut wrong = 0;
    let mut document = json::Document::default();
    for path in &args.files {
        let found = match check(path, &args) {
            Ok(mut checked) => {
                checked.diagnostics.retain(|d| d.is_error() || !args.no_warnings);
                if args.json {
                    document.messages(&checked.sources, &checked.diagnostics);
                } else {
                    checked.diagnostics.iter().for_each(|d| say(&d.render(&checked.sources, colours())));
                }
                checked.errors()
            }
            Err(Failure::User(text)) if args.json => {
                document.complaint(path, text.trim_start_matches("error: "));
                1
            }
            Err(failure) => {
                failure.report();
                1
            }
        };
        errors += found;
        wrong += usize::from(found > 0);
    }
    if args.json {
        document.print()?;
        return if wrong == 0 { Ok(()) } else { Err(Failure::Told) };
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

fn check(path: &Path, args: &Args) -> Result<Checked, Failure> {
    let input = input::bytes_of(path)?;
    let mut sources = Sources::new();
    if galopvm_bytecode::file::is_bytecode(&input.bytes) {
        galopvm::Program::from_bytecode(&input.name, &input.bytes)?;
        return Ok(Checked { sources, diagnostics: Vec::new() });
    }
    let file = sources.add(input.name.as_str(), input.text()?);
    let imports = if args.confine_imports { Imports::Confined } else { Imports::Anywhere };
    let compiling = args.bounded.bounds().watch("Checking the program");
    let report = galopvm_frontend::check_with(&mut sources, file, imports);
    drop(compiling);
    let mut diagnostics = [report.diagnostics, report.warnings].concat();
    diagnostics.sort_by_key(|d| (d.span.file, d.span.start));
    Ok(Checked { sources, diagnostics })
}
