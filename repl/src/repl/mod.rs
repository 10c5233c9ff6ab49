//! `galopvm repl`: definitions and expressions at a prompt.
//!
//! - `lines.rs`: where lines come from. `history.rs`: where they are kept. `scope.rs`: what has been defined.
//!
//! No input ends the session but `:quit` and the end of the input.

pub mod history;
mod lines;
mod scope;

use crate::failure::{Outcome, complaint, rendered, say};
use crate::interrupt::Interrupts;
use crate::settings::Settings;
use crate::stats::shown;
use galopvm::{Engine, Error, Memory, Program, Shown, Value, data};
use galopvm_base::Sources;
use galopvm_bytecode::{Form, Module};
use galopvm_frontend::{EXPRESSION_ENTRY, compile_expression};
use lines::{Line, Lines};
use scope::{Kind, Scope};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Most bytes of a value that are shown.
const VALUE_SHOWN: usize = 4096;

/// Explore at a prompt: definitions and expressions, evaluated at once
///
/// Definitions are kept; expressions are evaluated and printed. Input goes on over several lines until it is complete;
/// an empty line ends it early. The history is kept between sessions. Works with piped input, too.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A file of definitions to begin with
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
}

const EXAMPLES: &str = "\
Examples:
  galopvm repl
  galopvm repl stats.fut --backend x86
  echo 'reduce (+) 0 (iota 10)' | galopvm repl

At the prompt, :help lists the commands.";

const HELP: &str = "\
Type definitions (`def f (x: i32) = x + 1`) and expressions (`map f [1, 2, 3]`).
  :type EXPRESSION   the type of an expression, without evaluating it
  :time EXPRESSION   evaluate, and say how long it took
  :load [FILE]       forget all definitions and load a file (without FILE: the last one again)
  :defs              what is defined, with types
  :help              this text
  :quit              leave (as does Ctrl-D); Ctrl-C ends an evaluation
Commands may be shortened (:t, :l, :q). An empty line ends an incomplete input.";

/// The commands, in the order in which abbreviations look for them.
const COMMANDS: [&str; 6] = ["type", "time", "load", "defs", "help", "quit"];

/// Carries out the command.
pub fn run(args: Args) -> Outcome {
    let (lines, note) = Lines::standard_input();
    let mut repl = Repl {
        engine: args.settings.builder().shows(Arc::new(show)).build(),
        memory: Memory::default(),
        scope: Scope::default(),
        loaded: None,
        number: 0,
        // Without a terminal nobody presses keys, and the signal ends galopvm as any other program.
        interrupts: if lines.is_terminal() { Interrupts::listen() } else { Interrupts::default() },
        lines,
    };
    if repl.lines.is_terminal() {
        let version = env!("CARGO_PKG_VERSION");
        say(&format!("galopvm {version}. Type an expression, or :help."));
    }
    if let Some(note) = note {
        say(&format!("note: {note}"));
    }
    for note in repl.engine.notes() {
        say(&format!("note: {note}; the interpreter does the work"));
    }
    if let Some(file) = &args.file {
        repl.load(file);
    }
    repl.run()
}

struct Repl {
    engine: Engine,
    memory: Memory,
    scope: Scope,
    loaded: Option<PathBuf>,
    /// The number in the prompt.
    number: usize,
    lines: Lines,
    interrupts: Interrupts,
}

/// What an expression was compiled to.
struct Evaluation {
    ty: String,
    module: Option<Module>,
    form: Option<Form>,
}

impl Repl {
    fn run(&mut self) -> Outcome {
        while let Some(input) = self.input()? {
            let text = input.trim();
            if text.is_empty() || text.lines().all(|line| line.trim_start().starts_with("--")) {
                continue;
            }
            self.lines.remember(text);
            match text.strip_prefix(':') {
                Some(command) => {
                    if !self.command(command)? {
                        break;
                    }
                }
                None => self.input_of_language(text)?,
            }
            self.number += 1;
        }
        if self.lines.is_terminal() {
            say("Leaving galopvm.");
        }
        Ok(())
    }

