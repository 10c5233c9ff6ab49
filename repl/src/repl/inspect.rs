//! What the engine makes of an expression: `:explain` tells what it decides, `:profile` where its time goes, `:asm` shows the
//! machine code.
//!
//! Each runs the expression in an engine of its own, as the subcommands `explain`, `profile` and `dump` do, so that nothing which
//! the prompt has compiled before hides what there is to see.

use super::evaluation::Expression;
use super::{Repl, explained, print};
use crate::failure::say;
use crate::{dump, explain};
use galopvm::{BackendChoice, Switch};
use galopvm_explain::{Collector, Heading, Target};
use galopvm_frontend::EXPRESSION_ENTRY;
use galopvm_profile::{Measured, Named, Profile, Recorder};
use std::io;

impl Repl {
    /// Tells what was decided for the evaluation of an expression, and why.
    pub(super) fn explain(&mut self, text: &str) -> io::Result<()> {
        let Some((program, _)) = self.program(Expression::typed(text)) else { return Ok(()) };
        let collector = Collector::default();
        let engine = self.settings.builder().explain(collector.sink()).build();
        let mut session = engine.session_in(&program, self.memory.clone());
        let outcome = self.call(&mut session);
        let name = format!("[{}]", self.number);
        let heading = Heading {
            program: &name,
            entry: EXPRESSION_ENTRY,
            input: "which takes no arguments",
            off: self.settings.switches().off().map(Switch::name).collect(),
        };
        let read = |file: &str| match self.scope.piece(file) {
            _ if file == name => Some(text.to_string()),
            Some(piece) => Some(piece.to_string()),
            None => std::fs::read_to_string(file).ok(),
        };
        let document = explain::document(&collector, heading, &program, &session, Target::Cpu, &read);
        print(document.text(false).trim_end())?;
        // What was found before a failure is worth knowing, too.
        if let Err(error) = outcome {
            say(&explained(error));
        }
        Ok(())
    }

    /// Tells where the time of an evaluation goes.
    pub(super) fn profile(&mut self, text: &str) -> io::Result<()> {
        let Some((program, _)) = self.program(Expression::typed(text)) else { return Ok(()) };
        let recorder = Recorder::default();
        let engine = self.settings.builder().moments(recorder.sink()).build();
        let mut session = engine.session_in(&program, self.memory.clone());
        let outcome = recorder.call(&self.memory.clone(), || self.call(&mut session));
        let name = format!("[{}]", self.number);
        let named = Named { program: &name, entry: EXPRESSION_ENTRY, input: "which takes no arguments" };
        let profile = Profile::new(&recorder, &program, &session, named, Measured::Only);
        print(profile.text().trim_end())?;
        if let Err(error) = outcome {
            say(&explained(error));
        }
        Ok(())
    }

    /// Shows the machine code of all operators of an expression that can have some.
    pub(super) fn assembly(&mut self, text: &str) -> io::Result<()> {
        let Some((program, _)) = self.program(Expression::typed(text)) else { return Ok(()) };
        let engine = self.settings.builder().backend(BackendChoice::X86).build();
        let mut session = engine.session_in(&program, self.memory.clone());
        let outcome = self.call(&mut session);
        let code = dump::machine_code(&session);
        print(if code.is_empty() { "nothing in it is a parallel operator" } else { code.trim_end() })?;
        if let Err(error) = outcome {
            say(&explained(error));
        }
        Ok(())
    }
}
