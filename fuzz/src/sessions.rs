//! Several calls of one session, with numbers, sizes, layouts and arrays that come again or change a little, against
//! sessions of their own in which everything is switched off.
//!
//! What is kept from call to call - plans with their numbers, answers about reuse, layouts, compiled versions - must fit the
//! call it is used for. Arrays that were given or returned before are still held, and must stay as they are. The session
//! checks itself, too: an execution that knows nothing of memory goes along with it and compares what is read.

use crate::author::{self, Elem, EntryPoint, Param};
use crate::case::{Outcome, is_limit};
use crate::clock::Clock;
use crate::given;
use crate::reduce;
use crate::scribe;
use galopvm_base::{ElemType, Scalar};
use galopvm_bytecode::{ValueType, VerifiedModule, verify};
use galopvm_gpu::{Gpu, GpuError, Route, Vulkan};
use galopvm_jit::{CpuMode, X86Backend};
use galopvm_kir::{Backend, Machine, Reference};
use galopvm_runtime::{
    Array, Costs, Coverage, ErrorKind, Kernels, LazyCosts, Limits, Memory, Options, RuntimeError, Session,
    ShowSink, Shown, Switch, Switches, Tiering, Value,
};
use galopvm_testkit::{Layout, Random};
use galopvm_vector::Vector;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// Operations of a call.
const FUEL: u64 = 50_000_000;

/// A call that takes longer is ended.
const LONGEST_CALL: Duration = Duration::from_secs(60);

/// One that was ended hangs if it kept the processor busy for so long: its fuel should have ended it. Otherwise the machine had
/// other things to do.
const LONGEST_BUSY: Duration = Duration::from_secs(30);

/// Bytes of values in a session.
const MEMORY: u64 = 256 << 20;

/// Extents of arrays.
const EXTENTS: [i64; 12] = [1, 1, 2, 3, 4, 5, 7, 8, 16, 20, 33, 300];

/// Extents now and then: of arrays without rows, or with nothing in them. Programs of `scribe/` make such arrays by themselves.
const THIN: [i64; 4] = [0, 0, 1, 3];

/// Extents of arrays that are large enough to be copied into other layouts when that pays; the programs of `scribe/` make
/// arrays of three such dimensions.
const LARGE: [i64; 2] = [100, 250];
const LARGE_FAR: [i64; 2] = [40, 60];

/// What an array argument is made of.
#[derive(Clone, PartialEq)]
pub struct Given {
    elem: Elem,
    shape: Vec<i64>,
    /// Decides the elements.
    seed: u64,
    /// No two elements are the same, as far as their type allows.
    distinct: bool,
    layout: Layout,
}

/// An argument.
#[derive(Clone, PartialEq)]
pub enum Arg {
    Made(Given),
    /// A result of an earlier call.
    Result(usize),
}

/// A call.
#[derive(Clone)]
pub struct Call {
    entry: String,
    numbers: (i64, i64, f64),
    arrays: Vec<Arg>,
    /// Which arrays are held by the caller as well, by argument.
    held: Vec<bool>,
    /// What is off from this call on, besides what is off in the whole session.
    pub without: Vec<Switch>,
}

/// Operations from which an operator is hot where not everything is compiled.
const SOON_HOT: u64 = 1 << 12;

/// Bytes of caches into which few small arrays fit, and of pages that few rows fit into.
const SMALL_L1: usize = 1 << 10;
const SMALL_L2: usize = 1 << 11;
const SMALL_PAGE: usize = 1 << 4;

/// Makes of a number that draws something one that draws what is said apart.
const APART: u64 = 0x61_7061_7274;

/// Who executes the session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Executor {
    /// The interpreter alone.
    Interpreter,
    /// Kernels by the reference evaluator.
    Reference,
    /// Kernels a group of rows at a time.
    Vector,
    /// Kernels by machine code.
    X86,
    /// By machine code with two threads, and a group of rows at a time where that is refused.
    Both,
    /// By code that is made at once, and by machine code what is hot.
    Tiers,
    /// Kernels through Vulkan.
    Vulkan(Device),
}

