//! What expressions are: their types, the programs that give their values, the values.

use super::display::value_text;
use super::{Repl, breakpoint, explained, print, reading, scope};
use crate::failure::{complaint, rendered, say};
use crate::stats::Phases;
use galopvm::{Error, ErrorKind, Program, Session, Value};
use galopvm_base::{Sources, Span};
use galopvm_bytecode::Form;
use galopvm_frontend::{EXPRESSION_ENTRY, Question, compile_expression};
use galopvm_profile::shown;
use std::io;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Most bytes of a value that `it` stands for as such.
const VALUE_KEPT: usize = 4096;

/// Time for the evaluations of `:bench`, and the fewest of them.
const BENCH: (Duration, u32) = (Duration::from_secs(1), 5);

/// What the files are called that definitions are compiled from before messages name their pieces.
pub const DEFINITIONS: &str = "definitions";

/// What is told of an evaluation beside its value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Telling {
    Nothing,
    Time,
    Bench,
    Stats,
}

/// An expression: what was typed, and what is compiled for it.
#[derive(Clone, Copy)]
pub struct Expression<'a> {
    typed: &'a str,
    text: &'a str,
}

impl<'a> Expression<'a> {
    /// What was typed as it is.
    pub fn typed(text: &'a str) -> Expression<'a> {
        Expression { typed: text, text }
    }

    /// Text made of what was typed; messages about it point to that.
    pub fn made(typed: &'a str, text: &'a str) -> Expression<'a> {
        Expression { typed, text }
    }

    fn is_made(&self) -> bool {
        self.typed != self.text
    }
}

/// What an expression was compiled to.
pub struct Evaluation {
    /// Its type.
    pub ty: String,
    /// What gives its value; nothing if the type alone was asked for, or it is a function.
    pub program: Option<Program>,
    /// Of what values of the machine its value is made; nothing if they are its components one by one.
    pub form: Option<Form>,
}

/// The value of an expression.
pub struct Evaluated {
    /// Its type.
    pub ty: String,
    /// Of what its values are made.
    pub form: Form,
    /// The values of the machine.
    pub values: Vec<Value>,
}

impl Repl {
    /// Says what is wrong with an expression, if something is; else its type, and the program that `evaluate` asks for.
    pub(super) fn compile(&self, expression: Expression<'_>, evaluate: bool) -> Option<Evaluation> {
        let name = format!("[{}]", self.number);
        let mut sources = Sources::new();
        let definitions = sources.add(DEFINITIONS, self.scope.text());
        let file = sources.add(&name, expression.text);
        let question = match (evaluate, self.watches_nan && !self.goes_through) {
            (false, _) => Question::Type,
            (true, false) => Question::Value,
            (true, true) => Question::ValueAndNan,
        };
        let report = compile_expression(&mut sources, Some(definitions), file, question);
        // Warnings about definitions were given when they were made, those about text that nobody typed help nobody.
        let mut diagnostics = report.diagnostics;
        diagnostics.retain(|d| d.is_error() || (d.span.file != definitions && !expression.is_made()));
        if expression.is_made() {
            let typed = sources.add(&name, expression.typed);
            for diagnostic in &mut diagnostics {
                diagnostic.labels.retain(|label| label.span.file != file);
                if diagnostic.span.file == file {
                    diagnostic.span = Span::new(typed, 0, expression.typed.len());
                }
            }
        }
        let is_wrong = diagnostics.iter().any(|d| d.is_error());
        if !diagnostics.is_empty() {
            say(&rendered(&self.scope.relocate(definitions, &sources, diagnostics)));
        }
        if is_wrong {
            return None;
        }
        let program = match report.module {
            Some(mut module) => {
                self.scope.relocate_places(DEFINITIONS, &mut module);
                if expression.is_made() {
                    scope::point_to_line(&name, expression.typed, &mut module);
                }
                Some(Program::from_module(&name, module).map_err(|error| say(&explained(error))).ok()?)
            }
            None => None,
        };
        Some(Evaluation { ty: report.ty?, program, form: report.form })
    }

