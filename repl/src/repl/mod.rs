//! `galopvm repl`: definitions and expressions at a prompt.
//!
//! - `commands.rs`: the table of commands. `lines.rs`: where lines come from. `completion.rs`: what the Tab key completes.
//!   `history.rs`: where lines are kept. `scope.rs`: what has been defined.
//!
//! No input ends the session but `:quit` and the end of the input.

mod commands;
mod completion;
pub mod history;
mod lines;
mod scope;

use crate::failure::{Outcome, complaint, rendered, say};
use crate::interrupt::Interrupts;
use crate::settings::Settings;
use crate::stats::{Phases, shown};
use commands::{Argument, Command};
use galopvm::{Engine, Error, Memory, Program, Shown, Value, data};
use galopvm_base::{Sources, system_message};
use galopvm_bytecode::{Form, Module};
use galopvm_frontend::{EXPRESSION_ENTRY, compile_expression};
use lines::{Line, Lines};
use scope::{Kind, Scope};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

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

/// Time for the evaluations of `:bench`, and the fewest of them.
const BENCH: (Duration, usize) = (Duration::from_secs(1), 5);

/// Carries out the command.
pub fn run(args: Args) -> Outcome {
    let (lines, note) = Lines::standard_input();
    let mut repl = Repl {
        engine: args.settings.builder().shows(Arc::new(show)).build(),
        memory: Memory::default(),
        scope: Scope::default(),
        before: Vec::new(),
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
    /// What was defined before, for each time that this changed.
    before: Vec<Scope>,
    loaded: Option<PathBuf>,
    /// The number in the prompt.
    number: usize,
    lines: Lines,
    interrupts: Interrupts,
}

/// What is told of an evaluation beside its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Telling {
    Nothing,
    Time,
    Bench,
    Stats,
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
                None => match commands::habit(text) {
                    Some(command) if !self.knows(text) => {
                        if !self.command(&command)? {
                            break;
                        }
                    }
                    _ => self.input_of_language(text)?,
                },
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

    /// Whether a word is defined, so that it means itself.
    fn knows(&self, word: &str) -> bool {
        scope::names(&self.scope.text()).iter().any(|name| name == word)
    }

    fn input_of_language(&mut self, text: &str) -> io::Result<()> {
        match scope::kind(text) {
            Kind::Declarations => {
                self.define(text);
                Ok(())
            }
            Kind::Expression | Kind::Incomplete => self.evaluate(text, Telling::Nothing),
        }
    }

    /// Carries out a command; false if it is the last one.
    fn command(&mut self, command: &str) -> io::Result<bool> {
        let (word, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        let rest = rest.trim();
        let Some(row) = commands::find(word) else {
            say(&complaint(&format!("there is no command `:{word}`"), ":help lists the commands"));
            return Ok(true);
        };
        let name = row.name;
        match (row.argument, row.command) {
            (Argument::Expression, _) if rest.is_empty() => {
                say(&complaint(&format!(":{name} wants an expression"), &format!(":{name} iota 10")));
                return Ok(true);
            }
            (Argument::File, Command::Load) => {}
            (Argument::File, _) if rest.is_empty() => {
                say(&complaint(&format!(":{name} wants the name of a file or folder"), ":help explains"));
                return Ok(true);
            }
            _ => {}
        }
        match row.command {
            Command::Quit => return Ok(false),
            Command::Help => print(&commands::help())?,
            Command::Type => {
                if let Some(evaluation) = self.compile(rest, false) {
                    print(&format!("{rest} : {}", evaluation.ty))?;
                }
            }
            Command::Time => self.evaluate(rest, Telling::Time)?,
            Command::Bench => self.evaluate(rest, Telling::Bench)?,
            Command::Stats => self.evaluate(rest, Telling::Stats)?,
            Command::Load if !rest.is_empty() => self.load(Path::new(rest)),
            Command::Load | Command::Reload => match self.loaded.clone() {
                Some(path) => self.load(&path),
                None => say(&complaint("no file has been loaded yet", ":load FILE")),
            },
            Command::Save => self.save(Path::new(rest)),
            Command::Defs => self.definitions()?,
            Command::Undo => match self.before.pop() {
                Some(scope) => self.become_scope(scope),
                None => say(&complaint("there is nothing to take back", "")),
            },
            Command::Cd => {
                if let Err(error) = std::env::set_current_dir(rest) {
                    say(&complaint(&format!("{rest}: {}", system_message(&error)), ""));
                }
            }
            Command::Pwd => match std::env::current_dir() {
                Ok(folder) => print(&folder.display().to_string())?,
                Err(error) => say(&complaint(&system_message(&error), "")),
            },
        }
        Ok(true)
    }

    /// Definitions that take the place of those that there are.
    fn replace_scope(&mut self, scope: Scope) {
        self.before.push(self.scope.clone());
        self.become_scope(scope);
    }

    fn become_scope(&mut self, scope: Scope) {
        self.lines.define(&scope.text());
        self.scope = scope;
    }

    /// Writes the definitions to a file that is not there yet.
    fn save(&self, path: &Path) {
        let written =
            std::fs::File::create_new(path).and_then(|mut file| file.write_all(self.scope.text().as_bytes()));
        if let Err(error) = written {
            say(&complaint(&format!("{}: {}", path.display(), system_message(&error)), ""));
        }
    }

    fn define(&mut self, text: &str) {
        let mut scope = self.scope.clone();
        scope.add(&format!("[{}]", self.number), text);
        if check(&scope) {
            self.replace_scope(scope);
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
                    self.replace_scope(scope);
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

    fn evaluate(&mut self, text: &str, telling: Telling) -> io::Result<()> {
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
        let mut phases = Phases::start();
        let mut session = self.engine.session_in(&program, self.memory.clone());
        self.interrupts.running(Some(session.interrupt_flag()));
        let mut times = Vec::new();
        let outcome = loop {
            let start = Instant::now();
            let outcome = session.call_values(EXPRESSION_ENTRY, Vec::new());
            times.push(start.elapsed());
            let enough = times.len() >= BENCH.1 && times.iter().sum::<Duration>() >= BENCH.0;
            if telling != Telling::Bench || outcome.is_err() || enough {
                break outcome;
            }
        };
        self.interrupts.running(None);
        phases.end("run");
        match outcome {
            Ok(values) => {
                print(&value_text(evaluation.form.as_ref(), &values))?;
                let ran: Duration = times.iter().sum();
                match telling {
                    Telling::Nothing => {}
                    Telling::Time => {
                        print(&format!("compiled in {}, evaluated in {}", shown(compiled), shown(ran)))?
                    }
                    Telling::Bench => print(&format!(
                        "{} evaluations: {} in the mean, {} at least",
                        times.len(),
                        shown(ran / times.len() as u32),
                        shown(times.iter().min().copied().unwrap_or_default())
                    ))?,
                    Telling::Stats => phases.report(&session),
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
