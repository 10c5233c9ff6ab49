//! The engine: which back ends there are on this machine, and how sessions are to use them.

use crate::costs;
use crate::error::{Error, guarded};
use crate::machine;
use crate::program::Program;
use crate::session::Session;
use galopvm_analysis::layout::Costs;
use galopvm_base::threads;
use galopvm_gpu::{Gpu, Route, Traffic, Vulkan};
use galopvm_jit::{CpuMode, InstalledSink, X86Backend};
use galopvm_kir::{Backend, Machine, Reference};
use galopvm_runtime::{
    ExplainSink, KernelFigures, Kernels, LazyCosts, Limits, Memory, MomentSink, ShowSink, Switches, Tiering,
    TraceSink,
};
use galopvm_vector::Vector;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

macro_rules! choices {
    ($($variant:ident $name:literal $meaning:literal;)*) => {
        /// What executes parallel work; the first one, if nothing else is said.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        pub enum BackendChoice {
            #[default]
            $(#[doc = $meaning] $variant,)*
        }

        impl BackendChoice {
            /// Every choice.
            pub const ALL: [BackendChoice; [$($name),*].len()] = [$(BackendChoice::$variant),*];

            /// The word on the command line.
            pub const fn name(self) -> &'static str {
                match self {
                    $(BackendChoice::$variant => $name,)*
                }
            }
        }
    };
}

