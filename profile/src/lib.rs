//! Where the time of a program's calls goes, and why: for people, and for tools.
//!
//! - `record.rs`: what the machine tells of calls, with a clock. `table.rs`: summed up by `places.rs` of the source.
//!   `verdict.rs`: who executed what, why nobody faster did, and what can be done. `figures.rs`: what a session knows without a clock.
//! - `whole.rs`: the same for a whole command, with nothing left out.
//! - `text.rs`, `page.rs` (with `page.css` and `page.js`), `json.rs`, `speedscope.rs`: what is shown.
//!
//! Invariant: all that is shown comes from the same table and the same spans.
#![forbid(unsafe_code)]

mod figures;
mod json;
mod page;
mod places;
mod record;
mod speedscope;
mod table;
mod text;
mod verdict;
mod whole;

pub use figures::{analysis_lines, code_lines, made_lines, shown, site_lines};
use galopvm::{Doing, Program, Session, Site};
use galopvm_bytecode::Module;
use galopvm_tier::told::small_inputs;
use places::Place;
pub use places::Spot;
pub use record::Recorder;
use record::{Record, Span};
use std::time::Duration;
use table::{By, Table};
pub use whole::{CALLS, whole_lines};

/// Runs that take less are too short to say much.
const SMALL: Duration = Duration::from_millis(5);

/// What only the first run does is worth a word if it is one of so many parts of the time.
const FELT: u64 = 5;

/// What runs were measured, and what came of it.
pub struct Profile<'p> {
    named: Named<'p>,
    module: &'p Module,
    /// What went before the runs, and its time.
    before: Vec<(&'static str, Duration)>,
    /// Which runs these are.
    measured: Measured,
    record: Record,
    table: Table,
    /// What the machine did, in lines.
    details: Vec<String>,
}

/// What runs are called.
#[derive(Clone, Copy)]
pub struct Named<'p> {
    /// What messages call the program.
    pub program: &'p str,
    /// The entry point.
    pub entry: &'p str,
    /// Where the values came from.
    pub input: &'p str,
}

/// Which runs were measured.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Measured {
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

impl<'p> Profile<'p> {
    /// What a recorder heard of a session's calls.
    pub fn new(
        recorder: &Recorder,
        program: &'p Program,
        session: &Session,
        named: Named<'p>,
        measured: Measured,
    ) -> Profile<'p> {
        let record = recorder.record();
        let table = Table::new(&record, program, session, measured == Measured::First, By::Line);
        let (module, before, details) = (program.module().module(), Vec::new(), Vec::new());
        Profile { named, module, before, measured, record, table, details }
    }

    /// The same, with what went before the runs.
    pub fn after(self, phases: &[(&'static str, Duration)]) -> Profile<'p> {
        Profile { before: phases.to_vec(), ..self }
    }

    /// The same, with what the machine did.
    pub fn with_details(self, session: &Session) -> Profile<'p> {
        Profile { details: text::details(&self, session), ..self }
    }

    /// At most ten lines that say where the time goes, and the details.
    pub fn text(&self) -> String {
        text::text(self)
    }

    /// The facts for tools.
    pub fn json(&self) -> serde_json::Value {
        json::document(self)
    }

    /// A page that needs nothing else; `read` gives the text of a source file.
    pub fn page(&self, read: &dyn Fn(&str) -> Option<String>) -> String {
        page::page(self, read)
    }

    /// The course of the last call, for speedscope.
    pub fn speedscope(&self) -> serde_json::Value {
        speedscope::document(self)
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
        let Named { program, entry, input } = self.named;
        format!("{program}, entry point {entry}, {input}: {how}")
    }

    /// What to mind about the numbers.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.mean() < SMALL {
            notes.push(small_inputs("such a run is over before much of it is the program's own work"));
        }
        let rows = &self.table.rows;
        if !rows.is_empty() && rows.iter().all(|row| row.spot.place.is_none()) {
            notes.push("The program has no places of its source. Compiled without --strip it has.".into());
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
            .then_some("--runs 5 (in Python runs=5) measures later runs, for which code is there")
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
