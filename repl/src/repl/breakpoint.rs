//! Breakpoints: an evaluation waits where it reaches `break`, and a prompt of its own is there meanwhile.
//!
//! The engine tells of a breakpoint on the thread of the call, which goes on when it is told to. So a program that has breakpoints is
//! called on a thread of its own, and lines are read where they always are. What the prompt evaluates meanwhile does not stop again.

use super::display::{short_text, value_text};
use super::scope::Scope;
use super::{IT, Input, Repl, commands, print, reading, typed};
use crate::failure::{complaint, say};
use crate::source_line;
use commands::Command;
use galopvm::{CallSite, Error, ErrorKind, RuntimeError, Session, Shown, Value};
use galopvm_base::Sources;
use galopvm_bytecode::{Form, Instr, Purpose};
use galopvm_frontend::EXPRESSION_ENTRY;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::{io, iter};

/// An evaluation that waits at a breakpoint; it goes on when this is dropped.
pub struct Stop {
    /// That place, then the calls that it is inside of.
    trace: Vec<CallSite>,
    value: Whole,
    /// What local names mean there, innermost first.
    names: Vec<(String, Whole)>,
    _waiting: Sender<()>,
}

/// A value with what it is made of.
struct Whole {
    form: Form,
    values: Vec<Value>,
}

impl Whole {
    fn of(shown: &Shown<'_>) -> Whole {
        Whole { form: shown.form.clone(), values: shown.values.to_vec() }
    }
}

/// Who is told of breakpoints: nobody where nothing could be done about them. Clones share it.
#[derive(Clone, Default)]
pub struct Breakpoints(Arc<Mutex<Told>>);

#[derive(Default)]
struct Told {
    listener: Option<Sender<Stop>>,
    /// What names mean at the next breakpoint.
    names: Vec<(String, Whole)>,
}

