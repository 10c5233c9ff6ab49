//! What a server has, and the table of its commands.
//!
//! Invariant: the values of a variable fit its type. A variable whose value a call has consumed has none.

use super::Generation;
use super::words::words;
use crate::interrupt::Interrupts;
use crate::values::{Attributes, EntryTypes, Type, Types};
use galopvm::{Engine, Program, Session, Value};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The outcome of a command: a message if it failed.
pub type Answer<T = ()> = Result<T, String>;

/// A value with a name.
pub struct Variable {
    /// Its type.
    pub ty: Arc<Type>,
    /// What it consists of, until a call consumes it.
    pub parts: Option<Vec<Value>>,
}

/// A program under way, and its variables.
pub struct Server {
    pub engine: Engine,
    pub program: Program,
    pub session: Session,
    pub types: Types,
    pub attributes: Attributes,
    pub variables: HashMap<String, Variable>,
    pub interrupts: Interrupts,
    pub generation: Generation,
    /// Tuning parameters that commands gave a value.
    pub set: Vec<(String, i64)>,
}

/// The words of a command after its name.
pub struct Words<'l> {
    usage: &'static str,
    /// All of them.
    pub all: Vec<&'l str>,
}

impl<'l> Words<'l> {
    /// The word of this number, which the command needs.
    pub fn get(&self, number: usize) -> Answer<&'l str> {
        let missing = || format!("Insufficient command arguments: the command is `{}`.", self.usage);
        self.all.get(number).copied().ok_or_else(missing)
    }

    /// The words from this number on.
    pub fn from(&self, number: usize) -> &[&'l str] {
        self.all.get(number..).unwrap_or_default()
    }
}

