//! `galopvm profile`: why is a program slow? Runs an entry point and tells where its time goes.

use crate::compile::write_whole;
use crate::deadline::Deadline;
use crate::failure::{Outcome, say};
use crate::input;
use crate::interrupt::Interrupts;
use crate::settings::{Called, Settings};
use crate::stats::Phases;
use crate::{explain, run as running, tuning};
use galopvm_profile::{Measured, Named, Profile, Recorder};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// Run a program and tell where the time goes, line by line, and what can be done
///
/// First come the places of the source that took longest: which part of the time, who executed them, why nobody faster
/// did, and what helps. Details follow. What is not an operator, a loop, a call or a copy counts for what is around it.
/// Without values on standard input, the first input that the program's test block has for the entry point is taken.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    called: Called,
    /// Measure so many runs, after one that is not measured: then code is there that the first run makes
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,
    /// The same facts as one JSON document
    #[arg(long)]
    json: bool,
    /// Write a page with the table, the last run over time and the annotated source; it needs nothing else
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the last run over time as JSON for speedscope
    #[arg(long, value_name = "FILE")]
    speedscope: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
}

const EXAMPLES: &str = "\
Examples:
  galopvm profile lu.fut                                  with the first input of its test block
  galopvm profile lu.fut -i large.in -r 5                 when all code is there
  galopvm profile lu.fut -e rows -i rows.npy --html lu.html
  galopvm profile lu.fut -i large.in --speedscope lu.json
  galopvm profile lu.fut -i large.in --backend interp --threads 1

Inputs should be as large as those that are too slow. `galopvm words` explains the words of the
details; docs/profiling.md what is measured, and how to read it.";

/// Carries out the command.
pub fn run(args: Args) -> Outcome {
    let interrupts = Interrupts::listen();
    let mut phases = Phases::start();
    let source = input::bytes_of(&args.called.file)?;
    let program = source.program(args.settings.compiling(), args.settings.bounds())?;
    phases.end("the front end");
    let recorder = Recorder::default();
    let shows = Arc::new(running::show);
    let engine = args.settings.builder().moments(recorder.sink()).shows(shows).build();
    for note in engine.notes() {
        say(&format!("note: {note}; the interpreter does the work"));
    }
    let mut session = engine.session(&program);
    if let Some(file) = tuning::beside(&args.called.file, "tuning") {
        tuning::apply_file(&mut session, &file, false)?;
    }
    let entry = session.entry(args.called.entry(&program)?)?.clone();
    phases.end("looking at the machine");
    let reading = Deadline::of("Reading the input", args.settings.timeout);
    let (values, from) = explain::arguments("profile", &args.called, &session, &entry, &source)?;
    drop(reading);
    phases.end("reading values");
    interrupts.running(Some(session.interrupt_flag()));
    let memory = session.memory().clone();
    let outcome = running::repeatedly(args.runs, values, |values, counts| match counts {
        true => recorder.call(&memory, || session.call_values(&entry.name, values)),
        false => session.call_values(&entry.name, values),
    });
    interrupts.running(None);
    let named = Named { program: &source.name, entry: &entry.name, input: &from };
    let measured = if args.runs.is_some() { Measured::Later } else { Measured::First };
    let profile = Profile::new(&recorder, &program, &session, named, measured)
        .after(phases.done())
        .with_details(&session);
    // A failure comes first, as it is short; how far a program came is worth knowing, too.
    let outcome = outcome.map_err(|error| running::failed(error, &source).said());
    let mut out = std::io::stdout().lock();
    if args.json {
        writeln!(out, "{}", profile.json())?;
    } else {
        out.write_all(profile.text().as_bytes())?;
    }
    out.flush()?;
    if let Some(path) = &args.speedscope {
        write_whole(path, profile.speedscope().to_string().as_bytes())?;
    }
    if let Some(path) = &args.html {
        write_whole(path, profile.page(&|name| source.text_of(name)).as_bytes())?;
    }
    outcome.map(|_| ())
}