    /// Calls the program of an expression. Ctrl-C ends the call, and what it is a part of.
    pub(super) fn call(&mut self, session: &mut Session) -> Result<Vec<Value>, Error> {
        let memory = session.memory().clone();
        let before = self.interrupts.running(Some(session.interrupt_flag()));
        let (module, progress) = (session.module().clone(), self.progress.clone());
        let stops = !self.goes_through && breakpoint::are_in(session);
        let outcome = progress.during(&memory, module.module(), || match stops {
            true => self.call_with_stops(session),
            false => session.call_values(EXPRESSION_ENTRY, Vec::new()),
        });
        if let (Err(Error::Run(error)), Some(whole)) = (&outcome, &before)
            && error.kind == ErrorKind::Interrupted
        {
            whole.store(true, Ordering::Relaxed);
        }
        self.interrupts.running(before);
        outcome
    }

    /// The program of an expression; says why there is none.
    pub(super) fn program(&self, expression: Expression<'_>) -> Option<(Program, Evaluation)> {
        let mut evaluation = self.compile(expression, true)?;
        let Some(program) = evaluation.program.take() else {
            let message = format!("`{}` is a function: {}", expression.typed, evaluation.ty);
            say(&complaint(&message, "give it its arguments"));
            return None;
        };
        Some((program, evaluation))
    }

    /// The value of an expression; says why there is none.
    pub(super) fn value(&mut self, expression: Expression<'_>) -> Option<Evaluated> {
        let (program, evaluation) = self.program(expression)?;
        self.evaluated(Evaluation { program: Some(program), ..evaluation })
    }

    /// The value of what has been compiled; says why there is none.
    pub(super) fn evaluated(&mut self, evaluation: Evaluation) -> Option<Evaluated> {
        let Evaluation { ty, program, form } = evaluation;
        let program = program?;
        let mut session = self.engine.session_in(&program, self.memory.clone());
        match self.call(&mut session) {
            Ok(values) => Some(Evaluated { ty, form: form.unwrap_or_else(|| components(&values)), values }),
            Err(error) => {
                say(&explained(error));
                None
            }
        }
    }

    /// Evaluates an expression, and shows its value.
    pub(super) fn evaluate(&mut self, text: &str, telling: Telling) -> io::Result<()> {
        let start = Instant::now();
        let Some(evaluation) = self.compile(Expression::typed(text), true) else { return Ok(()) };
        let Some(program) = evaluation.program else {
            // A function, which has a type but no printable value.
            return print(&format!("{text} : {}", evaluation.ty));
        };
        let compiled = start.elapsed();
        self.count_memory();
        let mut phases = Phases::start();
        let mut session = self.engine.session_in(&program, self.memory.clone());
        let (mut count, mut ran, mut least) = (0, Duration::ZERO, Duration::MAX);
        let began = Instant::now();
        let goes_through = self.goes_through;
        self.goes_through |= telling == Telling::Bench;
        let outcome = loop {
            let start = Instant::now();
            let outcome = self.call(&mut session);
            let took = start.elapsed();
            (count, ran, least) = (count + 1, ran + took, least.min(took));
            let enough = count >= BENCH.1 && began.elapsed() >= BENCH.0;
            if telling != Telling::Bench || outcome.is_err() || enough {
                break outcome;
            }
        };
        self.goes_through = goes_through;
        phases.end("run");
        let values = match outcome {
            Ok(values) => values,
            Err(error) => {
                say(&explained(error));
                return Ok(());
            }
        };
        let form = evaluation.form.unwrap_or_else(|| components(&values));
        print(&value_text(&form, &values))?;
        // As a value, where that is short: it is not evaluated again then, and stops nowhere.
        let value = reading::expression(&form, &values).filter(|value| value.len() <= VALUE_KEPT);
        self.it = value.into_iter().chain([text.into()]).collect();
        match telling {
            Telling::Nothing => Ok(()),
            Telling::Time => print(&format!(
                "compiled in {}, evaluated in {}, with at most {} of values",
                shown(compiled),
                shown(ran),
                self.counted_memory()
            )),
            Telling::Bench => print(&format!(
                "{count} evaluations: {} in the mean, {} at least",
                shown(ran / count),
                shown(least)
            )),
            Telling::Stats => {
                phases.report(&session);
                Ok(())
            }
        }
    }
}

/// The form of values that are shown one by one.
fn components(values: &[Value]) -> Form {
    Form::Tuple((0..values.len() as u32).map(Form::Value).collect())
}