/// Which device Vulkan computes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Device {
    /// The process's.
    Own,
    /// The same, taken for one that rounds as it likes and loses subnormal numbers.
    Rough,
}

impl Executor {
    /// What tells how long a call takes: other threads than the caller's may be the ones that are busy.
    fn clock(self) -> Clock {
        match self {
            Executor::Interpreter | Executor::Reference | Executor::Vector => Clock::start(),
            Executor::X86 | Executor::Both | Executor::Tiers | Executor::Vulkan(_) => Clock::together(),
        }
    }
}

/// How a session is set up.
#[derive(Clone, Debug)]
pub struct Setting {
    pub executor: Executor,
    /// The greatest instruction set of machine code.
    pub cpu: CpuMode,
    /// Caches are so small that small arrays do not fit into them.
    pub small_caches: bool,
    /// What is hot is compiled on a thread of its own, and comes when it is ready: which calls that is says no number.
    pub background: bool,
    pub eager: bool,
    pub without: Vec<Switch>,
    /// What a call may spend, and the bytes that all values may take.
    pub fuel: u64,
    pub memory: u64,
    /// Whether the execution that checks goes along, round by round: code does loops around operators only without it.
    pub checks: bool,
}

/// A program, a way to execute it, and what is called: all that a finding needs.
#[derive(Clone)]
pub struct Script {
    pub programs: Programs,
    pub source: String,
    pub setting: Setting,
    pub calls: Vec<Call>,
}

/// The back end of Vulkan, if there is a driver: the error says why there is none.
pub fn vulkan(device: Device) -> Result<Arc<dyn Backend>, String> {
    type Made = Result<Arc<dyn Backend>, String>;
    static OWN: OnceLock<Made> = OnceLock::new();
    static ROUGH: OnceLock<Made> = OnceLock::new();
    let on = |gpu: Result<&'static Gpu, GpuError>| -> Made {
        let gpu = gpu.map_err(|why| why.to_string())?;
        Ok(Arc::new(Vulkan::on(gpu, Route::Direct)))
    };
    match device {
        Device::Own => OWN.get_or_init(|| on(Gpu::shared())).clone(),
        Device::Rough => ROUGH.get_or_init(|| on(Gpu::rough())).clone(),
    }
}

/// What all cases of a run have in common.
#[derive(Clone, Copy)]
pub struct Kind {
    pub programs: Programs,
    /// Every session runs on this device of Vulkan's, if there is one. All sessions of a process share code: it is one device for all.
    pub device: Option<Device>,
}

/// Whose programs are called.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Programs {
    /// Those of `author.rs`.
    Plain,
    /// Those of `scribe/`.
    Far,
    /// One program.
    Given(&'static author::Program),
}

impl Programs {
    fn write(self, random: &mut Random) -> author::Program {
        match self {
            Programs::Plain => author::program(random),
            Programs::Far => scribe::program(random),
            Programs::Given(program) => program.clone(),
        }
    }
}

/// The case for people.
pub fn shown(programs: Programs, number: u64) -> String {
    programs.write(&mut random_of(number)).source
}

fn random_of(number: u64) -> Random {
    Random::new(number.wrapping_mul(0x9e6c_63d0_876a_9a47).wrapping_add(7))
}

/// Carries out a case, and counts the decisions that it meets; one that goes wrong is made smaller.
pub fn run(Kind { programs, device }: Kind, number: u64, met: &Coverage) -> Outcome {
    let mut random = random_of(number);
    let program = programs.write(&mut random);
    let mut setting = Setting::of(&mut random);
    if let Some(device) = device {
        setting.executor = Executor::Vulkan(device);
        setting.without.retain(|switch| *switch != Switch::Jit);
    }
    let calls = if random.one_in(25) { 12 + random.below(30) } else { 4 + random.below(9) };
    let mut script = Script { programs, source: program.source, setting, calls: Vec::new() };
    let attempt = catch_unwind(AssertUnwindSafe(|| {
        let mut trial = match Trial::new(&script) {
            Ok(trial) => trial,
            Err(outcome) => return outcome,
        };
        for _ in 0..calls {
            let call = trial.next(&script.calls, &program.entries, &mut random);
            script.calls.push(call.clone());
            if let Err(what) = trial.call(&call) {
                return Outcome::Wrong(what);
            }
        }
        met.add_all(&trial.session.coverage());
        trial.finish()
    }));
    match attempt {
        Ok(Outcome::Wrong(what)) => told(&script, &what),
        Ok(outcome) => outcome,
        Err(_) => told(&script, "a panic"),
    }
}

