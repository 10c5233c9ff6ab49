//! Calls of entry points, and values from and to files.

use super::Generation;
use super::state::{Answer, Server, Words, put};
use crate::failure;
use crate::values::Type;
use crate::values::parts::{fields, leaves, stored};
use galopvm::data::{self, Input, Reader};
use galopvm::{Error, Value};
use galopvm_base::system_message;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

impl Server {
    /// `call ENTRY RESULT ARGUMENT..`; before the current generation a variable for each component of the result.
    pub fn call(&mut self, words: &Words<'_>, out: &mut String) -> Answer {
        let name = words.get(0)?;
        let entry = self.entry(name)?;
        let (taken, given) = (entry.params.len(), words.from(1));
        let apart = match self.generation {
            Generation::Current => false,
            Generation::Legacy => true,
            Generation::Both => given.len() != 1 + taken && given.len() == entry.results.len() + taken,
        };
        let outputs: Vec<Arc<Type>> = match apart {
            true => entry.results.iter().map(|(_, ty)| ty.clone()).collect(),
            false => vec![entry.output.clone()],
        };
        if given.len() != outputs.len() + taken {
            let (wanted, given) = (outputs.len() + taken, given.len());
            return Err(format!(
                "`{name}` has {} and takes {taken} arguments: {wanted} variables are wanted, not {given}.",
                if outputs.len() == 1 { "1 result".into() } else { format!("{} results", outputs.len()) }
            ));
        }
        let (results, arguments) = given.split_at(outputs.len());
        let mut values = Vec::new();
        for (argument, (_, ty)) in arguments.iter().zip(&entry.params) {
            let (found, parts) = self.value(argument)?;
            if !ty.takes(&found) {
                return Err(format!("Wrong input type.  Expected {}, got {}.", ty.name, found.name));
            }
            values.extend_from_slice(parts);
        }
        self.vacant(results)?;
        let consumed: Vec<&str> =
            arguments.iter().zip(&entry.params).filter(|(_, (unique, _))| *unique).map(|(a, _)| *a).collect();
        for name in consumed {
            // The call then has the only hold of the value, and may write over it.
            if let Some(variable) = self.variables.get_mut(name) {
                variable.parts = None;
            }
        }
        let found = self.timed(name, values, out)?;
        for ((name, ty), parts) in results.iter().zip(&outputs).zip(fields(outputs.iter().cloned(), &found)) {
            self.create(name, ty.clone(), parts.to_vec());
        }
        Ok(())
    }

    /// Calls, and adds the line that tells the time, also of calls that fail.
    fn timed(&mut self, entry: &str, values: Vec<Value>, out: &mut String) -> Answer<Vec<Value>> {
        let flag = self.session.interrupt_flag();
        flag.store(false, Ordering::Relaxed);
        self.interrupts.running(Some(flag.clone()));
        let start = Instant::now();
        let outcome = self.session.call_values(entry, values);
        let time = start.elapsed();
        self.interrupts.running(None);
        flag.store(false, Ordering::Relaxed);
        put(out, format_args!("runtime: {}", time.as_micros()));
        if let Err(Error::Internal(_)) = outcome {
            // Nothing is known of the session any more; values are whole.
            let memory = self.session.memory().clone();
            self.session = self.engine.session_in(&self.program, memory);
            for (name, value) in &self.set {
                let _ = self.session.set_param(name, *value);
            }
        }
        outcome.map_err(|error| failure::message(&error))
    }

    /// `restore FILE [VARIABLE TYPE]..`: all of the variables, or none.
    pub fn restore(&mut self, words: &Words<'_>, _: &mut String) -> Answer {
        let path = words.get(0)?;
        let given = words.from(1);
        let names: Vec<&str> = given.iter().step_by(2).copied().collect();
        self.vacant(&names)?;
        if given.len() % 2 == 1 {
            words.get(1 + given.len())?;
        }
        let types: Answer<Vec<Arc<Type>>> =
            given.iter().skip(1).step_by(2).map(|ty| self.named(ty)).collect();
        let types = types?;
        let memory = self.session.memory().clone();
        // The file may be written again while its values are in use, so it is not mapped.
        let input = File::open(path).and_then(|mut file| {
            let expected = file.metadata().map_or(0, |meta| meta.len());
            Input::read(&memory, &mut file, usize::try_from(expected).unwrap_or(0))
        });
        let input = input.map_err(|error| format!("Failed to open {path}: {}", system_message(&error)))?;
        let mut reader = Reader::of_input(&memory, &input);
        let mut values = Vec::new();
        for (name, ty) in names.iter().zip(&types) {
            let failed = |what: String| {
                format!("Failed to restore variable {name}.\nPossibly malformed data in {path}: {what}")
            };
            let mut parts = Vec::new();
            for (part, is_kept) in leaves(ty) {
                let value = reader.value(Some(part)).map_err(|error| failed(error.to_string()))?;
                let value = value.ok_or_else(|| failed("the file ends too early".into()))?;
                parts.extend(Some(value).filter(|_| is_kept));
            }
            values.push(parts);
        }
        reader.end().map_err(|error| {
            format!("Expected EOF after reading {} values from {path}: {error}", names.len())
        })?;
        for ((name, ty), parts) in names.iter().zip(types).zip(values) {
            self.create(name, ty, parts);
        }
        Ok(())
    }

    /// `store FILE VARIABLE..`
    pub fn store(&mut self, words: &Words<'_>, _: &mut String) -> Answer {
        let path = words.get(0)?;
        let stored = |name: &&str| self.value(name).map(|(ty, parts)| stored(&ty, parts));
        let values: Answer<Vec<Vec<Value>>> = words.from(1).iter().map(stored).collect();
        write_values(Path::new(path), values?.concat().as_slice())
            .map_err(|error| format!("Failed to write {path}: {}", system_message(&error)))
    }
}

/// Writes values to a file, in the binary format.
pub fn write_values(path: &Path, values: &[Value]) -> std::io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, File::create(path)?);
    values.iter().try_for_each(|value| data::write_binary(&mut out, value))?;
    out.flush()
}
