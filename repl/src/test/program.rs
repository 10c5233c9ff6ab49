//! One program: is it refused or accepted as it says, and do its cases come out as it says?

use super::limited::within;
use super::{Plan, difference, property};
use crate::failure::{message, text};
use crate::spec::{Case, Data, Expected, Spec, matches, parse};
use crate::tuning;
use galopvm::{Engine, Error, ErrorKind, Imports, Memory, Program, Session, Value};
use galopvm_base::{Sources, system_message};
use std::path::Path;
use std::time::Instant;

/// What a verdict is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The program as a whole, which was left out.
    Program,
    /// The program is accepted.
    Check,
    /// The program is refused.
    Reject,
    /// A call gives a result.
    Run,
    /// A call fails.
    Error,
    /// An entry point is true of all that it was given.
    Property,
    /// Which operators a compiler makes; not looked at.
    Structure,
}

impl Kind {
    /// The word in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Program => "program",
            Kind::Check => "check",
            Kind::Reject => "reject",
            Kind::Run => "run",
            Kind::Error => "error",
            Kind::Property => "property",
            Kind::Structure => "structure",
        }
    }
}

/// How something came out.
#[derive(PartialEq, Debug)]
pub enum Ended {
    /// As expected.
    Passed,
    /// Otherwise, for this reason.
    Failed(String),
    /// Not tried, for this reason.
    Skipped(String),
}

impl From<Result<(), String>> for Ended {
    fn from(outcome: Result<(), String>) -> Ended {
        outcome.map_or_else(Ended::Failed, |()| Ended::Passed)
    }
}

/// The outcome of one test.
pub struct Verdict {
    /// What it is about.
    pub kind: Kind,
    /// The case; empty for the program.
    pub case: String,
    /// What people read above the reason of a failure.
    pub context: String,
    /// How it came out.
    pub ended: Ended,
    /// How long that took.
    pub seconds: f64,
}

/// Tests a program.
pub fn test(plan: &Plan, path: &Path) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    // A mistake of galopvm is a failed test; the others go on.
    let tested = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        Tested { plan, path, verdicts: &mut verdicts }.whole();
    }));
    if tested.is_err() {
        let ended = Ended::Failed("A mistake of galopvm: see standard error, and please report it.".into());
        verdicts.push(Verdict {
            kind: Kind::Check,
            case: String::new(),
            context: String::new(),
            ended,
            seconds: 0.0,
        });
    }
    verdicts
}

/// A program under test.
struct Tested<'t> {
    plan: &'t Plan,
    path: &'t Path,
    verdicts: &'t mut Vec<Verdict>,
}

impl Tested<'_> {
    fn add(&mut self, kind: Kind, case: &str, context: String, start: Instant, ended: impl Into<Ended>) {
        let seconds = start.elapsed().as_secs_f64();
        self.verdicts.push(Verdict { kind, case: case.into(), context, ended: ended.into(), seconds });
    }

    fn whole(&mut self) {
        let start = Instant::now();
        let wrong = |message: String| Ended::Failed(message);
        let source = std::fs::read(self.path).map_err(|error| system_message(&error));
        let name = self.path.display().to_string();
        let source = match source {
            Ok(bytes) => galopvm::program::source_text(&name, &bytes)
                .map(str::to_string)
                .map_err(|error| error.to_string()),
            Err(error) => Err(error),
        };
        let spec = source
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|text| parse(text).map_err(|wrong| format!("Test block, {wrong}")));
        match (source, spec) {
            (Ok(source), Ok(spec)) => self.specified(&source, &spec),
            (Err(message), _) | (_, Err(message)) => {
                self.add(Kind::Check, "", String::new(), start, wrong(message));
            }
        }
    }

    fn specified(&mut self, source: &str, spec: &Spec) {
        let start = Instant::now();
        if self.plan.excludes(&spec.tags) {
            let ended = Ended::Skipped(format!("excluded by tag: {}", spec.tags.join(" ")));
            return self.add(Kind::Program, "", String::new(), start, ended);
        }
        let name = self.path.display().to_string();
        let compiling = self.plan.args.settings.compiling();
        if let Some(expected) = &spec.error {
            let ended = match self.checked(&name, source) {
                Ok((true, _)) => Err("Expected failure, but the program is accepted.".into()),
                Ok((false, messages)) => expect_message(expected, &messages),
                Err(late) => Err(late),
            };
            return self.add(Kind::Reject, "", format!("Checking {name}"), start, ended);
        }
        let (named, text) = (name.clone(), source.to_string());
        let program = within(self.plan.time, move || Program::from_source_with(&named, &text, compiling));
        let program = match program.and_then(|compiled| compiled.map_err(|error| error.to_string())) {
            Ok(program) => program,
            Err(message) => {
                self.add(Kind::Check, "", format!("Checking {name}"), start, Err(message));
                for case in &spec.cases {
                    let ended = Ended::Failed("Not run: the program is not accepted.".into());
                    self.add(kind_of(case), &case_name(case), context_of(case), Instant::now(), ended);
                }
                return;
            }
        };
        let wanted = &spec.warnings;
        let warnings =
            if wanted.is_empty() { Ok((true, String::new())) } else { self.checked(&name, source) };
        let ended = warnings
            .and_then(|(_, found)| wanted.iter().try_for_each(|warning| expect_message(warning, &found)));
        self.add(Kind::Check, "", format!("Warnings of {name}"), start, ended);
        if !self.plan.args.check_only && !self.plan.args.compile_only {
            self.cases(&program, source, spec);
        }
    }

    /// Whether a program is accepted, and the messages about it, warnings included.
    fn checked(&self, name: &str, source: &str) -> Result<(bool, String), String> {
        let imports = self.plan.args.settings.compiling().imports;
        let (name, source) = (name.to_string(), source.to_string());
        within(self.plan.time, move || checked(&name, &source, imports))
    }

    fn cases(&mut self, program: &Program, source: &str, spec: &Spec) {
        let mut running = Running::new(self.plan, self.path, program);
        for case in &spec.cases {
            let start = Instant::now();
            let of_other = |name: &String| *name != case.entry;
            let ended = if self.plan.args.entry.as_ref().is_some_and(of_other) {
                continue;
            } else if self.plan.excludes(&case.tags)
                || self.plan.args.interpreted && case.tags.iter().any(|tag| tag == "compiled")
            {
                Ended::Skipped(format!("excluded by tag: {}", case.tags.join(" ")))
            } else {
                running.case(case).into()
            };
            self.add(kind_of(case), &case_name(case), context_of(case), start, ended);
        }
        let properties = property::Properties::of(source, &spec.properties, self.plan.args.seed);
        for name in &spec.properties {
            let start = Instant::now();
            let ended = running.session().and_then(|session| properties.test(session, program, name));
            self.add(Kind::Property, name, String::new(), start, ended);
        }
        for _ in 0..spec.structures {
            let ended = Ended::Skipped("lists of operators are those of another compiler".into());
            self.add(Kind::Structure, "", String::new(), Instant::now(), ended);
        }
    }
}