/// A finding, with the smallest script that was found for it.
fn told(script: &Script, what: &str) -> Outcome {
    let (smallest, why) = reduce::reduce(script, what);
    Outcome::Wrong(format!("{why}\n{smallest}"))
}

/// What is wrong about a script; nothing if it is right, or cannot be carried out.
pub fn replay(script: &Script) -> Option<String> {
    let attempt = catch_unwind(AssertUnwindSafe(|| {
        let mut trial = Trial::new(script).ok()?;
        for call in &script.calls {
            if !trial.can(call) {
                return None;
            }
            if let Err(what) = trial.call(call) {
                return Some(what);
            }
        }
        match trial.finish() {
            Outcome::Wrong(what) => Some(what),
            _ => None,
        }
    }));
    attempt.unwrap_or_else(|_| Some("a panic".into()))
}

/// How many arrays each call of a script returns.
pub fn results_of_calls(script: &Script) -> Vec<usize> {
    let attempt = catch_unwind(AssertUnwindSafe(|| {
        let mut trial = Trial::new(script).ok()?;
        let mut gives = Vec::new();
        for call in &script.calls {
            let before = trial.returned.len();
            // What is wrong was found before.
            let _ = trial.can(call) && trial.call(call).is_ok();
            gives.push(trial.returned.len() - before);
        }
        Some(gives)
    }));
    attempt.ok().flatten().unwrap_or_else(|| vec![0; script.calls.len()])
}

/// What the sessions of the process share, as those of an engine do.
struct Shared {
    x86: Arc<dyn Backend>,
    vector: Arc<dyn Backend>,
    /// Leaves few rows, and loops, to others.
    few: Arc<dyn Backend>,
    reference: Arc<dyn Backend>,
    kernels: Kernels,
}

static SHARED: LazyLock<Shared> = LazyLock::new(|| Shared {
    x86: Arc::new(X86Backend::default()),
    vector: Arc::new(Vector::default()),
    few: Arc::new(Vector { leaves_few_rows: true, leaves_loops: true }),
    reference: Arc::new(Reference),
    kernels: Kernels::default(),
});

impl Setting {
    /// What a session is made with, drawn from numbers.
    pub fn of(random: &mut Random) -> Setting {
        let executor = random.below(6);
        let eager = !random.one_in(4);
        let without: Vec<Switch> = match random.below(3) {
            0 => vec![*random.pick(Switch::ALL)],
            1 => Switch::ALL.iter().copied().filter(|_| random.one_in(3)).collect(),
            _ => Vec::new(),
        };
        let executor = match (executor, 1 + random.below(2)) {
            (0, _) => Executor::Reference,
            (1, 1) if X86Backend::is_available() => Executor::X86,
            (1, _) if X86Backend::is_available() => Executor::Both,
            (2, 1) => Executor::Tiers,
            (2, _) => Executor::Vector,
            _ => Executor::Interpreter,
        };
        let fuel = if random.one_in(40) { 1 + random.below(20_000) as u64 } else { FUEL };
        let memory = if random.one_in(20) { (1 << 10) << random.below(10) } else { MEMORY };
        let checks = !random.one_in(4);
        // Drawn apart: what a number gives otherwise stays as it was.
        let mut apart = Random::new(random.clone().bits() ^ APART);
        let (small_caches, background) = (apart.one_in(2), apart.one_in(3));
        let cpu = match apart.one_in(2) {
            true => X86Backend::greatest_mode(),
            false => *apart.pick(&CpuMode::ALL),
        };
        Setting { executor, cpu, small_caches, background, eager, without, fuel, memory, checks }
    }

    /// Whether it may spend what most sessions may.
    pub fn has_usual_limits(&self) -> bool {
        (self.fuel, self.memory) == (FUEL, MEMORY)
    }

