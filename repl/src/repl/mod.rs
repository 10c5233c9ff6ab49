//! `galopvm repl`: definitions and expressions at a prompt.
//!
//! - `commands.rs`: the table of commands. `lines/`: where lines come from. `completion/`: what the Tab key completes.
//!   `typed.rs`: where an input ends. `filename.rs`: files in what is typed. `reading.rs`: values of files. `history.rs`: where lines are
//!   kept. `scope.rs`: what has been defined.
//! - `evaluation.rs`: what expressions are, and their values. `inspect.rs`: what the engine makes of them.
//!   `gradient.rs`: how they change. `numbers.rs`: values as numbers.
//! - `display.rs`: values as text. `breakpoint.rs`: where an evaluation waits. `meaning.rs`: what names stand for.
//!   `memory.rs`: what values take.
//! - `progress.rs`: what is shown while they take long. `running.rs`: what they are at. `watch.rs`: a file that is loaded whenever it changes.
//! - `plot/`: figures. `image/`: images. `picture/`: what both are made of. `screen.rs`: what can be shown.
//!
//! No input ends the session but `:quit` and the end of the input.

mod breakpoint;
mod commands;
mod completion;
mod display;
mod evaluation;
mod filename;
mod gradient;
pub mod history;
mod image;
mod inspect;
mod lines;
mod meaning;
mod memory;
mod numbers;
mod picture;
mod plot;
mod progress;
mod reading;
mod running;
mod scope;
mod screen;
mod typed;
mod watch;

use crate::failure::{Outcome, complaint, rendered, say};
use crate::interrupt::Interrupts;
use crate::settings::Settings;
use crate::upstream;
use breakpoint::Breakpoints;
use commands::Command;
use display::shown_text;
use evaluation::{DEFINITIONS, Expression, Telling};
use galopvm::{Diagnostic, Engine, Error, Memory, Shown, Value};
use galopvm_base::{Sources, system_message};
use galopvm_bytecode::Purpose;
use lines::{Line, Lines};
use progress::Progress;
use scope::Scope;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use typed::{Kind, State};

/// Explore at a prompt: definitions and expressions, evaluated at once
///
/// Definitions are kept; expressions are evaluated and printed. Input goes on over several lines until it is complete;
/// an empty line ends it early (two where a bracket is open). The history is kept between sessions. Works with piped input, too.
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

/// Carries out the command.
pub fn run(args: Args) -> Outcome {
    // What reads the answers of Futhark's own prompt finds them between prompts.
    let name = if upstream::is_called() { "'futhark repl'" } else { "galopvm" };
    let (lines, note) = Lines::standard_input(upstream::is_called());
    let progress = Progress::on_terminal();
    let beside = progress.clone();
    let breakpoints = Breakpoints::default();
    let told = breakpoints.clone();
    let shows = Arc::new(move |shown: &Shown<'_>| {
        let (place, text) = (shown.label, shown_text(shown));
        match shown.purpose {
            Purpose::Value => beside.aside(|| say(&format!("{place}: {text}"))),
            Purpose::Stop => beside.aside(|| say(&format!("Breakpoint at {place}: {text}"))),
            Purpose::Nan => {
                let operands: Vec<String> = shown.values.iter().skip(1).map(Value::to_string).collect();
                beside.aside(|| say(&format!("NaN at {place}: made of {}", operands.join(" and "))));
            }
            Purpose::Name => told.named(shown),
        }
        if shown.purpose.stops() {
            told.reached(shown);
        }
    });
    let mut builder = args.settings.builder().shows(shows);
    if let Some(listener) = progress.listener() {
        builder = builder.moments(listener);
    }
    let mut repl = Repl {
        engine: builder.build(),
        progress,
        breakpoints,
        memory: Memory::default(),
        most_memory: 0,
        settings: args.settings,
        scope: Scope::default(),
        before: Vec::new(),
        loaded: None,
        number: 0,
        waiting: VecDeque::new(),
        previous: None,
        it: Vec::new(),
        is_left: false,
        goes_through: false,
        watches_nan: false,
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
    repl.run(name)
}

/// What the prompt was answered with.
enum Input {
    /// A text to carry out.
    Text(String),
    /// What was typed so far is forgotten.
    Cancelled,
    /// Nothing more.
    End,
}

/// An input that has been carried out.
struct Previous {
    text: String,
    /// It changed what is defined.
    defined: bool,
}

/// What an evaluation is called where nobody else defines that name.
const IT: &str = "it";

