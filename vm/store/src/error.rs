//! What goes wrong while a program runs.
//!
//! A [`Trap`] is what happened; a [`RuntimeError`] is a trap with the stack of call sites that led there.

use crate::memory::OutOfMemory;
use galopvm_base::Pos;
use galopvm_bytecode::Place;
use std::fmt;

/// Entries of a long back trace that are shown of either end.
const SHOWN: usize = 10;

/// The kind of a run-time error, for those who act on it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ErrorKind {
    /// The program did something undefined: an index outside its array, a division by zero, a failed assertion, ..
    Program,
    /// The caller gave arguments that do not fit the entry point, or asked for one that does not exist.
    Usage,
    /// There is no memory, or the limit is reached.
    OutOfMemory,
    /// The fuel is used up.
    OutOfFuel,
    /// Calls are nested too deeply.
    CallDepth,
    /// The interrupt flag was set.
    Interrupted,
    /// The time is used up.
    Timeout,
    /// Elements are gone: a file that arguments lie in became shorter meanwhile, or a device was lost.
    Input,
    /// A check of the machine found that it is wrong.
    Defect,
}

/// What happened, without the place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trap {
    /// The kind.
    pub kind: ErrorKind,
    /// The message.
    pub message: String,
}

impl Trap {
    /// An error of the program.
    pub fn new(message: impl Into<String>) -> Trap {
        Trap { kind: ErrorKind::Program, message: message.into() }
    }

    /// An error of another kind.
    pub fn of_kind(kind: ErrorKind, message: impl Into<String>) -> Trap {
        Trap { kind, message: message.into() }
    }
}

impl From<OutOfMemory> for Trap {
    fn from(error: OutOfMemory) -> Trap {
        Trap::of_kind(ErrorKind::OutOfMemory, error.to_string())
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Trap {}

/// One entry of a back trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallSite {
    /// The function in which the place lies.
    pub function: String,
    /// The source file, if the program still has its source map.
    pub file: Option<String>,
    /// The place, if the program still has its source map.
    pub place: Option<Place>,
}

/// As Futhark writes it: the last column is the one after the place.
impl fmt::Display for CallSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let after = |end: Pos| end.column.saturating_add(1);
        match (&self.file, self.place) {
            (Some(file), Some(Place { start, end, .. })) if start.line == end.line => {
                write!(f, "{file}:{}:{}-{}", start.line, start.column, after(end))
            }
            (Some(file), Some(Place { start, end, .. })) => {
                write!(f, "{file}:{}:{}-{}:{}", start.line, start.column, end.line, after(end))
            }
            _ => write!(f, "{}", self.function),
        }
    }
}

/// A row of a parallel operator that could not be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FailedRow {
    /// Its number, from 0.
    pub number: i64,
    /// The operator; none until whoever executes it has said which it is.
    pub operator: Option<CallSite>,
}

/// A run-time error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuntimeError {
    /// The kind.
    pub kind: ErrorKind,
    /// What happened.
    pub message: String,
    /// Where, innermost first; empty if no code was running.
    pub trace: Vec<CallSite>,
    /// In which rows of the operators around that place, innermost first.
    pub rows: Vec<FailedRow>,
}

impl RuntimeError {
    /// An error that happened before any code ran.
    pub fn usage(message: impl Into<String>) -> RuntimeError {
        Trap::of_kind(ErrorKind::Usage, message).into()
    }
}

/// The error, which happened in this row of an operator.
pub fn in_row(mut error: Box<RuntimeError>, number: i64) -> Box<RuntimeError> {
    if error.kind == ErrorKind::Program {
        error.rows.push(FailedRow { number, operator: None });
    }
    error
}

/// The error, whose row was counted from this one on.
pub fn in_rows_from(mut error: Box<RuntimeError>, first: i64) -> Box<RuntimeError> {
    if let Some(row) = open_row(&mut error) {
        row.number += first;
    }
    error
}

/// The row whose operator is not known yet.
pub fn open_row(error: &mut RuntimeError) -> Option<&mut FailedRow> {
    error.rows.last_mut().filter(|row| row.operator.is_none())
}

impl From<Trap> for RuntimeError {
    fn from(trap: Trap) -> RuntimeError {
        RuntimeError { kind: trap.kind, message: trap.message, trace: Vec::new(), rows: Vec::new() }
    }
}

/// The message, the back trace as Futhark's programs print it, and the rows of operators.
impl fmt::Display for RuntimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if !self.trace.is_empty() {
            f.write_str("\n\nBacktrace:")?;
        }
        let left_out = self.trace.len().saturating_sub(2 * SHOWN);
        for (k, site) in self.trace.iter().enumerate() {
            if left_out > 0 && (SHOWN..SHOWN + left_out).contains(&k) {
                if k == SHOWN {
                    write!(f, "\n   ... {left_out} calls ...")?;
                }
                continue;
            }
            write!(f, "\n{}#{k:<2} {site}", if k == 0 { "-> " } else { "   " })?;
        }
        let rows = self.rows.iter().filter_map(|row| Some((row.number, row.operator.as_ref()?)));
        for (k, (number, operator)) in rows.take(SHOWN).enumerate() {
            let begin = if k == 0 { "\n\n" } else { "\n" };
            let word = if operator.place.is_some() { "at" } else { "in" };
            write!(f, "{begin}At element {number} of the operator {word} {operator}")?;
        }
        Ok(())
    }
}

impl std::error::Error for RuntimeError {}

impl From<Trap> for Box<RuntimeError> {
    fn from(trap: Trap) -> Box<RuntimeError> {
        Box::new(trap.into())
    }
}

impl From<OutOfMemory> for Box<RuntimeError> {
    fn from(error: OutOfMemory) -> Box<RuntimeError> {
        Trap::from(error).into()
    }
}