    /// The same with what most sessions may spend.
    pub fn with_usual_limits(self) -> Setting {
        Setting { fuel: FUEL, memory: MEMORY, ..self }
    }

    fn limits(&self) -> Limits {
        let timeout = Some(LONGEST_CALL);
        Limits { fuel: Some(self.fuel), memory: Some(self.memory), call_depth: 200, timeout }
    }

    /// The options of a session, which shows what its program shows to this sink.
    pub fn options(&self, shows: Option<ShowSink>) -> Options {
        let usual = Machine {
            thread_grain: 1,
            vectors: self.cpu.min(X86Backend::greatest_mode()).vectors(),
            ..Machine::default()
        };
        let (machine, costs) = match self.small_caches {
            true => {
                let machine = Machine {
                    l1_bytes: SMALL_L1,
                    l2_bytes: SMALL_L2,
                    page_bytes: SMALL_PAGE,
                    followed: 1,
                    ..usual
                };
                let costs = Costs::for_machine(&machine).into();
                (machine, costs)
            }
            false => (usual, LazyCosts::default()),
        };
        let compiled_by = |backends: Vec<Arc<dyn Backend>>, threads| Tiering {
            backends,
            machine: Machine { threads, ..machine.clone() },
            quick: None,
            threshold: 1,
            always: true,
            background: self.background,
            kernels: SHARED.kernels.clone(),
        };
        let Shared { x86, vector, few, reference, .. } = &*SHARED;
        let compiled = |backend: Arc<dyn Backend>| compiled_by(vec![backend], 1);
        let tiering = match self.executor {
            Executor::Interpreter => Tiering::interpreter(),
            Executor::Reference => compiled(reference.clone()),
            Executor::Vector => compiled(vector.clone()),
            Executor::X86 => compiled(x86.clone()),
            Executor::Both => compiled_by(vec![x86.clone(), few.clone()], 2),
            Executor::Tiers => {
                let quick = Some(vector.clone());
                let backends = if X86Backend::is_available() { vec![x86.clone()] } else { Vec::new() };
                Tiering { quick, threshold: SOON_HOT, always: false, ..compiled_by(backends, 1) }
            }
            Executor::Vulkan(device) => vulkan(device).map_or_else(|_| Tiering::interpreter(), compiled),
        };
        let switches = Switches::without(&self.without);
        let limits = self.limits();
        Options {
            limits,
            tiering,
            switches,
            shows,
            eager: self.eager,
            check: self.checks,
            costs,
            ..Options::default()
        }
    }
}

impl Script {
    /// The arrays that its calls return, one after the other, if it is right: how many each call gives.
    pub fn without_call(&self, k: usize, gives: &[usize]) -> Option<Script> {
        let (first, count) = (gives[..k].iter().sum::<usize>(), gives[k]);
        let mut smaller = self.clone();
        smaller.calls.remove(k);
        for arg in smaller.calls[k..].iter_mut().flat_map(|call| &mut call.arrays) {
            match arg {
                Arg::Result(number) if *number >= first + count => *number -= count,
                Arg::Result(number) if *number >= first => return None,
                _ => {}
            }
        }
        Some(smaller)
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Setting { executor, cpu, small_caches, background, eager, without, fuel, memory, checks } =
            &self.setting;
        write!(f, "{executor:?} {cpu}, eager {eager}, without {without:?}")?;
        if *small_caches {
            write!(f, ", small caches")?;
        }
        if *background {
            write!(f, ", in the background")?;
        }
        if !self.setting.has_usual_limits() {
            write!(f, ", {fuel} operations, {memory} bytes")?;
        }
        if !checks {
            write!(f, ", unchecked")?;
        }
        writeln!(f, ", calls:")?;
        for call in &self.calls {
            let (k, q, x) = call.numbers;
            write!(f, "  {} {k} {q} {x}", call.entry)?;
            for (arg, is_held) in call.arrays.iter().zip(&call.held) {
                match arg {
                    Arg::Made(given) => {
                        let Given { elem, shape, seed, layout, .. } = given;
                        write!(f, " {shape:?}{elem:?} {layout:?} #{seed:x}")?;
                    }
                    Arg::Result(k) => write!(f, " result {k}")?,
                }
                f.write_str(if *is_held { " held" } else { "" })?;
            }
            if !call.without.is_empty() {
                write!(f, " without {:?}", call.without)?;
            }
            writeln!(f)?;
        }
        write!(f, "{}", self.source)
    }
}

