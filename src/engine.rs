//! The engine: which back ends there are on this machine, and how sessions are to use them.

use crate::error::Error;
use crate::machine;
use crate::program::Program;
use crate::session::Session;
use galopvm_gpu::Route;
use galopvm_kir::{CpuMode, Machine};
use galopvm_runtime::{Limits, Memory};
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};

/// What executes parallel work.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum BackendChoice {
    /// Machine code for work that is worth it, the interpreter for the rest.
    #[default]
    Auto,
    /// Only the interpreter.
    Interp,
    /// The slow evaluator of kernels, for checking the others.
    Reference,
    /// x86-64 machine code for all that can be compiled.
    X86,
    /// Vulkan for all that can be compiled.
    Vulkan,
}

impl BackendChoice {
    /// Every choice.
    pub const ALL: [BackendChoice; 5] = [
        BackendChoice::Auto,
        BackendChoice::Interp,
        BackendChoice::Reference,
        BackendChoice::X86,
        BackendChoice::Vulkan,
    ];

    /// The word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            BackendChoice::Auto => "auto",
            BackendChoice::Interp => "interp",
            BackendChoice::Reference => "reference",
            BackendChoice::X86 => "x86",
            BackendChoice::Vulkan => "vulkan",
        }
    }
}

impl fmt::Display for BackendChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for BackendChoice {
    type Err = ();

    fn from_str(text: &str) -> Result<BackendChoice, ()> {
        BackendChoice::ALL.into_iter().find(|b| b.name() == text).ok_or(())
    }
}

/// The wishes an engine is made from.
#[derive(Clone, Debug, Default)]
struct Config {
    backend: BackendChoice,
    cpu: Option<CpuMode>,
    threads: Option<usize>,
    route: Route,
    limits: Limits,
}

/// Settings for a new engine.
#[derive(Clone, Debug, Default)]
pub struct EngineBuilder {
    config: Config,
}

impl EngineBuilder {
    /// What executes parallel work; [`BackendChoice::Auto`] if nothing is said.
    pub fn backend(mut self, backend: BackendChoice) -> EngineBuilder {
        self.config.backend = backend;
        self
    }

    /// The greatest instruction set to use; by default all the processor has.
    pub fn cpu(mut self, cpu: CpuMode) -> EngineBuilder {
        self.config.cpu = Some(cpu);
        self
    }

    /// Worker threads; by default one for each hardware thread.
    pub fn threads(mut self, threads: usize) -> EngineBuilder {
        self.config.threads = Some(threads);
        self
    }

    /// How kernels become SPIR-V.
    pub fn route(mut self, route: Route) -> EngineBuilder {
        self.config.route = route;
        self
    }

    /// Most bytes that the values of one session may take at one time.
    pub fn memory_limit(mut self, bytes: u64) -> EngineBuilder {
        self.config.limits.memory = Some(bytes);
        self
    }

    /// Most operations that one call may execute in the interpreter.
    pub fn fuel(mut self, operations: u64) -> EngineBuilder {
        self.config.limits.fuel = Some(operations);
        self
    }

    /// The engine. Nothing is looked for and no thread started before it is needed.
    pub fn build(self) -> Engine {
        Engine(Arc::new(Inner { config: self.config, machine: OnceLock::new() }))
    }
}

struct Inner {
    config: Config,
    machine: OnceLock<Machine>,
}

/// Configuration, machine and back ends, shared by all sessions. Cheap to clone; usable from any thread.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

impl Default for Engine {
    fn default() -> Engine {
        Engine::builder().build()
    }
}

impl Engine {
    /// An engine with the usual settings.
    pub fn new() -> Engine {
        Engine::default()
    }

    /// Settings for an engine.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// What executes parallel work.
    pub fn backend(&self) -> BackendChoice {
        self.0.config.backend
    }

    /// How kernels become SPIR-V.
    pub fn route(&self) -> Route {
        self.0.config.route
    }

    /// The limits of each session.
    pub fn limits(&self) -> &Limits {
        &self.0.config.limits
    }

    /// The machine that code is made for.
    pub fn machine(&self) -> &Machine {
        self.0.machine.get_or_init(|| machine::detect(CpuMode::Scalar, self.0.config.threads))
    }

    /// A session in which the entry points of a program can be called.
    pub fn session(&self, program: &Program) -> Session {
        Session::new(self, program, Memory::default())
    }

    /// A session whose values live in `memory`, so that several sessions can share values.
    pub fn session_in(&self, program: &Program, memory: Memory) -> Session {
        Session::new(self, program, memory)
    }

    /// Compiles `text` and calls its entry point `main` once without arguments.
    pub fn eval<R: crate::Results>(&self, text: &str) -> Result<R, Error> {
        let program = Program::from_source("<text>", text)?;
        self.session(&program).call("main", ())
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Engine").field(&self.0.config).finish()
    }
}
