//! Sessions: calls, their limits, and how they are ended from elsewhere.

use crate::boundary::{Out, OutHandle, export, given, places, taken, text, values};
use crate::engine::{Engine, Limits};
use crate::program::Program;
use crate::status::{Failure, Status};
use crate::value::Value;
use galopvm::EntryValue;
use smallvec::SmallVec;
use std::borrow::Borrow;
use std::ffi::c_char;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

/// A session. C may use it from several threads by mistake: the second one is told.
pub struct Session {
    session: Mutex<galopvm::Session>,
    program: galopvm::Program,
    memory: galopvm::Memory,
    cancelled: Arc<AtomicBool>,
}

/// What ends calls: all of a session, or those that it was set for.
pub struct Canceller(Arc<AtomicBool>);

/// Figures of a session's memory. `galopvm_memory` of the header.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Blocks that the library took for values.
    pub blocks: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Bytes of values now.
    pub live: u64,
    /// Most bytes of values at one time.
    pub peak: u64,
    /// Bytes held now: of values, and kept for others.
    pub held: u64,
    /// Bytes of elements that were copied.
    pub copied: u64,
}

impl Session {
    fn lock(&self) -> Result<MutexGuard<'_, galopvm::Session>, Failure> {
        match self.session.try_lock() {
            Ok(session) => Ok(session),
            // A session that a panic went through says itself that it takes no more calls.
            Err(TryLockError::Poisoned(session)) => Ok(session.into_inner()),
            Err(TryLockError::WouldBlock) => Err(Failure {
                status: Status::Busy,
                message: "Another thread is using this session; each thread needs one of its own.".into(),
            }),
        }
    }

    pub(crate) fn memory(&self) -> &galopvm::Memory {
        &self.memory
    }

    /// Calls an entry point, and puts a handle for each result where C wants it. `arguments` are looked at before `parts` takes those
    /// of each, in order.
    fn call<A: Borrow<Value>, P: IntoIterator<Item = galopvm::Value>>(
        &self,
        entry: &str,
        arguments: SmallVec<[A; 4]>,
        parts: impl Fn(A) -> P,
        results: &mut [MaybeUninit<Option<Box<Value>>>],
    ) -> Result<(), Failure> {
        let mut session = self.lock()?;
        let Some(entry) = self.program.entries().iter().find(|e| e.name == entry) else {
            // The error says which there are.
            return Ok(session.entry(entry).map(drop)?);
        };
        if arguments.len() != entry.params.len() || results.len() != entry.results.len() {
            return Err(Failure::argument(format!(
                "`{}` takes {} arguments and gives {} results, not {} and {}.",
                entry.name,
                entry.params.len(),
                entry.results.len(),
                arguments.len(),
                results.len()
            )));
        }
        for (number, (argument, param)) in arguments.iter().zip(&entry.params).enumerate() {
            argument.borrow().check_parts(number, param)?;
        }
        let count = arguments.iter().map(|argument| argument.borrow().values().len()).sum();
        let mut flat = Vec::with_capacity(count);
        arguments.into_iter().for_each(|argument| flat.extend(parts(argument)));
        let mut values = session.call_values(&entry.name, flat)?.into_iter();
        for (place, EntryValue { values: count, .. }) in results.iter_mut().zip(&entry.results) {
            place.write(Some(Value::handle(values.by_ref().take(*count as usize))));
        }
        Ok(())
    }
}