/// What a program shows while it runs.
#[derive(Clone, Default)]
struct Said(Arc<Mutex<Vec<u8>>>);

impl Said {
    fn sink(&self) -> ShowSink {
        let Said(said) = self.clone();
        Arc::new(move |shown: &Shown<'_>| {
            let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
            said.extend_from_slice(shown.label.as_bytes());
            said.extend_from_slice(b": ");
            shown.write_value(&mut *said).expect("a vector takes everything");
            said.push(b'\n');
        })
    }

    /// What was shown since it was last asked.
    fn take(&self) -> String {
        let said = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        String::from_utf8_lossy(&said).into_owned()
    }
}

/// A session that is being tried.
struct Trial {
    programs: Programs,
    setting: Setting,
    module: VerifiedModule,
    session: Session,
    memory: Memory,
    said: Said,
    last: Outcome,
    /// Arrays that were returned, with their texts then, and arrays that were given and are held.
    returned: Vec<(Value, String)>,
    held: Vec<(Value, String)>,
}

impl Trial {
    fn new(script: &Script) -> Result<Trial, Outcome> {
        let module = given::module(&script.source).map_err(Outcome::Refused)?;
        let module =
            verify(module).map_err(|e| Outcome::Wrong(format!("compiled code does not verify: {e}")))?;
        let said = Said::default();
        let session = Session::new(module.clone(), script.setting.options(Some(said.sink())));
        let memory = session.memory().clone();
        memory.set_budget(Some(MEMORY));
        if galopvm_guard::is_on() {
            memory.keep_apart();
        }
        Ok(Trial {
            programs: script.programs,
            setting: script.setting.clone(),
            module,
            session,
            memory,
            said,
            last: Outcome::Finished,
            returned: Vec::new(),
            held: Vec::new(),
        })
    }

    /// The session is over.
    fn finish(self) -> Outcome {
        for (value, text) in self.held.iter().chain(&self.returned) {
            let now = shown_value(value);
            if now != *text {
                return Outcome::Wrong(format!("an array that is held changed from\n{text}to\n{now}"));
            }
        }
        let Trial { session, memory, held, returned, last, .. } = self;
        drop((session, held, returned));
        match memory.stats().live_bytes {
            0 => last,
            live => Outcome::Wrong(format!("{live} bytes are in use after the session")),
        }
    }

    /// Whether a call has all its arguments.
    fn can(&self, call: &Call) -> bool {
        let Some(entry) = self.module.module().entry(&call.entry) else { return false };
        let function = &self.module.module().functions[entry.function];
        let arrays = function.params.iter().map(|param| function.regs[*param]).filter(|ty| !ty.is_scalar());
        let fits = |(arg, ty): (&Arg, ValueType)| match arg {
            Arg::Made(_) => true,
            Arg::Result(k) => self.returned.get(*k).is_some_and(|(value, _)| value.ty() == ty),
        };
        call.arrays.iter().zip(arrays).all(fits)
    }

    /// A call like an earlier one, or a new one.
    fn next(&self, calls: &[Call], entries: &[EntryPoint], random: &mut Random) -> Call {
        let mut call = self.like_earlier(calls, entries, random);
        let held = |arg: &Arg| matches!(arg, Arg::Made(_)) && random.one_in(2);
        call.held = call.arrays.iter().map(held).collect();
        if random.one_in(6) {
            call.without = Switch::ALL.iter().copied().filter(|_| random.one_in(4)).collect();
        }
        call
    }

