//! Options that several commands have: what is called, the back end, bounds.

use crate::deadline::Bounds;
use crate::failure::Failure;
use crate::given::Inputs;
use crate::perf_map;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args};
use galopvm::{BackendChoice, Compiling, CpuMode, Engine, Imports, Program, Route, Switch, Switches};
use galopvm_explain::Target;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// A parser for a word of a closed list, which help and complaints show.
fn word<T: FromStr + Clone + Send + Sync + 'static>(
    names: Vec<&'static str>,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(names).try_map(|text| T::from_str(&text).map_err(|_| "unknown word"))
}

/// Parses the word of a backend.
pub fn backend() -> impl TypedValueParser<Value = BackendChoice> {
    word(BackendChoice::ALL.map(BackendChoice::name).to_vec())
}

/// The back ends of Futhark's compiler. Tools that name one mean how programs are to be executed at all.
const FUTHARKS: [&str; 10] =
    ["c", "multicore", "opencl", "cuda", "hip", "ispc", "wasm", "wasm-multicore", "python", "pyopencl"];

/// Lets an option for the back end take Futhark's names as well, which leave the choice to galopvm.
pub fn takes_futharks(option: Arg) -> Arg {
    let own = BackendChoice::ALL.map(|backend| PossibleValue::new(backend.name()));
    let futharks = FUTHARKS.map(|name| PossibleValue::new(name).hide(true));
    option.value_parser(PossibleValuesParser::new(own.into_iter().chain(futharks)).try_map(|text| {
        let choice =
            if FUTHARKS.contains(&text.as_str()) { Ok(BackendChoice::default()) } else { text.parse() };
        choice.map_err(|()| "unknown word")
    }))
}

/// Parses the word of a cpu.
pub fn cpu() -> impl TypedValueParser<Value = CpuMode> {
    word(CpuMode::ALL.map(CpuMode::name).to_vec())
}

/// Parses the word of a route.
pub fn route() -> impl TypedValueParser<Value = Route> {
    word(Route::ALL.map(Route::name).to_vec())
}

/// Parses the word of what prices are for.
pub fn target() -> impl TypedValueParser<Value = Target> {
    let named = |text: String| Target::ALL.into_iter().find(|target| target.name() == text);
    PossibleValuesParser::new(Target::ALL.map(Target::name))
        .try_map(move |text| named(text).ok_or("unknown word"))
}

/// Parses the word of a switch; help shows what each does.
fn switch() -> impl TypedValueParser<Value = Switch> {
    let known = Switch::ALL.iter().map(|switch| PossibleValue::new(switch.name()).help(switch.meaning()));
    PossibleValuesParser::new(known).try_map(|text| Switch::from_str(&text).map_err(|()| "unknown word"))
}

/// What is called, and with which values.
#[derive(Args)]
pub struct Called {
    /// The program: Futhark source, a .gbc file, or - for source on standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The entry point to call [default: main, or the only one]
    #[arg(short, long, visible_alias = "entry-point", value_name = "NAME")]
    entry: Option<String>,
    #[command(flatten)]
    pub inputs: Inputs,
}

impl Called {
    /// The entry point that is meant: without a name that is `main`, or the only one there is.
    pub fn entry<'p>(&'p self, program: &'p Program) -> Result<&'p str, Failure> {
        match (&self.entry, program.entries()) {
            (Some(name), _) => Ok(name),
            (None, [only]) => Ok(&only.name),
            (None, [first, _, ..]) if program.entries().iter().all(|entry| entry.name != "main") => {
                let names = program.entries().iter().map(|entry| format!("`{}`", entry.name));
                let names = names.collect::<Vec<_>>().join(", ");
                let message = format!("the program has several entry points, {names}, and none is `main`");
                Err(Failure::user(message, &format!("choose one: -e {}", first.name)))
            }
            (None, _) => Ok("main"),
        }
    }
}

/// What is not to be done.
#[derive(Args)]
pub struct Off {
    /// Let source import only files in its own folder and below, links followed
    #[arg(long)]
    confine_imports: bool,
    /// Leave these out, separated by commas; results stay the same, but that floats may be summed in another order
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = switch())]
    no: Vec<Switch>,
}

impl Off {
    /// Everything on but what was named.
    pub fn switches(&self) -> Switches {
        Switches::without(&self.no)
    }

    /// How source is compiled.
    pub fn compiling(&self) -> Compiling {
        let imports = if self.confine_imports { Imports::Confined } else { Imports::Anywhere };
        Compiling { switches: self.switches(), imports }
    }
}

/// What bounds compiling, where nothing runs.
#[derive(Args)]
pub struct Bounded {
    /// Most memory for compiling, in bytes or with a unit: 500M, 2G [default: what the system has available]
    #[arg(long, visible_alias = "memory", value_name = "BYTES", value_parser = bytes)]
    max_memory: Option<u64>,
    /// Most time that compiling may take, in seconds or with a unit: 0.5, 200ms, 10s, 5m
    #[arg(long, value_name = "TIME", value_parser = time)]
    timeout: Option<Duration>,
}

impl Bounded {
    /// The bounds.
    pub fn bounds(&self) -> Bounds {
        Bounds { memory: self.max_memory.or_else(galopvm::available_memory), time: self.timeout }
    }
}

