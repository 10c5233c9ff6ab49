//! Options, and engines made of them.

use crate::boundary::{OutHandle, export, given, text};
use crate::status::Failure;
use galopvm::{BackendChoice, CpuMode, EngineBuilder};
use std::ffi::c_char;
use std::time::Duration;

/// Wishes for an engine.
#[derive(Default)]
pub struct Options(EngineBuilder);

/// An engine.
pub struct Engine(pub(crate) galopvm::Engine);

/// Bounds of calls; 0 is none. `galopvm_limits` of the header.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub struct Limits {
    /// Most bytes that the values of a session may take at one time, of memory that the library takes.
    pub memory: u64,
    /// Most operations that one call may execute in the interpreter.
    pub fuel: u64,
    /// Most milliseconds that one call may take.
    pub milliseconds: u64,
}

impl Limits {
    /// The limits as the engine has them.
    pub(crate) fn limits(self) -> galopvm::Limits {
        let some = |bound: u64| (bound > 0).then_some(bound);
        galopvm::Limits {
            memory: some(self.memory),
            fuel: some(self.fuel),
            timeout: some(self.milliseconds).map(Duration::from_millis),
            ..galopvm::Limits::default()
        }
    }
}

fn change(options: &mut Options, f: impl FnOnce(EngineBuilder) -> EngineBuilder) {
    options.0 = f(std::mem::take(&mut options.0));
}

/// The choice of this name, or the error that lists the names.
fn named<T: Copy + std::fmt::Display>(all: &[T], name: &str) -> Result<T, Failure> {
    all.iter().copied().find(|choice| choice.to_string() == name).ok_or_else(|| {
        let names: Vec<String> = all.iter().map(T::to_string).collect();
        Failure::argument(format!("`{name}` is not one of {}.", names.join(", ")))
    })
}

export! {
    /// Options for an engine: the usual ones.
    fn galopvm_options_new(out: OutHandle<'_, Options>) -> Status {
        given(out, "out")?.write(Some(Box::default()));
    }

    /// What executes parallel work, by the name that `galopvm run --backend` takes.
    fn galopvm_options_set_backend(options: Option<&mut Options>, name: *const c_char) -> Status {
        let choice = named(&BackendChoice::ALL, text(name, "name")?)?;
        change(given(options, "options")?, |builder| builder.backend(choice));
    }

    /// The greatest instruction set to use, by the name that `galopvm run --cpu` takes.
    fn galopvm_options_set_cpu(options: Option<&mut Options>, name: *const c_char) -> Status {
        let mode = named(&CpuMode::ALL, text(name, "name")?)?;
        change(given(options, "options")?, |builder| builder.cpu(mode));
    }

    /// Worker threads; 0 is one for each hardware thread.
    fn galopvm_options_set_threads(options: Option<&mut Options>, threads: usize) -> Status {
        let threads = if threads == 0 { std::thread::available_parallelism().map_or(1, usize::from) } else { threads };
        change(given(options, "options")?, |builder| builder.threads(threads));
    }

    /// Bounds of the calls in all sessions.
    fn galopvm_options_set_limits(options: Option<&mut Options>, limits: Option<&Limits>) -> Status {
        let limits = given(limits, "limits")?.limits();
        change(given(options, "options")?, |builder| builder.limits(limits));
    }

    /// Frees options.
    fn galopvm_options_free(options: Option<Box<Options>>) -> Status {
        drop(options);
    }

    /// An engine; with `NULL` for options it is the usual one.
    fn galopvm_engine_new(options: Option<&Options>, out: OutHandle<'_, Engine>) -> Status {
        let builder = options.map(|options| options.0.clone()).unwrap_or_default();
        given(out, "out")?.write(Some(Box::new(Engine(builder.build()))));
    }

    /// Frees an engine; sessions of it go on.
    fn galopvm_engine_free(engine: Option<Box<Engine>>) -> Status {
        drop(engine);
    }
}