    fn like_earlier(&self, calls: &[Call], entries: &[EntryPoint], random: &mut Random) -> Call {
        let earlier = (!calls.is_empty() && !random.one_in(4)).then(|| random.pick(calls).clone());
        let Some(mut call) = earlier else {
            let entry = &entries[random.below(entries.len())];
            let arrays = entry.params.iter().map(|param| self.array(*param, random)).collect();
            let numbers = (number(random), number(random), float(random));
            return Call {
                entry: entry.name.clone(),
                numbers,
                arrays,
                held: Vec::new(),
                without: Vec::new(),
            };
        };
        let Some(entry) = entries.iter().find(|entry| entry.name == call.entry) else { return call };
        match random.below(8) {
            0 => {}
            1 => call.numbers.0 = number(random),
            2 => call.numbers.1 = number(random),
            3 => call.numbers.2 = float(random),
            choice => {
                let k = random.below(call.arrays.len());
                let param = entry.params[k];
                match &mut call.arrays[k] {
                    Arg::Made(given) if choice == 4 => given.seed = random.bits(),
                    Arg::Made(given) if choice == 5 => given.layout = *random.pick(&Layout::ALL),
                    Arg::Made(given) if choice == 6 => {
                        let dim = random.below(given.shape.len());
                        given.shape[dim] = *random.pick(&EXTENTS);
                    }
                    other => *other = self.array(param, random),
                }
            }
        }
        call
    }

    fn array(&self, param: Param, random: &mut Random) -> Arg {
        let fits = |value: &Value| {
            value.as_array().is_some_and(|array| {
                array.elem() == param.elem.ty() && array.shape().len() == param.rank && array.elements() > 0
            })
        };
        let fitting: Vec<usize> = (0..self.returned.len()).filter(|k| fits(&self.returned[*k].0)).collect();
        if !fitting.is_empty() && random.one_in(3) {
            return Arg::Result(*random.pick(&fitting));
        }
        // Small ones if there are two extents.
        let extents = if param.rank == 1 { &EXTENTS[..] } else { &EXTENTS[..EXTENTS.len() - 2] };
        let large = if self.programs == Programs::Plain { &LARGE } else { &LARGE_FAR };
        let extents = match random.below(800) {
            0 => &large[..],
            1..50 if self.programs == Programs::Plain => &THIN[..],
            _ => extents,
        };
        let shape = (0..param.rank).map(|_| *random.pick(extents)).collect();
        let layout = if random.one_in(2) { Layout::Contiguous } else { *random.pick(&Layout::ALL) };
        Arg::Made(Given {
            elem: param.elem,
            shape,
            seed: random.bits(),
            distinct: self.programs != Programs::Plain,
            layout,
        })
    }

    fn call(&mut self, call: &Call) -> Result<(), String> {
        let (expected, expected_said) = {
            let limits = Limits { memory: Some(MEMORY), ..self.setting.limits() };
            let said = Said::default();
            let shows = Some(said.sink());
            let options = Options { limits, switches: Switches::OFF, shows, ..Options::default() };
            let mut plain = Session::new(self.module.clone(), options);
            let memory = plain.memory().clone();
            let mut args = scalars(call);
            for arg in &call.arrays {
                args.push(match arg {
                    Arg::Made(given) => {
                        value(&memory, &Given { layout: Layout::Contiguous, ..given.clone() })
                    }
                    // Views of arrays of another session are read only.
                    Arg::Result(k) => self.returned[*k].0.clone(),
                });
            }
            let clock = Clock::start();
            (outcome(&plain.call(&call.entry, args), &clock)?, said.take())
        };
        let mut args = scalars(call);
        for (arg, is_held) in call.arrays.iter().zip(&call.held) {
            let value = match arg {
                Arg::Made(given) => {
                    // The very array of before, too.
                    let value = value(&self.memory, given);
                    if *is_held {
                        self.held.push((value.clone(), shown_value(&value)));
                    }
                    value
                }
                Arg::Result(k) => self.returned[*k].0.clone(),
            };
            args.push(value);
        }
        let limits = self.setting.limits();
        if !self.setting.has_usual_limits() {
            let used = self.memory.stats().live_bytes;
            self.session.set_limits(Limits { memory: limits.memory.map(|room| room + used), ..limits });
        } else {
            // What ends by itself needs no fuel to end. Loops are code only where nobody counts their turns.
            let ends = !matches!(&expected, Err((kind, _)) if is_limit(*kind));
            self.session.set_limits(Limits { fuel: limits.fuel.filter(|_| !ends), ..limits });
        }
        let off = self.setting.without.iter().chain(&call.without).copied();
        self.session.set_switches(Switches::without(&off.collect::<Vec<_>>()));
        let clock = self.setting.executor.clock();
        let result = self.session.call(&call.entry, args);
        // Arguments and results that are held are no matter of the limit.
        self.memory.set_budget(Some(MEMORY));
        let found = outcome(&result, &clock)?;
        let found_said = self.said.take();
        if let Some(what) = self.session.violation() {
            return Err(format!("the checker refused a plan: {what}"));
        }
        match (&expected, &found) {
            (Err(kind), _) | (_, Err(kind)) if is_limit(kind.0) => {
                self.last = Outcome::Failed(kind.0);
                return Ok(());
            }
            (Ok(a), Ok(b)) if a == b => {}
            (Err((_, a)), Err((_, b))) if a == b => {}
            (a, b) => {
                let text = |outcome: &Result<String, (ErrorKind, String)>| match outcome {
                    Ok(text) => text.clone(),
                    Err((_, text)) => text.clone(),
                };
                return Err(format!("expected\n{}found\n{}", text(a), text(b)));
            }
        }
        if found_said != expected_said {
            return Err(format!("expected to be shown\n{expected_said}found\n{found_said}"));
        }
        let kind = found.err().map(|(kind, _)| kind);
        for value in result.into_iter().flatten().filter(|value| value.as_array().is_some()) {
            let text = shown_value(&value);
            self.returned.push((value, text));
        }
        self.last = kind.map_or(Outcome::Finished, Outcome::Failed);
        Ok(())
    }
}

