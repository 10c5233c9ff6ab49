//! `galopvm repl`: definitions and expressions at a prompt.
//!
//! - `commands.rs`: the table of commands. `lines.rs`: where lines come from. `completion.rs`: what the Tab key completes.
//!   `filename.rs`: files in what is typed. `reading.rs`: values of files. `history.rs`: where lines are kept. `scope.rs`: what has been defined.
//! - `evaluation.rs`: what expressions are, and their values. `inspect.rs`: what the engine makes of them.
//!   `gradient.rs`: how they change. `numbers.rs`: values as numbers.
//! - `progress.rs`: what is shown while they take long. `watch.rs`: a file that is loaded whenever it changes.
//! - `plot/`: figures. `image/`: images. `picture/`: what both are made of. `screen.rs`: what can be shown.
//!
//! No input ends the session but `:quit` and the end of the input.

mod commands;
mod completion;
mod evaluation;
mod filename;
mod gradient;
pub mod history;
mod image;
mod inspect;
mod lines;
mod numbers;
mod picture;
mod plot;
mod progress;
mod reading;
mod scope;
mod screen;
mod watch;

use crate::failure::{Outcome, complaint, rendered, say};
use crate::interrupt::Interrupts;
use crate::settings::Settings;
use commands::{Argument, Command};
use evaluation::{DEFINITIONS, Expression, Telling, show};
use galopvm::{Engine, Error, Memory, Shown};
use galopvm_base::{Sources, system_message};
use lines::{Line, Lines};
use progress::Progress;
use scope::{Kind, Scope};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

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

/// Carries out the command.
pub fn run(args: Args) -> Outcome {
    let (lines, note) = Lines::standard_input();
    let progress = Progress::on_terminal();
    let beside = progress.clone();
    let shows = Arc::new(move |shown: &Shown<'_>| beside.aside(|| show(shown)));
    let mut repl = Repl {
        engine: args.settings.builder().shows(shows).build(),
        progress,
        memory: Memory::default(),
        settings: args.settings,
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
    /// What the engine was made by.
    settings: Settings,
    memory: Memory,
    scope: Scope,
    /// What was defined before, for each time that this changed.
    before: Vec<Scope>,
    loaded: Option<PathBuf>,
    /// The number in the prompt.
    number: usize,
    lines: Lines,
    interrupts: Interrupts,
    progress: Progress,
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
            (argument, _) if argument.is_expression() && rest.is_empty() => {
                let example = if argument == Argument::Application { "f64.sqrt 2" } else { "iota 10" };
                say(&complaint(&format!(":{name} wants an expression"), &format!(":{name} {example}")));
                return Ok(true);
            }
            (Argument::File, Command::Load) => {}
            (Argument::File | Argument::Watched | Argument::Named, _) if rest.is_empty() => {
                say(&complaint(&format!(":{name} wants the name of a file or folder"), ":help explains"));
                return Ok(true);
            }
            _ => {}
        }
        match row.command {
            Command::Quit => return Ok(false),
            Command::Help => print(&commands::help())?,
            Command::Type => {
                if let Some(evaluation) = self.compile(Expression::typed(rest), false) {
                    print(&format!("{rest} : {}", evaluation.ty))?;
                }
            }
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

    fn define(&mut self, text: &str) -> bool {
        let mut scope = self.scope.clone();
        scope.add(&format!("[{}]", self.number), text);
        let is_right = check(&scope);
        if is_right {
            self.replace_scope(scope);
        }
        is_right
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
        let mut sources = Sources::new();
        let file = sources.add(DEFINITIONS, self.scope.text());
        let report = galopvm_frontend::check(&mut sources, file);
        for (name, ty) in report.definitions {
            print(&format!("{name} : {ty}"))?;
        }
        Ok(())
    }
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