struct Repl {
    engine: Engine,
    /// What the engine was made by.
    settings: Settings,
    memory: Memory,
    /// The most memory in use before the last evaluation.
    most_memory: u64,
    scope: Scope,
    /// What was defined before, for each time that this changed.
    before: Vec<Scope>,
    loaded: Option<PathBuf>,
    /// The number in the prompt.
    number: usize,
    /// Lines that are there but belong to no input yet.
    waiting: VecDeque<String>,
    /// The input before, as long as another line can continue it.
    previous: Option<Previous>,
    /// What `it` stands for, the last expression that had a value: texts, of which the first one that is right counts.
    it: Vec<String>,
    /// A prompt inside of another one has ended the session.
    is_left: bool,
    /// Evaluations do not stop at breakpoints: one waits there already, or they are repeated.
    goes_through: bool,
    /// Evaluations stop where an operation makes NaN.
    watches_nan: bool,
    breakpoints: Breakpoints,
    lines: Lines,
    interrupts: Interrupts,
    progress: Progress,
}

impl Repl {
    /// Carries out what is typed, until it ends; then says that it leaves what has this name.
    fn run(&mut self, name: &str) -> Outcome {
        loop {
            let input = match self.input()? {
                Input::Text(input) => input,
                Input::Cancelled => continue,
                Input::End => break,
            };
            let text = input.trim();
            if typed::is_blank(text) {
                continue;
            }
            self.lines.remember(text);
            if !self.carry_out(text)? || self.is_left {
                break;
            }
            self.number += 1;
        }
        if self.lines.is_prompted() {
            writeln!(io::stdout(), "Leaving {name}.")?;
        }
        Ok(())
    }

    /// Does what an input says; false if it ends the session.
    fn carry_out(&mut self, text: &str) -> io::Result<bool> {
        let first = text.split_whitespace().next().unwrap_or_default();
        match (text.strip_prefix(':'), commands::habit(text)) {
            (Some(command), _) => self.command(command),
            (None, Some(command)) if !self.knows(first) => self.command(&command),
            _ => {
                let before = self.before.len();
                self.input_of_language(text)?;
                self.previous = Some(Previous { text: text.into(), defined: self.before.len() > before });
                Ok(true)
            }
        }
    }

    /// The next line: one that waits, or the next one that is typed. What is pasted may be several.
    fn line(&mut self, prompt: &str) -> io::Result<Line> {
        if let Some(line) = self.waiting.pop_front() {
            return Ok(Line::Text(line));
        }
        let line = self.lines.next(prompt)?;
        let Line::Text(text) = line else { return Ok(line) };
        let mut lines = text.split('\n').map(|line| line.trim_end_matches('\r').to_string());
        let first = lines.next().unwrap_or_default();
        self.waiting.extend(lines);
        Ok(Line::Text(first))
    }

    /// The next input, possibly of several lines.
    fn input(&mut self) -> io::Result<Input> {
        let prompt = format!("[{}]> ", self.number);
        let more = format!("{:>1$} ", "|", prompt.len() - 1);
        let mut text = String::new();
        loop {
            let line = match self.line(if text.is_empty() { &prompt } else { &more })? {
                Line::End if text.is_empty() => return Ok(Input::End),
                Line::End => return Ok(Input::Text(text)),
                Line::Cancelled => {
                    self.waiting.clear();
                    self.previous = None;
                    return Ok(Input::Cancelled);
                }
                Line::Text(line) => line,
            };
            let is_empty = line.trim().is_empty();
            if text.is_empty() {
                let previous = self.previous.take();
                if is_empty {
                    continue;
                }
                if line.trim_start().starts_with(':') {
                    return Ok(Input::Text(line));
                }
                text = match previous.filter(|previous| typed::goes_on(&previous.text, &line)) {
                    Some(previous) => self.taken_back(previous) + "\n" + &line,
                    None => line,
                };
            } else if is_empty {
                // Between the declarations of a module there may be one; two end what will never be complete.
                if text.ends_with('\n') || !typed::has_open_brackets(&text) {
                    return Ok(Input::Text(text));
                }
                text.push('\n');
            } else if self.is_new(&text, &line) {
                self.waiting.push_front(line);
                return Ok(Input::Text(text));
            } else {
                text = text + "\n" + &line;
            }
            if !matches!(typed::state(&text), State::Unfinished(_)) && !self.continues(&text) {
                return Ok(Input::Text(text));
            }
        }
    }

    /// An input as it was before it was carried out.
    fn taken_back(&mut self, previous: Previous) -> String {
        if previous.defined
            && let Some(scope) = self.before.pop()
        {
            self.become_scope(scope);
        }
        previous.text
    }

