//! What was decided in calls, where their time went, and what calls did so far, for the objects of `galopvm.told`.
//!
//! Invariant: calls that are told of are those of an engine of their own, with the options of the program, so that nothing which was
//! compiled before hides what there is to see.

use crate::forks;
use crate::options::Options;
use crate::run::{Known, call};
use galopvm::{Engine, Limits, Memory, Session, Value};
use galopvm_explain::{Collector, Heading, Target};
use galopvm_profile::{Measured, Named, Profile, Recorder};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;

/// Where values came from, in the words of the command line.
const INPUT: &str = "with values from Python";

/// An entry point that is told of.
pub struct Told<'t> {
    pub options: &'t Options,
    pub limits: &'t Limits,
    pub program: &'t galopvm::Program,
    /// What messages call the program.
    pub name: &'t str,
    /// The text that it was compiled from, if it was here.
    pub source: Option<&'t str>,
    pub entry: &'t str,
}

impl Told<'_> {
    /// The text of a file of the program: of this one, or of another, which is read where the compiler found it.
    fn text_of(&self, file: &str) -> Option<String> {
        match self.source {
            Some(source) if file == self.name => Some(source.to_string()),
            _ => std::fs::read_to_string(file).ok(),
        }
    }

    fn call(&self, py: Python<'_>, session: &mut Session, arguments: &[Value]) -> PyResult<()> {
        call(py, session, self.limits, self.entry, arguments, &Known::to_take_long()).map(drop)
    }
}

/// What was decided in a call, and why.
pub fn explanation<'py>(
    py: Python<'py>,
    told: &Told<'_>,
    arguments: &[Value],
) -> PyResult<Bound<'py, PyAny>> {
    let collector = Collector::default();
    let (builder, _) = told.options.builder(forks::count() > 0)?;
    let engine = builder.explain(collector.sink()).build();
    let mut session = engine.session(told.program);
    let outcome = told.call(py, &mut session, arguments);
    let heading = Heading { program: told.name, entry: told.entry, input: INPUT, off: Vec::new() };
    let prices = (engine.machine(), engine.costs(), Target::Cpu);
    let module = told.program.module().module();
    let read = |file: &str| told.text_of(file);
    let document = collector.document(heading, module, &session.sites(), prices, &read);
    let facts = document.json(true).to_string();
    let shown = (document.text(false), document.text(true), facts);
    let explanation = py.import("galopvm.told")?.getattr("Explanation")?.call1(shown)?;
    with_failure(py, outcome, explanation, "explanation")
}

/// Where the time of calls goes, and why.
pub fn profile<'py>(
    py: Python<'py>,
    told: &Told<'_>,
    arguments: &[Value],
    runs: Option<u32>,
) -> PyResult<Bound<'py, PyAny>> {
    if runs == Some(0) {
        return Err(PyValueError::new_err("runs must be 1 or more"));
    }
    let recorder = Recorder::default();
    let (builder, _) = told.options.builder(forks::count() > 0)?;
    let engine = builder.moments(recorder.sink()).build();
    let mut session = engine.session(told.program);
    let memory = session.memory().clone();
    let mut outcome = Ok(());
    if runs.is_some() {
        outcome = told.call(py, &mut session, arguments);
    }
    for _ in 0..runs.unwrap_or(1) {
        if outcome.is_ok() {
            outcome = recorder.call(&memory, || told.call(py, &mut session, arguments));
        }
    }
    let named = Named { program: told.name, entry: told.entry, input: INPUT };
    let measured = if runs.is_some() { Measured::Later } else { Measured::First };
    let profile = Profile::new(&recorder, told.program, &session, named, measured).with_details(&session);
    let page = profile.page(&|file| told.text_of(file));
    let shown = (profile.text(), profile.json().to_string(), page, profile.speedscope().to_string());
    let profile = py.import("galopvm.told")?.getattr("Profile")?.call1(shown)?;
    with_failure(py, outcome, profile, "profile")
}

/// What there is to show of a call. Of one that failed it is an attribute of the exception: how far a program came is worth knowing,
/// too.
fn with_failure<'py>(
    py: Python<'py>,
    outcome: PyResult<()>,
    shown: Bound<'py, PyAny>,
    attribute: &str,
) -> PyResult<Bound<'py, PyAny>> {
    match outcome {
        Ok(()) => Ok(shown),
        Err(error) => {
            error.value(py).setattr(attribute, shown)?;
            Err(error)
        }
    }
}

/// Figures of the memory of a program's values, with their names.
pub fn memory_figures(memory: &Memory) -> [(&'static str, u64); 5] {
    let stats = memory.stats();
    [
        ("live_bytes", stats.live_bytes),
        ("peak_bytes", stats.peak_bytes),
        ("held_bytes", stats.held_bytes),
        ("allocations", stats.allocations),
        ("copied_bytes", stats.copied_bytes.iter().sum()),
    ]
}

/// One operator in the calls of all sessions.
#[derive(Default)]
struct Operator {
    executions: u64,
    elements: u64,
    launches: u64,
    launch_nanos: u64,
    tier: String,
    reason: String,
}

/// What the calls of sessions did so far.
pub fn stats<'py>(
    py: Python<'py>,
    engine: &Engine,
    memory: &Memory,
    sessions: &[Box<Session>],
) -> PyResult<Bound<'py, PyAny>> {
    let mut operators: BTreeMap<_, (String, &'static str, Operator)> = BTreeMap::new();
    for report in
        sessions.iter().flat_map(|session| session.sites()).filter(|report| report.profile.executions > 0)
    {
        let profile = &report.profile;
        let new = || (report.name.place.to_string(), report.name.operator, Operator::default());
        let (_, _, operator) = operators.entry((report.name.site, report.group)).or_insert_with(new);
        operator.executions += profile.executions;
        operator.elements += profile.elements;
        operator.launches += profile.launches;
        operator.launch_nanos += profile.launch_nanos;
        operator.tier = profile.tier.to_string();
        operator.reason.clone_from(&profile.reason);
    }
    let operator = |(place, what, operator): (String, &str, Operator)| {
        json!({
            "place": place,
            "what": what,
            "executions": operator.executions,
            "elements": operator.elements,
            "launches": operator.launches,
            "seconds": operator.launch_nanos as f64 / 1e9,
            "last": operator.tier,
            "because": operator.reason,
        })
    };
    let kernels = engine.kernel_figures();
    let facts = json!({
        "memory": memory_figures(memory).into_iter().collect::<BTreeMap<_, _>>(),
        "kernels": {
            "compiled": kernels.compiled,
            "shared": kernels.shared,
            "given_up": kernels.given_up,
        },
        "operators": operators.into_values().map(operator).collect::<Vec<_>>(),
    });
    let text = format!("{}\n{kernels}", memory.stats());
    py.import("galopvm.told")?.getattr("Stats")?.call1((text, facts.to_string()))
}
