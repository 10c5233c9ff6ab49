//! `galopvm run`: calls an entry point with values from standard input and prints its results.

use crate::deadline::Deadline;
use crate::failure::{Failure, Outcome, say};
use crate::input;
use crate::interrupt::Interrupts;
use crate::output::Output;
use crate::settings::{Called, Settings};
use crate::source_line;
use crate::stats::Phases;
use crate::tuning::Tuning;
use galopvm::{Session, Shown, Value};
use galopvm_base::system_message;
use galopvm_bytecode::Purpose;
use galopvm_profile::{CALLS, Recorder};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Run a program: values from standard input, results to standard output
///
/// FILE is Futhark source or a .gbc file; the contents decide, not the name. The entry point's arguments are read
/// from standard input in Futhark's text or binary data format or numpy's .npy format, one after the other, packed with
/// gzip or not; records and sums may be written as in programs. Tables (CSV) give a vector for each column, by name where the
/// first line has the names of the parameters, or a matrix; images (PNG, PPM, PGM) give a matrix. Each result is printed on a
/// line of its own; the components of a tuple count as results.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    called: Called,
    /// Print no warnings
    #[arg(short = 'w', long)]
    no_warnings: bool,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    measurement: Measurement,
    #[command(flatten)]
    tuning: Tuning,
    #[command(flatten)]
    settings: Settings,
}

/// What is measured and said about the run.
#[derive(clap::Args)]
#[command(next_help_heading = "Measurement")]
struct Measurement {
    /// Write the time of each run to this file: whole microseconds, a line for each
    #[arg(short = 't', long, value_name = "FILE")]
    write_runtime_to: Option<PathBuf>,
    /// Run so many times, after one run that is not measured
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,
    /// Print where the time goes, operator by operator, memory, page faults and what the analyses did to standard error
    #[arg(long, visible_short_alias = 'P', visible_alias = "profile")]
    stats: bool,
    /// Print one line per event of the machine to standard error
    #[arg(long, visible_short_alias = 'L', visible_alias = "log")]
    trace: bool,
    /// Print everything that --stats and --trace print
    #[arg(short = 'D', long)]
    debugging: bool,
}

const EXAMPLES: &str = "\
Examples:
  echo '[1, 2, 3] [4, 5, 6]' | galopvm run dot.fut
  galopvm run -e rows matrix.gbc < matrix.in
  galopvm run mandelbrot.fut -i args.in -b > picture.bin
  galopvm run dot.fut -i xy.npy -n -r 10 -t times
  galopvm run regression.fut -i measured.csv -o fitted.csv
  galopvm run blur.fut -i photo.png -i radius.in -o blurred.png
  galopvm run histogram.fut --raw -i program.exe -o counts.csv
  echo '{x = 1, y = 2} #square 3' | galopvm run shapes.fut --records
  echo 1000000 | galopvm run sum.fut --backend x86 --cpu avx2 --threads 2 --stats
  galopvm run unknown.gbc --max-memory 1G --timeout 10s

Exit codes: 0 success, 1 the program failed or reached a limit, 2 a mistake in the source, the values or the command
line, 130 ended by Ctrl-C.";

