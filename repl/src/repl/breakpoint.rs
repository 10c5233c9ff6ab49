//! Breakpoints: an evaluation waits where it reaches `break`, and a prompt of its own is there meanwhile.
//!
//! The engine tells of a breakpoint on the thread of the call, which goes on when it is told to. So a program that has breakpoints is
//! called on a thread of its own, and lines are read where they always are. What the prompt evaluates meanwhile does not stop again.

use super::display::value_text;
use super::{IT, Input, Repl, commands, print, reading, typed};
use crate::failure::{complaint, say};
use commands::Command;
use galopvm::{Error, ErrorKind, RuntimeError, Session, Shown, Value};
use galopvm_base::Sources;
use galopvm_bytecode::{Form, Instr};
use galopvm_frontend::EXPRESSION_ENTRY;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// An evaluation that waits at a breakpoint; it goes on when this is dropped.
pub struct Stop {
    place: String,
    form: Form,
    values: Vec<Value>,
    _waiting: Sender<()>,
}

/// Who is told of breakpoints: nobody where nothing could be done about them. Clones share it.
#[derive(Clone, Default)]
pub struct Breakpoints(Arc<Mutex<Option<Sender<Stop>>>>);

impl Breakpoints {
    /// Somebody else is told from now on; gives who has been told so far.
    fn tell(&self, listener: Option<Sender<Stop>>) -> Option<Sender<Stop>> {
        std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), listener)
    }

    /// A breakpoint has been reached: waits until it is said to go on.
    pub fn reached(&self, shown: &Shown<'_>) {
        let listener = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(listener) = listener else { return };
        let (waiting, wait) = channel();
        let (form, values) = (shown.form.clone(), shown.values.to_vec());
        // Both ends come with the other side letting go.
        if listener.send(Stop { place: shown.label.into(), form, values, _waiting: waiting }).is_ok() {
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
    blocks.flat_map(|block| &block.code).any(|instr| matches!(instr, Instr::Trace { stops: 1, .. }))
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
        self.name_value(stop);
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

    /// Defines the value of a breakpoint; what has no text that means it stays without a name.
    fn name_value(&mut self, stop: &Stop) {
        let Some(text) = reading::expression(&stop.form, &stop.values) else { return };
        let mut scope = self.scope.clone();
        scope.add("breakpoint", &format!("def {IT} = {text}"));
        let mut sources = Sources::new();
        let file = sources.add("breakpoint", scope.text());
        if galopvm_frontend::check(&mut sources, file).diagnostics.iter().all(|message| !message.is_error()) {
            self.become_scope(scope);
        }
    }

    fn serve(&mut self, stop: &Stop) -> io::Result<Next> {
        if self.lines.is_terminal() {
            say(&format!("`{IT}` is the value. :unbreak goes on, Ctrl-C ends the evaluation."));
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
                Some(Command::Frame) => frame(stop, rest.trim())?,
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

/// Shows what is known of a breakpoint.
fn frame(stop: &Stop, number: &str) -> io::Result<()> {
    if !["", "0"].contains(&number) {
        let hint = ":frame 0 is where the evaluation is stopped; its callers are not known";
        say(&complaint(&format!("there is no frame `{number}`"), hint));
        return Ok(());
    }
    print(&format!("frame 0, at {}\n{}", stop.place, value_text(&stop.form, &stop.values)))
}

fn interrupted() -> Error {
    let (kind, message) = (ErrorKind::Interrupted, "Interrupted.".into());
    Error::Run(RuntimeError { kind, message, trace: Vec::new(), rows: Vec::new() })
}