impl Breakpoints {
    fn told(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody else is told from now on; gives who has been told so far.
    fn tell(&self, listener: Option<Sender<Stop>>) -> Option<Sender<Stop>> {
        let mut told = self.told();
        told.names.clear();
        std::mem::replace(&mut told.listener, listener)
    }

    /// What a name means at the next breakpoint.
    pub fn named(&self, shown: &Shown<'_>) {
        let mut told = self.told();
        if told.listener.is_some() {
            told.names.push((shown.label.into(), Whole::of(shown)));
        }
    }

    /// A breakpoint has been reached: waits until it is said to go on.
    pub fn reached(&self, shown: &Shown<'_>) {
        let (listener, names) = {
            let mut told = self.told();
            (told.listener.clone(), std::mem::take(&mut told.names))
        };
        let Some(listener) = listener else { return };
        let (waiting, wait) = channel();
        let (trace, value) = (shown.trace.to_vec(), Whole::of(shown));
        // Both ends come with the other side letting go.
        if listener.send(Stop { trace, value, names, _waiting: waiting }).is_ok() {
            drop(listener);
            let _ = wait.recv();
        }
    }
}

/// How it goes on from a breakpoint.
enum Next {
    /// To the next one.
    On,
    /// To the end.
    Through,
    /// Not at all.
    End,
}

/// Whether the program of a session has breakpoints.
pub fn are_in(session: &Session) -> bool {
    let blocks = session.module().module().functions.iter().flat_map(|function| function.blocks.iter());
    let stops = |instr: &Instr| match instr {
        Instr::Trace { purpose, .. } => Purpose::of_number(*purpose).is_some_and(Purpose::stops),
        _ => false,
    };
    blocks.flat_map(|block| &block.code).any(stops)
}

impl Repl {
    /// Calls the program of an expression, and stops where it says.
    pub(super) fn call_with_stops(&mut self, session: &mut Session) -> Result<Vec<Value>, Error> {
        let flag = session.interrupt_flag();
        let breakpoints = self.breakpoints.clone();
        let (listener, stops) = channel();
        let before = breakpoints.tell(Some(listener));
        let mut is_ended = false;
        let outcome = thread::scope(|scope| {
            let told = breakpoints.clone();
            let call = scope.spawn(move || {
                let outcome = session.call_values(EXPRESSION_ENTRY, Vec::new());
                // Nobody is left who could tell, which ends the waiting for it.
                told.tell(None);
                outcome
            });
            for stop in stops {
                let listener = breakpoints.tell(None);
                match self.stopped(&stop) {
                    Next::On => drop(breakpoints.tell(listener)),
                    Next::Through => {}
                    Next::End => {
                        is_ended = true;
                        flag.store(true, Ordering::Relaxed);
                    }
                }
            }
            call.join()
        });
        breakpoints.tell(before);
        match outcome {
            // What is short ends before it looks whether it should.
            Ok(_) if is_ended => Err(interrupted()),
            Ok(outcome) => outcome,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }

    /// The prompt at a breakpoint. What is defined there is forgotten with it.
    fn stopped(&mut self, stop: &Stop) -> Next {
        let running = self.interrupts.running(None);
        let (scope, depth, number, it) =
            (self.scope.clone(), self.before.len(), self.number, std::mem::take(&mut self.it));
        (self.number, self.goes_through) = (0, true);
        self.name_values(stop);
        let progress = self.progress.clone();
        let next = progress.paused(|| self.serve(stop));
        self.before.truncate(depth);
        self.become_scope(scope);
        (self.number, self.it, self.goes_through) = (number, it, false);
        self.previous = None;
        self.interrupts.running(running);
        // Without input there is nothing to wait for.
        next.unwrap_or(Next::Through)
    }

    /// Defines the value of a breakpoint, and what local names mean there; what has no text that means it stays without a name,
    /// as does what would be more text than a definition may be.
    fn name_values(&mut self, stop: &Stop) {
        let value = (IT, &stop.value);
        let names =
            stop.names.iter().map(|(name, value)| (name.as_str(), value)).filter(|(name, _)| *name != IT);
        let mut left = reading::MOST;
        let mut definitions = Vec::new();
        for (name, Whole { form, values }) in iter::once(value).chain(names) {
            let elements = reading::elements(values);
            if elements <= left
                && let Some(text) = reading::expression(form, values)
            {
                left -= elements;
                definitions.push(format!("def {name} = {text}"));
            }
        }
        // All at once, or else those that can be.
        if !self.understands(&definitions.join("\n")) {
            for definition in definitions.iter().rev() {
                self.understands(definition);
            }
        }
    }

    /// Takes a definition of a breakpoint into the scope, if there is nothing wrong with it.
    fn understands(&mut self, definition: &str) -> bool {
        let mut scope = self.scope.clone();
        scope.add("breakpoint", definition);
        let mut sources = Sources::new();
        let file = sources.add("breakpoint", scope.text());
        let is_right =
            galopvm_frontend::check(&mut sources, file).diagnostics.iter().all(|message| !message.is_error());
        if is_right {
            self.become_scope(scope);
        }
        is_right
    }

    fn serve(&mut self, stop: &Stop) -> io::Result<Next> {
        if self.lines.is_terminal() {
            say(&format!(
                "`{IT}` is the value, and local names are seen. :unbreak goes on, Ctrl-C ends the evaluation."
            ));
        }
        loop {
            let input = match self.input()? {
                Input::Text(input) => input,
                Input::Cancelled => return Ok(Next::End),
                Input::End => return Ok(Next::Through),
            };
            let text = input.trim();
            if typed::is_blank(text) {
                continue;
            }
            self.lines.remember(text);
            let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
            match word.strip_prefix(':').and_then(commands::find).map(|row| row.command) {
                Some(Command::Unbreak) => return Ok(Next::On),
                Some(Command::Frame) => frame(&self.scope, stop, rest.trim())?,
                _ => {
                    self.is_left = !self.carry_out(text)?;
                    if self.is_left {
                        return Ok(Next::End);
                    }
                }
            }
            self.number += 1;
        }
    }
}

/// Shows what is known of a breakpoint, or of one of the calls that it is inside of.
fn frame(scope: &Scope, stop: &Stop, number: &str) -> io::Result<()> {
    let whole = |number: usize| {
        let site = stop.trace.get(number)?;
        let source = site.file.as_ref().and_then(|file| scope.piece(file)).zip(site.place);
        let source = source.and_then(|(text, place)| source_line::marked(text, place));
        let mut lines = vec![format!("frame {number}, at {site}")];
        lines.extend(source);
        if number == 0 {
            lines.push(value_text(&stop.value.form, &stop.value.values));
            let names = stop.names.iter();
            lines.extend(
                names.map(|(name, Whole { form, values })| format!("{name} = {}", short_text(form, values))),
            );
        }
        Some(lines.join("\n"))
    };
    if number.is_empty() {
        let callers = stop.trace.iter().enumerate().skip(1);
        let callers = callers.map(|(number, site)| format!("frame {number}, at {site}"));
        return print(&whole(0).into_iter().chain(callers).collect::<Vec<_>>().join("\n"));
    }
    match number.parse().ok().and_then(whole) {
        Some(text) => print(&text),
        None => {
            let hint = match stop.trace.len() {
                1 => "frame 0, where the evaluation is stopped, is the only one".to_string(),
                count => {
                    format!("frames are numbered from 0, where the evaluation is stopped, to {}", count - 1)
                }
            };
            say(&complaint(&format!("there is no frame `{number}`"), &hint));
            Ok(())
        }
    }
}

fn interrupted() -> Error {
    let (kind, message) = (ErrorKind::Interrupted, "Interrupted.".into());
    Error::Run(RuntimeError { kind, message, trace: Vec::new(), rows: Vec::new() })
}