type Command = fn(&mut Server, &Words<'_>, &mut String) -> Answer;

/// Every command, as it is written, and what carries it out.
const COMMANDS: &[(&str, Command)] = &[
    ("types", Server::list_types),
    ("entry_points", Server::entry_points),
    ("call ENTRY RESULT ARGUMENT..", Server::call),
    ("restore FILE [VARIABLE TYPE]..", Server::restore),
    ("store FILE VARIABLE..", Server::store),
    ("free VARIABLE..", Server::free),
    ("rename OLD NEW", Server::rename),
    ("inputs ENTRY", Server::inputs),
    ("output ENTRY", Server::output),
    ("outputs ENTRY", Server::outputs),
    ("clear", Server::clear),
    ("kind TYPE", Server::kind),
    ("type VARIABLE", Server::type_of),
    ("pause_profiling", Server::keep_profiling),
    ("unpause_profiling", Server::keep_profiling),
    ("report", Server::report),
    ("set_tuning_param NAME VALUE", Server::set_tuning_param),
    ("tuning_params ENTRY", Server::tuning_params),
    ("tuning_param_class NAME", Server::tuning_param_class),
    ("attributes ENTRY", Server::attributes),
    ("rank TYPE", Server::rank),
    ("elemtype TYPE", Server::elemtype),
    ("new_array NEW TYPE SIZE.. VARIABLE..", Server::new_array),
    ("set ARRAY VARIABLE INDEX..", Server::set),
    ("shape ARRAY", Server::shape),
    ("index NEW ARRAY INDEX..", Server::index),
    ("zip NEW TYPE ARRAY..", Server::zip),
    ("unzip ARRAY NEW..", Server::unzip),
    ("fields TYPE", Server::fields),
    ("new NEW TYPE VARIABLE..", Server::new_record),
    ("project NEW RECORD FIELD", Server::project),
    ("variants TYPE", Server::variants),
    ("construct NEW TYPE VARIANT VARIABLE..", Server::construct),
    ("destruct SUM NEW..", Server::destruct),
    ("variant SUM", Server::variant),
];

/// A line of an answer.
pub fn put(out: &mut String, line: impl std::fmt::Display) {
    let _ = writeln!(out, "{line}");
}

impl Server {
    /// Carries out a line, and adds what it prints.
    pub fn answer(&mut self, line: &str, out: &mut String) -> Answer {
        let words = words(line).ok_or("A quotation mark is left open.")?;
        let Some((name, arguments)) = words.split_first() else { return Err("Empty line".into()) };
        let found = COMMANDS.iter().find(|(usage, _)| usage.split(' ').next() == Some(*name));
        let Some((usage, command)) = found else { return Err(format!("Unknown command: {name}")) };
        let words = Words { usage, all: arguments.to_vec() };
        // A mistake of galopvm in one command is told; the others still work.
        let done = catch_unwind(AssertUnwindSafe(|| command(self, &words, out)));
        done.unwrap_or_else(|_| Err("A mistake of galopvm: see standard error, and please report it.".into()))
    }

    /// The entry point of this name.
    pub fn entry(&self, name: &str) -> Answer<&EntryTypes> {
        let found = self.types.entries().iter().find(|entry| entry.name == name);
        found.ok_or_else(|| format!("Unknown entry point: {name}"))
    }

    /// The type of this name.
    pub fn named(&self, name: &str) -> Answer<Arc<Type>> {
        self.types.named(name).ok_or_else(|| format!("Unknown type: {name}"))
    }

    /// The variable of this name.
    pub fn variable(&self, name: &str) -> Answer<&Variable> {
        self.variables.get(name).ok_or_else(|| unknown(name))
    }

    /// The type and the value of a variable.
    pub fn value(&self, name: &str) -> Answer<(Arc<Type>, &[Value])> {
        let Variable { ty, parts } = self.variable(name)?;
        let parts = parts.as_deref().ok_or_else(|| format!("Variable was consumed by a call: {name}"))?;
        Ok((ty.clone(), parts))
    }

    /// The value of a variable of this type; `what` it is for, if it is another.
    pub fn value_of(&self, name: &str, ty: &Type, what: impl FnOnce() -> String) -> Answer<&[Value]> {
        let (found, parts) = self.value(name)?;
        if !ty.takes(&found) {
            return Err(format!("{} mismatch: expected type {}, got {}", what(), ty.name, found.name));
        }
        Ok(parts)
    }

    /// Refuses names that are taken, and names that come twice.
    pub fn vacant(&self, names: &[&str]) -> Answer {
        let taken = |k: usize| self.variables.contains_key(names[k]) || names[..k].contains(&names[k]);
        match (0..names.len()).find(|k| taken(*k)) {
            Some(k) => Err(format!("Variable already exists: {}", names[k])),
            None => Ok(()),
        }
    }

    /// Makes a variable, which must not be there.
    pub fn create(&mut self, name: &str, ty: Arc<Type>, parts: Vec<Value>) {
        self.variables.insert(name.into(), Variable { ty, parts: Some(parts) });
    }

    fn list_types(&mut self, _: &Words<'_>, out: &mut String) -> Answer {
        self.types.all().iter().for_each(|ty| put(out, &ty.name));
        Ok(())
    }

    fn entry_points(&mut self, _: &Words<'_>, out: &mut String) -> Answer {
        self.types.entries().iter().for_each(|entry| put(out, &entry.name));
        Ok(())
    }

    fn free(&mut self, words: &Words<'_>, _: &mut String) -> Answer {
        words.all.iter().try_for_each(|name| match self.variables.remove(*name) {
            Some(_) => Ok(()),
            None => Err(unknown(name)),
        })
    }

    fn rename(&mut self, words: &Words<'_>, _: &mut String) -> Answer {
        let (old, new) = (words.get(0)?, words.get(1)?);
        self.variable(old)?;
        self.vacant(&[new])?;
        if let Entry::Occupied(variable) = self.variables.entry(old.into()) {
            let variable = variable.remove();
            self.variables.insert(new.into(), variable);
        }
        Ok(())
    }

    fn inputs(&mut self, words: &Words<'_>, out: &mut String) -> Answer {
        let entry = self.entry(words.get(0)?)?;
        entry.params.iter().for_each(|(consumed, ty)| put(out, marked(*consumed, ty)));
        Ok(())
    }

    fn output(&mut self, words: &Words<'_>, out: &mut String) -> Answer {
        if self.generation == Generation::Legacy {
            return Err("Unknown command: output".into());
        }
        let entry = self.entry(words.get(0)?)?;
        put(out, marked(entry.results.iter().all(|(unique, _)| *unique), &entry.output));
        Ok(())
    }

    fn outputs(&mut self, words: &Words<'_>, out: &mut String) -> Answer {
        if self.generation == Generation::Current {
            return Err("Unknown command: outputs".into());
        }
        let entry = self.entry(words.get(0)?)?;
        entry.results.iter().for_each(|(unique, ty)| put(out, marked(*unique, ty)));
        Ok(())
    }

    /// Servers of the older generation only forget what they know of earlier calls, of which nothing can be seen.
    fn clear(&mut self, _: &Words<'_>, _: &mut String) -> Answer {
        if self.generation != Generation::Legacy {
            self.variables.clear();
        }
        Ok(())
    }

    fn kind(&mut self, words: &Words<'_>, out: &mut String) -> Answer {
        put(out, self.named(words.get(0)?)?.kind());
        Ok(())
    }

    fn type_of(&mut self, words: &Words<'_>, out: &mut String) -> Answer {
        put(out, &self.variable(words.get(0)?)?.ty.name);
        Ok(())
    }

    /// Figures of operators are kept in any case, and cost nothing that could be saved.
    fn keep_profiling(&mut self, _: &Words<'_>, _: &mut String) -> Answer {
        Ok(())
    }

    fn report(&mut self, _: &Words<'_>, out: &mut String) -> Answer {
        put(out, super::report::report(&self.session));
        Ok(())
    }

    fn set_tuning_param(&mut self, words: &Words<'_>, _: &mut String) -> Answer {
        let (name, text) = (words.get(0)?, words.get(1)?);
        let value = text.parse().map_err(|_| format!("Not a number: {text}"))?;
        self.session.set_param(name, value).map_err(|error| error.to_string())?;
        self.set.push((name.into(), value));
        Ok(())
    }

    fn tuning_params(&mut self, words: &Words<'_>, out: &mut String) -> Answer {
        self.entry(words.get(0)?)?;
        self.program.params().iter().for_each(|name| put(out, name));
        Ok(())
    }

    fn tuning_param_class(&mut self, words: &Words<'_>, out: &mut String) -> Answer {
        let name = words.get(0)?;
        if !self.program.params().contains(&name) {
            return Err(format!("Unknown tuning parameter: {name}"));
        }
        put(out, "user");
        Ok(())
    }

    fn attributes(&mut self, words: &Words<'_>, out: &mut String) -> Answer {
        let name = words.get(0)?;
        self.entry(name)?;
        self.attributes.get(name).into_iter().flatten().for_each(|attribute| put(out, attribute));
        Ok(())
    }
}

fn unknown(name: &str) -> String {
    format!("Unknown variable: {name}")
}

/// A type with the mark of uniqueness.
fn marked(unique: bool, ty: &Type) -> String {
    format!("{}{}", if unique { "*" } else { "" }, ty.name)
}