/// What executes the program, and within which bounds.
#[derive(Args)]
#[command(next_help_heading = "Execution")]
pub struct Settings {
    /// What executes parallel work; what it refuses, the interpreter does. Sums of floats may differ in their last digits from one
    /// to another; those of interp are the same everywhere
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = backend())]
    pub backend: BackendChoice,
    /// Greatest instruction set that machine code may use [default: all the processor has]
    #[arg(long, value_name = "MODE", value_parser = cpu())]
    pub cpu: Option<CpuMode>,
    /// Worker threads; sums of floats may differ in their last digits [default: one for each hardware thread]
    #[arg(long, value_name = "N", visible_alias = "num-threads", value_parser = threads)]
    pub threads: Option<usize>,
    /// How Vulkan kernels become SPIR-V: emitted directly, or through GLSL and shaderc
    #[arg(long, value_name = "NAME", default_value = "direct", value_parser = route())]
    pub route: Route,
    /// Most memory for values, and for compiling, in bytes or with a unit: 500M, 2G [default: what the system has available]
    #[arg(long, visible_alias = "memory", value_name = "BYTES", value_parser = bytes)]
    pub max_memory: Option<u64>,
    /// Most operations that a run may take
    #[arg(long, value_name = "N")]
    pub fuel: Option<u64>,
    /// Most time that a run may take, and compiling, reading and writing, in seconds or with a unit: 0.5, 200ms, 10s, 5m
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub timeout: Option<Duration>,
    /// Execute everything a second time, slowly and without any decision about memory, and compare whatever is read: a
    /// difference is a mistake of galopvm, and ends the run
    #[arg(long)]
    pub check: bool,
    /// Write the names of machine code to /tmp/perf-PID.map, where Linux's `perf` looks for them; so does GALOPVM_PERF_MAP=1
    #[arg(long)]
    pub perf_map: bool,
    #[command(flatten)]
    off: Off,
}

impl Settings {
    /// What may be done to make programs faster.
    pub fn switches(&self) -> Switches {
        self.off.switches()
    }

    /// How source is compiled.
    pub fn compiling(&self) -> Compiling {
        self.off.compiling()
    }

    /// What bounds compiling.
    pub fn bounds(&self) -> Bounds {
        Bounds { memory: self.max_memory.or_else(galopvm::available_memory), time: self.timeout }
    }

    /// An engine builder with these settings.
    pub fn builder(&self) -> galopvm::EngineBuilder {
        let mut builder = Engine::builder().backend(self.backend).route(self.route).switches(self.switches());
        builder = builder.check(self.check);
        if let Some(sink) = perf_map::wanted(self.perf_map) {
            builder = builder.installed(sink);
        }
        if let Some(cpu) = self.cpu {
            builder = builder.cpu(cpu);
        }
        if let Some(threads) = self.threads {
            builder = builder.threads(threads);
        }
        if let Some(time) = self.timeout {
            builder = builder.timeout(time);
        }
        // A system that gives out more than it has ends programs without a word.
        if let Some(bytes) = self.max_memory.or_else(galopvm::available_memory) {
            builder = builder.memory_limit(bytes);
        }
        if let Some(operations) = self.fuel {
            builder = builder.fuel(operations);
        }
        builder
    }
}

/// Parses a number of threads.
pub fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n @ 1..=1024) => Ok(n),
        _ => Err("a number from 1 to 1024 is wanted".into()),
    }
}

fn bytes(text: &str) -> Result<u64, String> {
    let upper = text.to_ascii_uppercase();
    let upper = upper.strip_suffix("IB").or(upper.strip_suffix('B')).unwrap_or(&upper);
    let (digits, shift) = match upper.as_bytes().last() {
        Some(b'K') => (&upper[..upper.len() - 1], 10),
        Some(b'M') => (&upper[..upper.len() - 1], 20),
        Some(b'G') => (&upper[..upper.len() - 1], 30),
        Some(b'T') => (&upper[..upper.len() - 1], 40),
        _ => (upper, 0),
    };
    let number: Option<u64> = digits.parse().ok();
    number
        .and_then(|n| n.checked_mul(1 << shift))
        .ok_or_else(|| "a number of bytes is wanted, such as 4096, 500M or 2G".into())
}

fn time(text: &str) -> Result<Duration, String> {
    let units = [("ms", 1e-3), ("us", 1e-6), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("", 1.0)];
    let (number, unit) = units
        .into_iter()
        .find_map(|(unit, size)| Some((text.strip_suffix(unit)?, size)))
        .unwrap_or((text, 1.0));
    let seconds = number.parse().ok().filter(|n: &f64| *n > 0.0).map(|n| n * unit);
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "a time is wanted, such as 0.5, 200ms, 10s or 5m".into())
}

#[cfg(test)]
mod tests {
    use super::{bytes, time};
    use std::time::Duration;

    #[test]
    fn times_have_units() {
        assert_eq!(time("2"), Ok(Duration::from_secs(2)));
        assert_eq!(time("0.5s"), Ok(Duration::from_millis(500)));
        assert_eq!(time("200ms"), Ok(Duration::from_millis(200)));
        assert_eq!(time("1.5m"), Ok(Duration::from_secs(90)));
        for wrong in ["", "0", "-1", "s", "1d", "inf", "nan", "1e300"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn bytes_have_units() {
        assert_eq!(bytes("12"), Ok(12));
        assert_eq!(bytes("500M"), Ok(500 << 20));
        assert_eq!(bytes("2GiB"), Ok(2 << 30));
        assert_eq!(bytes("1kb"), Ok(1024));
        for wrong in ["", "M", "-1", "1.5G", "99999999999T", "é"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