/// Whether a program is accepted, and the messages about it, warnings included.
fn checked(name: &str, source: &str, imports: Imports) -> (bool, String) {
    let mut sources = Sources::new();
    let file = sources.add(name, source);
    let report = galopvm_frontend::check_with(&mut sources, file, imports);
    let accepted = !report.diagnostics.iter().any(|message| message.is_error());
    let messages = report.diagnostics.iter().chain(&report.warnings);
    (accepted, messages.map(|message| message.render(&sources, false)).collect::<Vec<_>>().join("\n"))
}

fn kind_of(case: &Case) -> Kind {
    if matches!(case.expected, Expected::Error(_)) { Kind::Error } else { Kind::Run }
}

fn case_name(case: &Case) -> String {
    format!("{}:{}", case.entry, case.description)
}

fn context_of(case: &Case) -> String {
    format!("Entry point: {}; dataset: {}", case.entry, case.description)
}

fn expect_message(expected: &str, found: &str) -> Result<(), String> {
    if matches(expected, found) {
        return Ok(());
    }
    let found: String = found.lines().map(|line| format!("  {line}\n")).collect();
    Err(format!("Expected message:\n  {expected}\nGot:\n{found}"))
}

/// The sessions that cases of one program run in.
struct Running<'r> {
    plan: &'r Plan,
    path: &'r Path,
    program: &'r Program,
    session: Option<Session>,
    reference: Option<Session>,
}

impl<'r> Running<'r> {
    fn new(plan: &'r Plan, path: &'r Path, program: &'r Program) -> Running<'r> {
        Running { plan, path, program, session: None, reference: None }
    }

    fn open(&self, engine: &Engine) -> Result<Session, String> {
        let mut session = engine.session(self.program);
        let tuning = tuning::beside(self.path, &self.plan.args.tuning).filter(|_| !self.plan.args.no_tuning);
        if let Some(path) = tuning {
            tuning::apply_file(&mut session, &path, false).map_err(text)?;
        }
        Ok(session)
    }

    fn session(&mut self) -> Result<&mut Session, String> {
        if self.session.is_none() {
            self.session = Some(self.open(&self.plan.engine)?);
        }
        self.session.as_mut().ok_or_else(String::new)
    }

    fn case(&mut self, case: &Case) -> Result<(), String> {
        let data = Data { program: self.path };
        let dataset = data.arguments(self.session()?, case)?;
        let memory: Memory = self.session()?.memory().clone();
        let mut expected = data.expected(&memory, case)?;
        if case.expected == Expected::Auto && expected.is_none() {
            expected = self.trusted(case, dataset.values.clone());
        }
        let outcome = self.session()?.call_values(&case.entry, dataset.values);
        if let Err(Error::Internal(_)) = outcome {
            self.session = None;
        }
        match (&case.expected, outcome) {
            (Expected::Error(regex), Ok(_)) => {
                Err(format!("Program succeeded, but expected failure:\n  {regex}"))
            }
            (Expected::Error(regex), Err(error)) if may_be_expected(&error) => {
                expect_message(regex, &message(&error))
            }
            (_, Err(error)) => Err(format!("Function failed with error:\n{}", message(&error))),
            (_, Ok(found)) => expected.map_or(Ok(()), |expected| difference::compare(&found, &expected)),
        }
    }

    /// What the interpreter makes of the arguments, where that can be told within the limits.
    fn trusted(&mut self, case: &Case, values: Vec<Value>) -> Option<Vec<Value>> {
        if self.reference.is_none() {
            self.reference = self.open(self.plan.reference.as_ref()?).ok();
        }
        self.reference.as_mut()?.call_values(&case.entry, values).ok()
    }
}

/// Whether an error is one that programs can be written to have.
fn may_be_expected(error: &Error) -> bool {
    match error {
        Error::Run(error) => {
            !matches!(error.kind, ErrorKind::Timeout | ErrorKind::Interrupted | ErrorKind::Defect)
        }
        Error::Internal(_) => false,
        _ => true,
    }
}
