//! `galopvm profile`: why is a program slow? Runs an entry point and tells where its time goes.
//!
//! - `record.rs`: what the machine tells of calls, with a clock. `table.rs`: summed up by `places.rs` of the source.
//!   `verdict.rs`: who executed what, why nobody faster did, and what can be done.
//! - `text.rs`, `page.rs` (with `page.css` and `page.js`), `speedscope.rs`: what is shown.

mod page;
mod places;
mod record;
mod speedscope;
mod table;
mod text;
mod verdict;

use crate::compile::write_whole;
use crate::deadline::Deadline;
use crate::failure::{Outcome, say};
use crate::input;
use crate::interrupt::Interrupts;
use crate::settings::{Called, Settings};
use crate::stats::{Phases, shown};
use crate::{explain, run as running, tuning};
use galopvm::{Doing, Program, Session, Site};
use galopvm_bytecode::Module;
use places::Place;
pub use record::Recorder;
use record::{Record, Span};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use table::Table;

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

Inputs should be as large as those that are too slow. docs/profiling.md explains what is measured, and how to read it.";

/// Runs that take less are too short to say much.
const SMALL: Duration = Duration::from_millis(5);

/// What only the first run does is worth a word if it is one of so many parts of the time.
const FELT: u64 = 5;

/// What runs were measured, and what came of it.
pub struct Profile<'p> {
    /// What messages call the program.
    pub program: &'p str,
    /// The entry point.
    pub entry: &'p str,
    /// Where the values came from.
    pub input: &'p str,
    module: &'p Module,
    /// What went before the runs, and its time.
    before: Vec<(&'static str, Duration)>,
    /// Which runs these are.
    measured: Measured,
    record: Record,
    table: Table,
}

/// Which runs were measured.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Measured {
    /// The first one; with an option it would be those after it.
    First,
    /// The only one that there can be.
    Only,
    /// Those after the first one.
    Later,
}

/// What a span of time was spent on.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Task {
    name: String,
    place: Option<Place>,
    kind: Kind,
}

/// Who spends time.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Interpreter,
    Code,
    Compiling,
    Deciding,
    Relaying,
}

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
    let entry = session.entry(args.called.entry(&program))?.clone();
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
    let named = [&*source.name, &entry.name, &from];
    let measured = if args.runs.is_some() { Measured::Later } else { Measured::First };
    let mut profile = Profile::new(&recorder, &program, &session, named, measured);
    profile.before = phases.done().to_vec();
    let details = text::details(&profile, &session);
    let mut out = std::io::stdout().lock();
    out.write_all(text::text(&profile, &details).as_bytes())?;
    out.flush()?;
    if let Some(path) = &args.speedscope {
        write_whole(path, speedscope::document(&profile).to_string().as_bytes())?;
    }
    if let Some(path) = &args.html {
        let page = page::page(&profile, &details, &|name| source.text_of(name));
        write_whole(path, page.as_bytes())?;
    }
    // How far a program came that failed is worth knowing, too.
    outcome.map_err(|error| running::failed(error, &source))?;
    Ok(())
}

/// What a recorder heard of a session's calls, as text without details; `named` are the program, the entry point, and where values
/// came from.
pub fn short_text(recorder: &Recorder, program: &Program, session: &Session, named: [&str; 3]) -> String {
    text::text(&Profile::new(recorder, program, session, named, Measured::Only), &[])
}

impl<'p> Profile<'p> {
    fn new(
        recorder: &Recorder,
        program: &'p Program,
        session: &Session,
        [name, entry, input]: [&'p str; 3],
        measured: Measured,
    ) -> Profile<'p> {
        let record = recorder.record();
        let table = Table::new(&record, program, session, measured == Measured::First);
        let (module, before) = (program.module().module(), Vec::new());
        Profile { program: name, entry, input, module, before, measured, record, table }
    }

    /// What was measured.
    fn heading(&self) -> String {
        let mean = shown(self.mean());
        let how = match (self.measured == Measured::Later, self.table.calls) {
            (true, 1) => format!("{mean}, after a run that is not measured"),
            (true, calls) => {
                format!("{mean} a run, the mean of {calls} after one that is not measured")
            }
            (false, _) => format!("{mean}, the first run"),
        };
        format!("{}, entry point {}, {}: {how}", self.program, self.entry, self.input)
    }

    /// What to mind about the numbers.
    fn notes(&self) -> Vec<&'static str> {
        let mut notes = Vec::new();
        if self.mean() < SMALL {
            notes.push(
                "These inputs are small: such a run is over before much of it is the program's own work. \
                 Larger ones say more.",
            );
        }
        let rows = &self.table.rows;
        if !rows.is_empty() && rows.iter().all(|row| row.spot.place.is_none()) {
            notes.push("The program has no places of its source. Compiled without --strip it has.");
        }
        notes
    }

    /// What went before the runs, in words.
    fn before(&self) -> Option<String> {
        let parts: Vec<String> =
            self.before.iter().map(|(what, time)| format!("{} {what}", shown(*time))).collect();
        (!parts.is_empty()).then(|| format!("before the run: {}", parts.join(", ")))
    }

    /// What to do about what is left.
    fn advice(&self) -> Option<&'static str> {
        let aside = &self.table.left.aside;
        let of_first = aside.compiling.saturating_add(aside.deciding);
        (self.measured == Measured::First && of_first >= self.table.nanos / FELT)
            .then_some("with -r 5 runs are measured when code is there")
    }

    /// The time of a run.
    fn mean(&self) -> Duration {
        Duration::from_nanos(self.table.nanos / self.table.calls.max(1))
    }

    /// What a span was spent on.
    fn task(&self, span: &Span) -> Task {
        let place = span.site.and_then(|site| places::place(self.module, site));
        let whose = |site: Site| places::word(self.module, site);
        let of = |what: &str| match span.site {
            Some(site) => format!("{what} of {}", whose(site)),
            None => what.to_string(),
        };
        let (name, kind) = match span.doing {
            Doing::Instruction(site) => (whose(site), Kind::Interpreter),
            Doing::Code(backend) => (of(verdict::backend(backend)), Kind::Code),
            Doing::Compiling => (of("compiling"), Kind::Compiling),
            Doing::Deciding => ("analyses".into(), Kind::Deciding),
            Doing::Relaying => (of("copies into another layout"), Kind::Relaying),
        };
        Task { name, place, kind }
    }
}

impl Kind {
    /// Every kind with its word, in the order of their numbers.
    const ALL: [(Kind, &'static str); 5] = [
        (Kind::Interpreter, "the program; interpreted where nothing is below"),
        (Kind::Code, "code of back ends"),
        (Kind::Compiling, "compiling"),
        (Kind::Deciding, "analyses"),
        (Kind::Relaying, "copies into other layouts"),
    ];

    fn number(self) -> usize {
        Kind::ALL.iter().position(|(kind, _)| *kind == self).unwrap_or(0)
    }
}
