//! `galopvm run`: calls an entry point with values from standard input and prints its results.

use crate::failure::{Outcome, say};
use crate::input;
use crate::settings::{self, Settings};
use galopvm::{Optimisation, SiteReport, data};
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Run a program: values from standard input, results to standard output
///
/// FILE is Futhark source or a .gbc file; the contents decide, not the name. The entry point's arguments are read
/// from standard input in Futhark's text or binary data format, one after the other. Each result is printed on a
/// line of its own; the components of a tuple count as results.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The program: Futhark source, a .gbc file, or - for source on standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The entry point to call
    #[arg(short, long, visible_alias = "entry-point", value_name = "NAME", default_value = "main")]
    entry: String,
    /// Read the arguments from this file instead; large binary arrays are mapped, not read
    #[arg(short, long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Print results in the binary data format
    #[arg(short, long)]
    binary_output: bool,
    /// Print no warnings
    #[arg(short = 'w', long)]
    no_warnings: bool,
    /// Print times, memory and what was compiled to standard error
    #[arg(long)]
    stats: bool,
    /// Print one line per event of the machine to standard error
    #[arg(long)]
    trace: bool,
    /// Switch optimisations of source off, separated by commas; results stay the same
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = settings::optimisation())]
    no: Vec<Optimisation>,
    #[command(flatten)]
    settings: Settings,
}

const EXAMPLES: &str = "\
Examples:
  echo '[1, 2, 3] [4, 5, 6]' | galopvm run dot.fut
  galopvm run -e rows matrix.gbc < matrix.in
  galopvm run mandelbrot.fut -i args.in -b > picture.bin
  echo 1000000 | galopvm run sum.fut --backend x86 --cpu avx2 --threads 2 --stats

Exit codes: 0 success, 1 the program failed, 2 a mistake in the source, the values or the command line.";

/// Carries out the command.
pub fn run(args: Args) -> Outcome {
    let source = input::bytes_of(&args.file)?;
    let start = Instant::now();
    let program = source.program(&args.no)?;
    if let Some(warnings) = program.warnings().filter(|_| !args.no_warnings) {
        say(&crate::failure::rendered(warnings));
    }
    let compiled = start.elapsed();
    let mut builder = args.settings.builder();
    if args.trace {
        builder = builder.trace(Arc::new(|event| say(&event.to_string())));
    }
    let engine = builder.build();
    for note in engine.notes() {
        say(&format!("note: {note}; the interpreter does the work"));
    }
    let mut session = engine.session(&program);
    let entry = session.entry(&args.entry)?.clone();
    let values = match &args.input {
        None if source.is_standard_input() => input::arguments_of(&session, &entry, None)?,
        file => input::arguments(&session, &entry, file.as_ref())?,
    };
    let start = Instant::now();
    let results = session.call_values(&args.entry, values)?;
    let ran = start.elapsed();
    let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    for value in &results {
        if args.binary_output {
            data::write_binary(&mut out, value)?;
        } else {
            data::write_text(&mut out, value)?;
            out.write_all(b"\n")?;
        }
    }
    out.flush()?;
    if args.stats {
        say(&format!("compile: {}\nrun: {}\n{}", shown(compiled), shown(ran), session.memory_stats()));
        session.sites().iter().for_each(|site| say(&site_line(site)));
    }
    Ok(())
}

/// What became of one parallel operator.
fn site_line(site: &SiteReport) -> String {
    let profile = &site.profile;
    let mut line = format!("{}: {} executions, {} elements", site.name, profile.executions, profile.elements);
    for version in &site.versions {
        if let Some((backend, _)) = &version.code {
            let compiled = shown(Duration::from_micros(version.micros));
            line.push_str(&format!(", compiled by {backend} in {compiled}, {} launches", version.launches));
        }
    }
    if profile.launches > 0 {
        line.push_str(&format!(", {} in kernels", shown(Duration::from_nanos(profile.launch_nanos))));
    }
    if profile.executions > profile.launches {
        line.push_str(&format!(", interpreted: {}", profile.reason));
    }
    line
}

/// A duration with a unit that keeps it readable.
pub fn shown(time: Duration) -> String {
    let us = time.as_secs_f64() * 1e6;
    match us {
        ..1e3 => format!("{us:.0} us"),
        1e3..1e6 => format!("{:.2} ms", us / 1e3),
        _ => format!("{:.3} s", us / 1e6),
    }
}