    /// Whether a line behind an unfinished input, or one that could take another case, is no part of it.
    fn is_new(&self, text: &str, line: &str) -> bool {
        let word = line.strip_prefix(':').map(|rest| rest.split_whitespace().next().unwrap_or_default());
        if word.is_some_and(|word| commands::find(word).is_some()) {
            return true;
        }
        match typed::state(text) {
            State::Whole(_) => !typed::goes_on(text, line),
            _ => matches!(typed::state(&format!("{text}\n{line}")), State::Wrong(_)) && typed::begins(line),
        }
    }

    /// Whether a whole input goes on: with a line that is there already, or, of a `match`, with one that is still to come.
    fn continues(&mut self, text: &str) -> bool {
        let Some(next) = self.waiting.iter().position(|line| !line.trim().is_empty()) else {
            return typed::takes_cases(text);
        };
        let goes_on = typed::goes_on(text, &self.waiting[next]);
        if goes_on {
            self.waiting.drain(..next);
        }
        goes_on
    }

    /// Whether a word is defined, so that it means itself.
    fn knows(&self, word: &str) -> bool {
        self.scope.names().iter().any(|name| name == word)
    }

    fn input_of_language(&mut self, text: &str) -> io::Result<()> {
        self.define_it(text);
        match typed::state(text).kind() {
            Kind::Declarations => drop(self.define(text)),
            Kind::Pattern(names) => self.define_parts(text, &names),
            Kind::Expression => self.evaluate(text, Telling::Nothing)?,
        }
        Ok(())
    }

    /// Defines `it` as the last expression that had a value, for an input that asks for it.
    fn define_it(&mut self, text: &str) {
        let is_others = self.knows(IT) && self.scope.piece(IT).is_none();
        if is_others || typed::mentions(text, IT) == 0 {
            return;
        }
        let with = |text: String| {
            let mut scope = self.scope.clone();
            scope.add(IT, &format!("def {IT} =\n{text}"));
            scope
        };
        // A value of which no definition can be made, such as an empty array of any type, has no name.
        if let Some(scope) = std::mem::take(&mut self.it).into_iter().map(with).find(is_right) {
            self.become_scope(scope);
        }
    }