/// The values as text, or the kind and the text of the error, of a call that this clock was started for.
pub fn outcome(
    result: &Result<Vec<Value>, RuntimeError>,
    clock: &Clock,
) -> Result<Result<String, (ErrorKind, String)>, String> {
    match result {
        Ok(values) => Ok(Ok(values.iter().map(shown_value).collect())),
        Err(error) if error.kind == ErrorKind::Timeout && clock.elapsed() >= LONGEST_BUSY => {
            Err("a call hangs".into())
        }
        Err(error) if error.kind == ErrorKind::Defect => Err(error.to_string()),
        Err(error) => Ok(Err((error.kind, error.to_string()))),
    }
}

fn shown_value(value: &Value) -> String {
    match value {
        Value::Array(array) => format!("{:?} {value}\n", array.shape()),
        Value::Scalar(_) => format!("{value}\n"),
    }
}

fn scalars(call: &Call) -> Vec<Value> {
    let (k, q, x) = call.numbers;
    vec![Value::Scalar(Scalar::i64(k)), Value::Scalar(Scalar::i64(q)), Value::Scalar(Scalar::f64(x))]
}

fn number(random: &mut Random) -> i64 {
    if random.one_in(6) { random.below(400) as i64 - 100 } else { random.below(12) as i64 }
}

fn float(random: &mut Random) -> f64 {
    if random.one_in(6) { random.below(4000) as f64 / 16.0 } else { random.below(12) as f64 }
}

fn value(memory: &Memory, given: &Given) -> Value {
    let elem = given.elem.ty();
    let (lmad, elements) = given.layout.view(&given.shape);
    let width = elem.bytes();
    let mut block = memory.block(elements as usize * width).expect("the budget is far away");
    let bytes = block.bytes_mut().expect("nobody else holds a fresh block");
    bytes.fill(0);
    let mut random = Random::new(given.seed);
    for (at, place) in lmad.places().enumerate() {
        let number = random.below(41) as i64 - 20;
        let number = if given.distinct && elem != ElemType::F16 { number + 41 * at as i64 } else { number };
        let scalar = if elem.is_float() {
            Scalar::from_f64(elem, number as f64 / 4.0)
        } else {
            Scalar::from_int(elem, number)
        };
        let at = place as usize * width;
        bytes[at..at + width].copy_from_slice(&scalar.bits.to_le_bytes()[..width]);
    }
    Value::Array(Array::from_block(block, elem, lmad).expect("the layout fits its block"))
}