/// Carries out the command.
pub fn run(args: Args) -> Outcome {
    let interrupts = Interrupts::listen();
    let mut phases = Phases::start();
    let source = input::bytes_of(&args.called.file)?;
    let program = source.program(args.settings.compiling(), args.settings.bounds())?;
    if let Some(warnings) = program.warnings().filter(|_| !args.no_warnings) {
        say(&crate::failure::rendered(warnings));
    }
    if args.tuning.print_params {
        return Ok(program.params().iter().try_for_each(|name| print_line(&format!("{name} (user)")))?);
    }
    phases.end("the front end");
    let Measurement { debugging, stats, trace, .. } = args.measurement;
    let mut builder = args.settings.builder();
    if trace || debugging {
        builder = builder.trace(Arc::new(|event| say(&event.to_string())));
    }
    // Only whoever wants to know the times pays for a look at the clock at each operator.
    let recorder = (stats || debugging).then(Recorder::default);
    if let Some(recorder) = &recorder {
        builder = builder.moments(recorder.sink());
    }
    let engine = builder.shows(Arc::new(show)).build();
    for note in engine.notes() {
        say(&format!("note: {note}; the interpreter does the work"));
    }
    let mut session = engine.session(&program);
    args.tuning.apply(&mut session, &args.called.file)?;
    let entry = session.entry(args.called.entry(&program)?)?.clone();
    let plan = args.output.plan(&program, &entry.name)?;
    phases.end("looking at the machine");
    let time = args.settings.timeout;
    let reading = Deadline::of("Reading the input", time);
    let values = input::arguments(&session, &entry, &source, &args.called.inputs)?;
    drop(reading);
    phases.end("reading values");
    interrupts.running(Some(session.interrupt_flag()));
    let outcome =
        measured(&mut session, &entry.name, values, (&args.measurement, recorder.as_ref()), &source);
    interrupts.running(None);
    phases.end(CALLS);
    // How far a program came that failed is worth knowing, too.
    let report = |phases: &Phases| {
        if let Some(recorder) = &recorder {
            phases.report_calls(&session, &program, recorder)
        }
    };
    let results = outcome.inspect_err(|_| report(&phases))?;
    let writing = Deadline::of("Writing the results", time);
    plan.carry_out(&results)?;
    drop(writing);
    phases.end("writing results");
    report(&phases);
    Ok(())
}

/// Calls the entry point as often as was asked for; the last results. A recorder hears all calls.
fn measured(
    session: &mut Session,
    entry: &str,
    values: Vec<Value>,
    (measurement, recorder): (&Measurement, Option<&Recorder>),
    source: &input::Input,
) -> Result<Vec<Value>, Failure> {
    let cannot = |path: &Path, error: io::Error| {
        Failure::user(
            format!("{}: cannot write: {}", path.display(), system_message(&error)),
            "name another file with -t",
        )
    };
    let mut times = match &measurement.write_runtime_to {
        Some(path) => Some((path, File::create(path).map_err(|error| cannot(path, error))?)),
        None => None,
    };
    let memory = session.memory().clone();
    repeatedly(measurement.runs, values, |values, counts| {
        let start = Instant::now();
        let results = match recorder {
            Some(recorder) => recorder.call(&memory, || session.call_values(entry, values)),
            None => session.call_values(entry, values),
        };
        let results = results.map_err(|error| failed(error, source))?;
        let micros = start.elapsed().as_micros();
        if let Some((path, file)) = times.as_mut().filter(|_| counts) {
            writeln!(file, "{micros}").map_err(|error| cannot(path, error))?;
        }
        Ok(results)
    })
}

/// Calls once or, if somebody asked for runs, so often after one that does not count; the last results. The call is told whether it
/// counts.
pub fn repeatedly<E>(
    runs: Option<u32>,
    values: Vec<Value>,
    mut call: impl FnMut(Vec<Value>, bool) -> Result<Vec<Value>, E>,
) -> Result<Vec<Value>, E> {
    if runs.is_some() {
        call(values.clone(), false)?;
    }
    for _ in 1..runs.unwrap_or(1) {
        call(values.clone(), true)?;
    }
    // The last run may overwrite what it is given.
    call(values, true)
}

/// The failure of a call, with the line of the source where it happened.
pub fn failed(error: galopvm::Error, source: &input::Input) -> Failure {
    let shown = excerpt(&error, source);
    match (Failure::from(error), shown) {
        (Failure::Run(text), Some(shown)) => Failure::Run(format!("{text}\n\n{shown}")),
        (failure, _) => failure,
    }
}

/// The line in which a program failed, if it is one of its own file, which is source.
fn excerpt(error: &galopvm::Error, source: &input::Input) -> Option<String> {
    let galopvm::Error::Run(error) = error else { return None };
    let site = error.trace.first()?;
    let place = site.place.filter(|_| site.file.as_deref() == Some(&source.name))?;
    source_line::marked(source.text().ok()?, place)
}

/// Prints what the program shows, as Futhark's programs do. They do not stop anywhere.
pub fn show(shown: &Shown<'_>) {
    if shown.purpose != Purpose::Value {
        return;
    }
    let mut out = BufWriter::new(io::stderr().lock());
    // Nobody can be told that standard error is closed.
    let _ = write!(out, "{}: ", shown.label)
        .and_then(|()| shown.write_value(&mut out))
        .and_then(|()| writeln!(out));
}

fn print_line(text: &str) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{text}")
}