    /// Carries out a command; false if it is the last one.
    fn command(&mut self, command: &str) -> io::Result<bool> {
        let command = command.trim_start();
        let (word, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        let rest = rest.trim();
        let Some(row) = commands::find(word) else {
            let (message, hint) = commands::unknown(word);
            say(&complaint(&message, &hint));
            return Ok(true);
        };
        if let Some(wanted) = row.wants().filter(|_| rest.is_empty()) {
            say(&complaint(&format!(":{} wants {wanted}", row.name), row.example));
            return Ok(true);
        }
        match row.command {
            Command::Quit => return Ok(false),
            Command::Help => self.help(rest)?,
            Command::Type => {
                if let Some(evaluation) = self.compile(Expression::typed(rest), false) {
                    print(&format!("{rest} : {}", evaluation.ty))?;
                }
            }
            Command::ModuleType => self.module_type(rest)?,
            Command::Doc => self.documentation(rest)?,
            Command::Time => self.evaluate(rest, Telling::Time)?,
            Command::Bench => self.evaluate(rest, Telling::Bench)?,
            Command::Stats => self.evaluate(rest, Telling::Stats)?,
            Command::Explain => self.explain(rest)?,
            Command::Profile => self.profile(rest)?,
            Command::Asm => self.assembly(rest)?,
            Command::Grad => self.gradient(rest)?,
            Command::Plot => self.plot(rest)?,
            Command::Image => self.image(rest)?,
            Command::Watch => self.watch(rest)?,
            Command::Load if !rest.is_empty() => drop(self.load(&filename::whole(rest))),
            Command::Load | Command::Reload => match self.loaded.clone() {
                Some(path) => drop(self.load(&path)),
                None => say(&complaint("no file has been loaded yet", ":load FILE")),
            },
            Command::Read => self.read(rest)?,
            Command::Save => self.save(&filename::whole(rest)),
            Command::Defs => self.definitions()?,
            Command::Vars => self.variables()?,
            Command::Memory => self.memory_in_use()?,
            Command::Undo => match self.before.pop() {
                Some(scope) => self.become_scope(scope),
                None => say(&complaint("there is nothing to take back", "")),
            },
            Command::Cd => {
                let folder = filename::whole(rest);
                if let Err(error) = std::env::set_current_dir(&folder) {
                    say(&complaint(&format!("{}: {}", folder.display(), system_message(&error)), ""));
                }
            }
            Command::Pwd => match std::env::current_dir() {
                Ok(folder) => print(&folder.display().to_string())?,
                Err(error) => say(&complaint(&system_message(&error), "")),
            },
            Command::Frame | Command::Unbreak => {
                let hint = "`break e` in an expression stops there";
                say(&complaint("no evaluation is stopped at a breakpoint", hint));
            }
            Command::NanBreak => {
                self.watches_nan = !self.watches_nan;
                print(match self.watches_nan {
                    true => "an evaluation stops where an operation makes NaN",
                    false => "an evaluation does not stop where an operation makes NaN",
                })?;
            }
        }
        Ok(true)
    }

    /// The commands, or one of them.
    fn help(&self, name: &str) -> io::Result<()> {
        let name = name.trim_start_matches(':');
        match commands::find(name) {
            _ if name.is_empty() => print(&commands::help()),
            Some(row) => print(&commands::help_about(row)),
            None => {
                let (message, hint) = commands::unknown(name);
                say(&complaint(&message, &hint));
                Ok(())
            }
        }
    }

    /// Definitions that take the place of those that there are.
    fn replace_scope(&mut self, scope: Scope) {
        self.before.push(self.scope.clone());
        self.become_scope(scope);
    }

    fn become_scope(&mut self, scope: Scope) {
        self.lines.define(&scope.pieces(), &scope.text());
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

    /// Defines what a text declares; false if that has been refused, with the reasons.
    fn define(&mut self, text: &str) -> bool {
        let piece = format!("[{}]", self.number);
        let with = |text: &str| {
            let mut scope = self.scope.clone();
            scope.add(&piece, text);
            scope
        };
        // A definition belongs to everybody; one that takes its place may change a copy of it: `let a = a with [0] = 1`.
        let changed = scope::bound_anew(text).filter(|name| self.knows(name)).map(|name| {
            let copied = with(&format!("def {name} =\nlet {name} = copy {name} in\n{text}\nin {name}"));
            (with(text), copied)
        });
        if let Some((plain, copied)) = changed
            && !is_right(&plain)
            && is_right(&copied)
        {
            self.replace_scope(copied);
            return true;
        }
        let scope = with(text);
        let is_right = check(&scope);
        if is_right {
            self.replace_scope(scope);
        }
        is_right
    }

    /// Defines the names that the `let`s of a text bind, each as what they bind it to.
    fn define_parts(&mut self, text: &str, names: &[String]) {
        // What is wrong with the text is said once, not for each name.
        let whole = format!("{text}\nin ()");
        if self.compile(Expression::made(text, &whole), false).is_none() || names.is_empty() {
            return;
        }
        let parts: Vec<String> =
            names.iter().map(|name| format!("def {name} =\n{text}\nin {name}")).collect();
        self.define(&parts.join("\n"));
    }

    /// Loads a file in the place of all definitions; false if that has been refused, with the reasons.
    fn load(&mut self, path: &Path) -> bool {
        self.loaded = Some(path.to_path_buf());
        let name = path.display().to_string();
        let text = galopvm::program::read(path)
            .and_then(|bytes| Ok(galopvm::program::source_text(&name, &bytes)?.to_string()));
        let text = match text {
            Ok(text) => text,
            Err(error) => {
                say(&explained(error));
                return false;
            }
        };
        let mut scope = Scope::default();
        scope.add(&name, &text);
        let is_right = check(&scope);
        if is_right {
            self.replace_scope(scope);
        }
        is_right
    }

    fn definitions(&mut self) -> io::Result<()> {
        for (name, ty) in self.defined() {
            print(&format!("{name} : {ty}"))?;
        }
        Ok(())
    }

    /// The names of all definitions, with their types.
    fn defined(&self) -> Vec<(String, String)> {
        let mut sources = Sources::new();
        let file = sources.add(DEFINITIONS, self.scope.text());
        let told = galopvm_frontend::check(&mut sources, file).definitions;
        // Those older than a name that got a new meaning are not the text's own.
        let type_of = |name: &str| match told.iter().rfind(|(told, _)| told == name) {
            Some((_, ty)) => Some(ty.clone()),
            None => Some(self.compile(Expression::typed(name), false)?.ty),
        };
        self.scope.names().into_iter().filter_map(|name| type_of(&name).map(|ty| (name, ty))).collect()
    }
}

/// Whether all definitions are right.
fn is_right(scope: &Scope) -> bool {
    let mut sources = Sources::new();
    let file = sources.add(DEFINITIONS, scope.text());
    !galopvm_frontend::check(&mut sources, file).diagnostics.iter().any(Diagnostic::is_error)
}

/// Checks all definitions and says what is wrong with them.
fn check(scope: &Scope) -> bool {
    let mut sources = Sources::new();
    let file = sources.add(DEFINITIONS, scope.text());
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

fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}