export! {
    /// A session: a program with memory of its own, in which entry points are called.
    fn galopvm_session_new(engine: Option<&Engine>, program: Option<&Program>, out: OutHandle<'_, Session>) -> Status {
        let (engine, program) = (given(engine, "engine")?, given(program, "program")?);
        let out = given(out, "out")?;
        let session = engine.0.session(&program.program);
        let (memory, cancelled) = (session.memory().clone(), session.interrupt_flag());
        let program = program.program.clone();
        out.write(Some(Box::new(Session { session: Mutex::new(session), program, memory, cancelled })));
    }

    /// Calls an entry point. The arguments stay the caller's, so one that is consumed is copied first. Results are new handles.
    fn galopvm_session_call(
        session: Option<&Session>,
        entry: *const c_char,
        arguments: *const Option<&Value>,
        argument_count: usize,
        results: *mut Option<Box<Value>>,
        result_count: usize,
    ) -> Status {
        let session = given(session, "session")?;
        let arguments = values(arguments, argument_count, "arguments")?.iter();
        let arguments: SmallVec<[&Value; 4]> =
            arguments.map(|argument| given(*argument, "arguments")).collect::<Result<_, _>>()?;
        let results = places(results, result_count, "results")?;
        session.call(text(entry, "entry")?, arguments, |argument| argument.values().iter().cloned(), results)?;
    }

    /// Calls an entry point with arguments that the caller gives up: they are freed, whatever happens, and their handles
    /// set to `NULL`. What is consumed of them is written in place, if nobody else holds it.
    fn galopvm_session_call_giving(
        session: Option<&Session>,
        entry: *const c_char,
        arguments: *mut Option<Box<Value>>,
        argument_count: usize,
        results: *mut Option<Box<Value>>,
        result_count: usize,
    ) -> Status {
        let arguments = taken(places(arguments, argument_count, "arguments")?);
        let session = given(session, "session")?;
        let arguments: SmallVec<[Box<Value>; 4]> =
            arguments.into_iter().map(|argument| given(argument, "arguments")).collect::<Result<_, _>>()?;
        let results = places(results, result_count, "results")?;
        session.call(text(entry, "entry")?, arguments, |argument| argument.into_values(), results)?;
    }

    /// Changes the bounds of further calls.
    fn galopvm_session_set_limits(session: Option<&Session>, limits: Option<&Limits>) -> Status {
        let limits = given(limits, "limits")?.limits();
        given(session, "session")?.lock()?.set_limits(limits);
    }

    /// Gives a tuning parameter of the program a value for further calls.
    fn galopvm_session_set_param(session: Option<&Session>, name: *const c_char, value: i64) -> Status {
        given(session, "session")?.lock()?.set_param(text(name, "name")?, value)?;
    }

    /// Figures of the session's memory; may be asked from any thread.
    fn galopvm_session_memory(session: Option<&Session>, out: Out<'_, Memory>) -> Status {
        let stats = given(session, "session")?.memory.stats();
        given(out, "out")?.write(Memory {
            blocks: stats.allocations,
            bytes: stats.allocated_bytes,
            live: stats.live_bytes,
            peak: stats.peak_bytes,
            held: stats.held_bytes,
            copied: stats.copied_bytes.iter().sum(),
        });
    }

    /// Frees a session; its values go on.
    fn galopvm_session_free(session: Option<Box<Session>>) -> Status {
        drop(session);
    }

    /// What ends the calls of a session, from any thread, also after the session; without a session, those that it is set for.
    fn galopvm_canceller_new(session: Option<&Session>, out: OutHandle<'_, Canceller>) -> Status {
        let cancelled = session.map(|session| session.cancelled.clone()).unwrap_or_default();
        given(out, "out")?.write(Some(Box::new(Canceller(cancelled))));
    }

    /// From the next call on a session's calls are ended by this canceller, too; `NULL` takes it away.
    fn galopvm_session_set_canceller(session: Option<&Session>, canceller: Option<&Canceller>) -> Status {
        let canceller = canceller.map(|canceller| galopvm::Canceller::from(canceller.0.clone()));
        given(session, "session")?.lock()?.set_cancellers(&canceller);
    }

    /// Ends the running call, and any further one, with `GALOPVM_CANCELLED`, until it is taken back.
    fn galopvm_cancel(canceller: Option<&Canceller>) -> Status {
        given(canceller, "canceller")?.0.store(true, Ordering::Relaxed);
    }

    /// Takes a cancellation back.
    fn galopvm_cancel_reset(canceller: Option<&Canceller>) -> Status {
        given(canceller, "canceller")?.0.store(false, Ordering::Relaxed);
    }

    /// Frees a canceller.
    fn galopvm_canceller_free(canceller: Option<Box<Canceller>>) -> Status {
        drop(canceller);
    }
}