choices! {
    Auto "auto" "Machine code for work that is worth it, [`Vector`](BackendChoice::Vector) for what that refuses where it is faster than the interpreter, and the interpreter for the rest.";
    Interp "interp" "Only the interpreter.";
    Reference "reference" "The slow evaluator of kernels, for checking the others.";
    Vector "vector" "Kernels a group of rows at a time, on any processor, for all that can be.";
    X86 "x86" "x86-64 machine code for all that can be compiled.";
    Vulkan "vulkan" "Vulkan for all that can be compiled.";
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
#[derive(Clone, Default)]
struct Config {
    backend: BackendChoice,
    cpu: Option<CpuMode>,
    threads: Option<usize>,
    route: Route,
    switches: Switches,
    check: bool,
    costs: Option<Costs>,
    limits: Limits,
    trace: Option<TraceSink>,
    explain: Option<ExplainSink>,
    moments: Option<MomentSink>,
    installed: Option<InstalledSink>,
    shows: Option<ShowSink>,
    own: Option<Arc<dyn Backend>>,
}

/// Settings for a new engine.
///
/// What executes, on what, and how much calls may take:
///
/// ```
/// use galopvm::{BackendChoice, CpuMode, Engine, Error, Limits, Program, Route, Switches};
/// use std::time::Duration;
///
/// # fn main() -> Result<(), Error> {
/// let engine = Engine::builder()
///     .backend(BackendChoice::Interp)
///     .cpu(CpuMode::Avx2)
///     .threads(2)
///     .route(Route::default())
///     .switches(Switches { fusion: false, ..Switches::default() })
///     .memory_limit(1 << 20)
///     .fuel(1_000_000)
///     .timeout(Duration::from_secs(10))
///     .build();
/// assert_eq!(engine.limits().memory, Some(1 << 20));
///
/// let program = Program::from_source("fill.fut", "entry fill (n: i64) = map f64.i64 (iota n)")?;
/// let mut session = engine.session(&program);
/// assert_eq!(session.call::<Vec<f64>>("fill", (3i64,))?, [0.0, 1.0, 2.0]);
/// let error = session.call::<Vec<f64>>("fill", (1_000_000i64,)).unwrap_err();
/// assert!(error.to_string().contains("memory"), "{error}");
///
/// // Bounds can be changed for a session, and all be given at once; costs are what decisions count with.
/// session.set_limits(Limits::default());
/// assert_eq!(session.call::<Vec<f64>>("fill", (1_000_000i64,))?.len(), 1_000_000);
/// let same = Engine::builder().limits(engine.limits().clone()).costs(engine.costs().clone()).build();
/// assert_eq!(same.limits().fuel, Some(1_000_000));
/// # Ok(())
/// # }
/// ```
///
/// What listens to calls; `galopvm-profile` and `galopvm-explain` make texts for people of such events:
///
/// ```
/// use galopvm::{Engine, Error, Program};
/// use std::sync::{Arc, Mutex};
///
/// # fn main() -> Result<(), Error> {
/// #[derive(Default)]
/// struct Heard { events: usize, moments: usize, explained: usize, shown: Vec<String> }
/// let heard = Arc::new(Mutex::new(Heard::default()));
/// let change = |with: fn(&mut Heard)| {
///     let heard = heard.clone();
///     move || with(&mut heard.lock().unwrap())
/// };
/// let (event, moment, explained) =
///     (change(|h| h.events += 1), change(|h| h.moments += 1), change(|h| h.explained += 1));
/// let shown = heard.clone();
/// let engine = Engine::builder()
///     .trace(Arc::new(move |_| event()))
///     .moments(Arc::new(move |_| moment()))
///     .installed(Arc::new(|code| assert!(code.address > 0 && code.bytes > 0, "{}", code.name)))
///     .explain(Arc::new(move |_| explained()))
///     .shows(Arc::new(move |show| {
///         let mut text = Vec::new();
///         show.write_value(&mut text).unwrap();
///         shown.lock().unwrap().shown.push(String::from_utf8(text).unwrap());
///     }))
///     .build();
/// let program = Program::from_source("sum.fut", "entry sum [n] (xs: [n]i32) = i32.sum (map (* 2) (trace xs))")?;
/// assert_eq!(engine.session(&program).call::<i32>("sum", (vec![1, 2, 3],))?, 12);
/// let heard = heard.lock().unwrap();
/// assert!(heard.events > 0 && heard.moments > 0 && heard.explained > 0);
/// assert_eq!(heard.shown, ["[1, 2, 3]"]);
/// # Ok(())
/// # }
/// ```
///
/// Calls that are compared with a second execution:
///
/// ```
/// use galopvm::{Engine, Error, Program};
///
/// # fn main() -> Result<(), Error> {
/// let program = Program::from_source("sum.fut", "entry sum [n] (xs: [n]i32) = i32.sum (map (* 2) xs)")?;
/// let engine = Engine::builder().check(true).build();
/// let mut session = engine.session(&program);
/// assert_eq!(session.call::<i32>("sum", (vec![1, 2, 3],))?, 12);
/// assert!(engine.checks() && session.shadow_figures().is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
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

    /// What may be done to make programs faster; by default everything. Results are the same without.
    pub fn switches(mut self, switches: Switches) -> EngineBuilder {
        self.config.switches = switches;
        self
    }

    /// Whether every call is executed a second time, without any decision about memory and one instruction after the other,
    /// and every element that is read compared; by default not. A difference ends the call with an error of the kind
    /// [`Defect`](galopvm_runtime::ErrorKind::Defect). It takes about as long as the slow execution and as much memory again.
    pub fn check(mut self, check: bool) -> EngineBuilder {
        self.config.check = check;
        self
    }

    /// What decisions count with; by default what `galopvm doctor --calibrate` measured of this machine, or the usual.
    pub fn costs(mut self, costs: Costs) -> EngineBuilder {
        self.config.costs = Some(costs);
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

    /// Time that one call may take.
    pub fn timeout(mut self, time: Duration) -> EngineBuilder {
        self.config.limits.timeout = Some(time);
        self
    }

    /// All bounds of calls at once.
    pub fn limits(mut self, limits: Limits) -> EngineBuilder {
        self.config.limits = limits;
        self
    }

    /// Receives one event for everything that happens at parallel operators.
    pub fn trace(mut self, sink: TraceSink) -> EngineBuilder {
        self.config.trace = Some(sink);
        self
    }

    /// Receives what is found out about functions, loops and operators, and what is decided.
    pub fn explain(mut self, sink: ExplainSink) -> EngineBuilder {
        self.config.explain = Some(sink);
        self
    }

    /// Receives what calls are doing, as it begins and as it ends: with a clock, this is a profile. Nobody listening costs nothing;
    /// whoever does is called on the thread of the call, and is part of its time.
    pub fn moments(mut self, sink: MomentSink) -> EngineBuilder {
        self.config.moments = Some(sink);
        self
    }

    /// Receives all machine code that is made, with its place in memory and its name: what profilers of a system ask for. It is called on
    /// the thread that makes the code.
    pub fn installed(mut self, sink: InstalledSink) -> EngineBuilder {
        self.config.installed = Some(sink);
        self
    }

    /// Receives what programs show with `trace` and `break`; by default nobody does.
    pub fn shows(mut self, sink: ShowSink) -> EngineBuilder {
        self.config.shows = Some(sink);
        self
    }

    /// A code generator instead of the built-in ones, asked for all that can be compiled. For tools of this workspace: what it gets is of
    /// an inner crate, and not promised.
    #[doc(hidden)]
    pub fn own_backend(mut self, backend: Arc<dyn Backend>) -> EngineBuilder {
        self.config.own = Some(backend);
        self
    }

    /// The engine. Nothing is looked for and no thread started before it is needed.
    pub fn build(self) -> Engine {
        Engine(Arc::new(Inner {
            config: self.config,
            machine: OnceLock::new(),
            costs: OnceLock::new(),
            backends: OnceLock::new(),
            kernels: Kernels::default(),
            pool: OnceLock::new(),
        }))
    }
}

struct Inner {
    config: Config,
    machine: OnceLock<Machine>,
    costs: OnceLock<Costs>,
    backends: OnceLock<Backends>,
    /// What was compiled for any session.
    kernels: Kernels,
    pool: OnceLock<Option<Arc<rayon::ThreadPool>>>,
}

/// What was found when back ends were first needed.
#[derive(Default)]
struct Backends {
    usable: Vec<Arc<dyn Backend>>,
    /// Makes code at once.
    quick: Option<Arc<dyn Backend>>,
    notes: Vec<String>,
}

/// Configuration, machine, back ends and compiled kernels, shared by all sessions. Cheap to clone; usable from any thread.
///
/// ```
/// use galopvm::{BackendChoice, Engine, Memory, Program, Route};
///
/// # fn main() -> Result<(), galopvm::Error> {
/// let engine = Engine::new();
/// assert_eq!(engine.eval::<i64>("entry main = i64.sum (iota 10)")?, 45);
///
/// // What it is, and what it found.
/// assert_eq!((engine.backend(), engine.route()), (BackendChoice::Auto, Route::default()));
/// assert!(engine.switches().fusion && engine.machine().threads >= 1);
/// println!("code for {}, missing: {:?}", engine.cpu(), engine.notes());
///
/// // Sessions in one memory, whose figures are those of both. Kernels are compiled once for all sessions.
/// let program = Program::from_source("double.fut", "entry double [n] (xs: [n]f32) = map (* 2) xs")?;
/// let memory = Memory::default();
/// for _ in 0..2 {
///     let mut session = engine.session_in(&program, memory.clone());
///     let doubled: Vec<f32> = session.call("double", (vec![0.5f32; 1000],))?;
///     assert_eq!(doubled, vec![1.0; 1000]);
/// }
/// assert!(memory.stats().allocations >= 2);
/// println!("{} kernels compiled", engine.kernel_figures().compiled);
/// // Nothing moved to a GPU, as none was asked for.
/// assert!(engine.traffic().is_none());
/// # Ok(())
/// # }
/// ```
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

    /// What may be done to make programs faster.
    pub fn switches(&self) -> Switches {
        self.0.config.switches
    }

    /// Whether calls are executed a second time, to compare.
    pub fn checks(&self) -> bool {
        self.0.config.check
    }

    /// The limits of each session.
    pub fn limits(&self) -> &Limits {
        &self.0.config.limits
    }

    /// The machine that code is made for.
    pub fn machine(&self) -> &Machine {
        let config = &self.0.config;
        self.0.machine.get_or_init(|| {
            let greatest = X86Backend::greatest_mode();
            let mode = config.cpu.map_or(greatest, |wanted| wanted.min(greatest));
            machine::detect(mode.vectors(), config.threads)
        })
    }

    /// The instruction set that machine code is made for.
    pub fn cpu(&self) -> CpuMode {
        CpuMode::of(self.machine().vectors)
    }

    /// What decisions count with. The file of measured costs is read when this is first asked for.
    pub fn costs(&self) -> &Costs {
        let own = &self.0.config.costs;
        self.0.costs.get_or_init(|| own.clone().unwrap_or_else(|| costs::of(self.machine())))
    }

    /// The same for sessions, which may never ask.
    pub(crate) fn lazy_costs(&self) -> LazyCosts {
        let engine = self.clone();
        LazyCosts::new(move || engine.costs().clone())
    }

    /// What was asked for and is not to be had, with the reasons: the interpreter does that work.
    pub fn notes(&self) -> &[String] {
        &self.backends().notes
    }

    /// How much was compiled for the sessions of this engine, and how much they share: each kernel is compiled once for all that want
    /// the same one.
    pub fn kernel_figures(&self) -> KernelFigures {
        self.0.kernels.figures()
    }

    /// What moved between the host and the Vulkan device of the process, and what stayed; nothing if none was opened.
    pub fn traffic(&self) -> Option<Traffic> {
        Gpu::opened().map(Gpu::traffic)
    }

    fn backends(&self) -> &Backends {
        self.0.backends.get_or_init(|| self.find_backends())
    }

    fn find_backends(&self) -> Backends {
        let config = &self.0.config;
        let mut found = Backends::default();
        if !config.switches.jit {
            return found;
        }
        if let Some(own) = &config.own {
            found.usable.push(own.clone());
            return found;
        }
        let x86 = |options| Arc::new(X86Backend::new(options).telling(config.installed.clone()));
        match config.backend {
            BackendChoice::Interp => {}
            BackendChoice::Reference => found.usable.push(Arc::new(Reference)),
            BackendChoice::Auto => {
                if X86Backend::is_available() {
                    let options = galopvm_jit::Options { leaves_functions: true, ..Default::default() };
                    found.usable.push(x86(options));
                }
                found.usable.push(Arc::new(Vector { leaves_few_rows: true, leaves_loops: true }));
                if config.switches.quick {
                    found.quick = Some(Arc::new(Vector::default()));
                }
            }
            BackendChoice::Vector => {
                found.usable.push(Arc::new(Vector { leaves_loops: true, ..Vector::default() }))
            }
            BackendChoice::X86 if X86Backend::is_available() => {
                found.usable.push(x86(galopvm_jit::Options::default()))
            }
            BackendChoice::X86 => {
                found.notes.push("x86: this is not a Unix system on an x86-64 processor".into())
            }
            BackendChoice::Vulkan => {
                // Drivers are code of others: what goes wrong there only loses this back end.
                let made = guarded(|| Ok(Vulkan::new(config.route).map_err(|error| error.to_string())));
                match made.unwrap_or_else(|error| Err(error.to_string())) {
                    Ok(vulkan) => found.usable.push(Arc::new(vulkan)),
                    Err(error) => found.notes.push(format!("vulkan: {error}")),
                }
            }
        }
        if config.backend == BackendChoice::Vulkan && !config.route.is_built_in() {
            found.notes.push(format!("route {}: this build has no shaderc", config.route));
        }
        if let Some(wanted) = config.cpu.filter(|wanted| *wanted > self.cpu()) {
            found.notes.push(format!("cpu {wanted}: this processor offers {}", self.cpu()));
        }
        found
    }

    /// How sessions are to use the back ends.
    pub(crate) fn tiering(&self) -> Tiering {
        let config = &self.0.config;
        let Backends { usable: backends, quick, .. } = self.backends();
        let (backends, quick) = (backends.clone(), quick.clone());
        if backends.is_empty() {
            return Tiering::interpreter();
        }
        let always = config.own.is_some() || config.backend != BackendChoice::Auto;
        let (machine, kernels) = (self.machine().clone(), self.0.kernels.clone());
        Tiering { backends, quick, machine, always, kernels, ..Tiering::interpreter() }
    }

    /// Does `work` where parallel loops use as many threads as was asked for.
    pub(crate) fn with_threads<T>(&self, work: impl FnOnce() -> T) -> T {
        // One thread never divides its work, and without a wish the process's pool has the right size.
        let wanted = self.0.config.threads.filter(|n| *n > 1);
        let made = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok();
        match self.0.pool.get_or_init(|| wanted.and_then(made).map(Arc::new)) {
            Some(pool) => threads::with_pool(Some(pool.clone()), work),
            None => work(),
        }
    }

    pub(crate) fn trace(&self) -> Option<TraceSink> {
        self.0.config.trace.clone()
    }

    pub(crate) fn explain(&self) -> Option<ExplainSink> {
        self.0.config.explain.clone()
    }

    pub(crate) fn moments(&self) -> Option<MomentSink> {
        self.0.config.moments.clone()
    }

    pub(crate) fn shows(&self) -> Option<ShowSink> {
        self.0.config.shows.clone()
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
        let config = &self.0.config;
        f.debug_struct("Engine")
            .field("backend", &config.backend)
            .field("cpu", &config.cpu)
            .field("threads", &config.threads)
            .field("route", &config.route)
            .field("switches", &config.switches)
            .field("check", &config.check)
            .field("limits", &config.limits)
            .finish_non_exhaustive()
    }
}