    /// A complete input, possibly of several lines; nothing at the end.
    fn input(&mut self) -> io::Result<Option<String>> {
        let prompt = format!("[{}]> ", self.number);
        let more = format!("{:>1$} ", "|", prompt.len() - 1);
        let mut text = String::new();
        loop {
            match self.lines.next(if text.is_empty() { &prompt } else { &more })? {
                Line::End if text.is_empty() => return Ok(None),
                Line::End => return Ok(Some(text)),
                Line::Cancelled => text.clear(),
                Line::Text(line) if text.is_empty() && line.trim().is_empty() => {}
                Line::Text(line) => {
                    let ends = line.trim().is_empty();
                    if !text.is_empty() {
                        text.push('\n');
                    }
                    text.push_str(&line);
                    let is_command = text.trim_start().starts_with(':');
                    if ends || is_command || !matches!(scope::kind(&text), Kind::Incomplete) {
                        return Ok(Some(text));
                    }
                }
            }
        }
    }

    fn input_of_language(&mut self, text: &str) -> io::Result<()> {
        match scope::kind(text) {
            Kind::Declarations => {
                self.define(text);
                Ok(())
            }
            Kind::Expression | Kind::Incomplete => self.evaluate(text, false),
        }
    }

    /// Carries out a command; false if it is the last one.
    fn command(&mut self, command: &str) -> io::Result<bool> {
        let (word, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        let rest = rest.trim();
        let found = COMMANDS.iter().copied().find(|c| !word.is_empty() && c.starts_with(word));
        match found {
            Some("quit") => return Ok(false),
            Some("help") => print(HELP)?,
            Some("type") if !rest.is_empty() => {
                if let Some(evaluation) = self.compile(rest, false) {
                    print(&format!("{rest} : {}", evaluation.ty))?;
                }
            }
            Some("time") if !rest.is_empty() => self.evaluate(rest, true)?,
            Some(name @ ("type" | "time")) => {
                say(&complaint(&format!(":{name} wants an expression"), &format!(":{name} iota 10")));
            }
            Some("load") if !rest.is_empty() => self.load(Path::new(rest)),
            Some("load") => match self.loaded.clone() {
                Some(path) => self.load(&path),
                None => say(&complaint("no file has been loaded yet", ":load FILE")),
            },
            Some("defs") => self.definitions()?,
            _ => say(&complaint(&format!("there is no command `:{word}`"), ":help lists the commands")),
        }
        Ok(true)
    }

    fn define(&mut self, text: &str) {
        let mut scope = self.scope.clone();
        scope.add(&format!("[{}]", self.number), text);
        if check(&scope) {
            self.scope = scope;
        }
    }

    fn load(&mut self, path: &Path) {
        self.loaded = Some(path.to_path_buf());
        let name = path.display().to_string();
        let text = galopvm::program::read(path)
            .and_then(|bytes| Ok(galopvm::program::source_text(&name, &bytes)?.to_string()));
        match text {
            Ok(text) => {
                let mut scope = Scope::default();
                scope.add(&name, &text);
                if check(&scope) {
                    self.scope = scope;
                }
            }
            Err(error) => say(&explained(error)),
        }
    }

    fn definitions(&mut self) -> io::Result<()> {
        let mut sources = Sources::new();
        let file = sources.add("definitions", self.scope.text());
        let report = galopvm_frontend::check(&mut sources, file);
        for (name, ty) in report.definitions {
            print(&format!("{name} : {ty}"))?;
        }
        Ok(())
    }

    fn compile(&self, text: &str, evaluate: bool) -> Option<Evaluation> {
        let mut sources = Sources::new();
        let scope = sources.add("definitions", self.scope.text());
        let expression = sources.add(format!("[{}]", self.number), text);
        let report = compile_expression(&mut sources, Some(scope), expression, evaluate);
        // Warnings about definitions were given when they were made.
        let mut diagnostics = report.diagnostics;
        diagnostics.retain(|d| d.is_error() || d.span.file != scope);
        if !diagnostics.is_empty() {
            say(&rendered(&self.scope.relocate(scope, &sources, diagnostics)));
        }
        Some(Evaluation { ty: report.ty?, module: report.module, form: report.form })
    }

    fn evaluate(&mut self, text: &str, timed: bool) -> io::Result<()> {
        let start = Instant::now();
        let Some(evaluation) = self.compile(text, true) else { return Ok(()) };
        let Some(module) = evaluation.module else {
            // A function, which has a type but no printable value; or an error, which has been shown.
            return print(&format!("{text} : {}", evaluation.ty));
        };
        let program = match Program::from_module(&format!("[{}]", self.number), module) {
            Ok(program) => program,
            Err(error) => {
                say(&explained(error));
                return Ok(());
            }
        };
        let compiled = start.elapsed();
        let mut session = self.engine.session_in(&program, self.memory.clone());
        self.interrupts.running(Some(session.interrupt_flag()));
        let start = Instant::now();
        let outcome = session.call_values(EXPRESSION_ENTRY, Vec::new());
        self.interrupts.running(None);
        match outcome {
            Ok(values) => {
                let ran = start.elapsed();
                print(&value_text(evaluation.form.as_ref(), &values))?;
                if timed {
                    print(&format!("compiled in {}, evaluated in {}", shown(compiled), shown(ran)))?;
                }
            }
            Err(error) => say(&explained(error)),
        }
        Ok(())
    }
}

/// Checks all definitions and says what is wrong with them.
fn check(scope: &Scope) -> bool {
    let mut sources = Sources::new();
    let file = sources.add("definitions", scope.text());
    let report = galopvm_frontend::check(&mut sources, file);
    let messages = scope.relocate(file, &sources, report.diagnostics);
    if !messages.diagnostics().is_empty() {
        say(&rendered(&messages));
    }
    messages.errors() == 0
}

/// The text of an error, in the form that all commands use.
fn explained(error: Error) -> String {
    match error {
        Error::Compile(messages) => rendered(&messages),
        Error::Load { name, message, hint } => complaint(&format!("{name}: {message}"), &hint),
        Error::Run(error) => format!("Error: {error}"),
        Error::Type(message) => complaint(&message, ""),
        error @ Error::Internal(_) => complaint(&error.to_string(), ""),
    }
}

/// A value as the prompt shows it, cut off where it gets too long.
fn value_text(form: Option<&Form>, values: &[Value]) -> String {
    let parts = Form::Tuple((0..values.len() as u32).map(Form::Value).collect());
    limited(values, &mut |out| data::write_form(out, form.unwrap_or(&parts), values, data::Style::Program))
}

/// What a program shows while it runs. Nobody stops it, but it is said that it would.
fn show(shown: &Shown<'_>) {
    let text = limited(&[], &mut |out| shown.write_value(out));
    say(&format!("{}{}: {text}", if shown.stops { "Breakpoint at " } else { "" }, shown.label));
}

/// What is written, cut off where it gets too long.
fn limited(values: &[Value], write: &mut dyn FnMut(&mut Limited) -> io::Result<()>) -> String {
    let mut out = Limited { text: Vec::new(), left: VALUE_SHOWN };
    let whole = write(&mut out).is_ok();
    let mut text = String::from_utf8_lossy(&out.text).into_owned();
    if !whole {
        let elements = values.iter().filter_map(Value::as_array).map(|array| array.elements()).max();
        text.push_str(&elements.map_or(" ..".into(), |n| format!(" .. ({n} elements)")));
    }
    text
}

/// Takes some bytes, then no more.
struct Limited {
    text: Vec<u8>,
    left: usize,
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.left);
        self.left -= taken;
        self.text.extend_from_slice(&bytes[..taken]);
        if taken < bytes.len() { Err(io::Error::other("long enough")) } else { Ok(taken) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}
