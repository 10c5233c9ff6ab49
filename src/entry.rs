//! Entry points whose arguments and results were checked against Rust's types once.

use crate::convert::{Arguments, Results};
use crate::error::Error;
use crate::program::Program;
use crate::session::Session;
use crate::types::{Type, without_sizes};
use galopvm_bytecode::EntryValue;
use std::fmt;
use std::marker::PhantomData;

/// An entry point that takes and gives values of these Rust types; made by [`Program::entry`]. References among the arguments live as
/// long as it is used.
pub struct TypedEntry<A, R> {
    name: String,
    types: PhantomData<fn(A) -> R>,
}

impl<A: Arguments, R: Results> TypedEntry<A, R> {
    /// The entry point of this name, or an error that says what does not fit.
    pub(crate) fn of(program: &Program, name: &str) -> Result<TypedEntry<A, R>, Error> {
        let Some(entry) = program.entries().iter().find(|entry| entry.name == name) else {
            let names: Vec<&str> = program.entries().iter().map(|entry| entry.name.as_str()).collect();
            return Err(Error::Type(format!(
                "There is no entry point `{name}`; there are {}.",
                names.join(", ")
            )));
        };
        let params = A::argument_types().map(|types| differs(&entry.params, &types, "parameter"));
        let results = differs(&entry.results, &R::result_types(), "result");
        match params.flatten().or(results) {
            Some(what) => Err(Error::Type(format!("`{name}` {what}"))),
            None => Ok(TypedEntry { name: name.to_string(), types: PhantomData }),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Calls it in a session of its program.
    pub fn call(&self, session: &mut Session, arguments: A) -> Result<R, Error> {
        session.call(&self.name, arguments)
    }
}

/// In what a program's parameters or results differ from types.
fn differs(written: &[EntryValue], types: &[Type], what: &str) -> Option<String> {
    if written.len() != types.len() {
        let count = |n: usize| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let all: Vec<String> = written.iter().map(|value| without_sizes(&value.ty)).collect();
        return Some(format!("has {} ({}), not {}.", count(written.len()), all.join(", "), types.len()));
    }
    let (k, (value, ty)) =
        written.iter().zip(types).enumerate().find(|(_, (value, ty))| !ty.is(&value.ty))?;
    let name = if value.name.is_empty() { String::new() } else { format!(" (`{}`)", value.name) };
    let written = without_sizes(&value.ty);
    Some(format!("has {written}{name} as {what} {}, where {ty} is wanted.", k + 1))
}

impl<A, R> Clone for TypedEntry<A, R> {
    fn clone(&self) -> TypedEntry<A, R> {
        TypedEntry { name: self.name.clone(), types: PhantomData }
    }
}

impl<A, R> fmt::Debug for TypedEntry<A, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TypedEntry").field(&self.name).finish()
    }
}
