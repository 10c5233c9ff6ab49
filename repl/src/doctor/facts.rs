//! What this machine offers, and what galopvm makes of it.

use super::costs::Known;
use crate::repl::history;
use crate::settings::Settings;
use galopvm::machine::Cache;
use galopvm::{BackendChoice, Engine, Route, machine};
use galopvm_gpu::{DeviceInfo, Gpu, GpuError};
use galopvm_jit::X86Backend;
use std::path::PathBuf;

/// Everything that doctor knows.
pub struct Facts {
    /// An engine as the options ask for.
    pub engine: Engine,
    /// The processor's name, if the system tells.
    pub processor: Option<String>,
    /// Cores, if the system tells; hardware threads.
    pub cores: Option<usize>,
    /// Threads of hardware.
    pub threads: usize,
    /// What the processor can do beyond the least of its kind.
    pub abilities: Vec<&'static str>,
    /// Caches for data.
    pub caches: Vec<Cache>,
    /// Bytes of memory: all, and those to be had.
    pub memory: [Option<u64>; 2],
    /// When the system gives out huge pages.
    pub huge_pages: Option<HugePages>,
    /// Vulkan devices, or why there are none.
    pub devices: Result<Vec<DeviceInfo>, GpuError>,
    /// The one that was opened, by its index.
    pub opened: Option<usize>,
    /// The back ends.
    pub backends: Vec<BackEnd>,
    /// The costs of layouts.
    pub costs: Known,
    /// The prompt's history.
    pub history: Option<PathBuf>,
}

/// A back end, and whether it can be used.
pub struct BackEnd {
    /// Its word on the command line.
    pub name: &'static str,
    /// What it is, or why it is not there.
    pub about: Result<String, String>,
}

/// Huge pages.
pub struct HugePages {
    /// `always`, `madvise` or `never`.
    pub when: String,
    /// Bytes of one.
    pub bytes: Option<u64>,
}

impl Facts {
    /// Looks at the machine.
    pub fn collect(settings: &Settings) -> Facts {
        let engine = settings.builder().build();
        let mut devices = galopvm_gpu::devices();
        // How a device computes with floats is only known when it is open.
        let opened = Gpu::shared();
        if let (Ok(devices), Ok(gpu)) = (&mut devices, &opened)
            && let Some(device) = devices.iter_mut().find(|device| device.index == gpu.info().index)
        {
            *device = gpu.info().clone();
        }
        Facts {
            processor: machine::processor_name(),
            cores: cores(),
            threads: machine::hardware_threads(),
            abilities: abilities(),
            caches: machine::caches(),
            memory: ["MemTotal:", "MemAvailable:"].map(memory),
            huge_pages: huge_pages(),
            backends: backends(&engine, &opened),
            opened: opened.ok().map(|gpu| gpu.info().index),
            devices,
            costs: Known::collect(&engine),
            history: history::file(),
            engine,
        }
    }

    /// True if the back end of this name can be used.
    pub fn is_ready(&self, name: &str) -> bool {
        self.backends.iter().any(|backend| backend.name == name && backend.about.is_ok())
    }

    /// What will execute parallel work.
    pub fn will_be_used(&self) -> String {
        let (engine, mode) = (&self.engine, self.engine.cpu());
        let rest = "the interpreter for the rest";
        match engine.backend() {
            BackendChoice::Interp => "the interpreter alone".to_string(),
            _ if !engine.switches().jit => "the interpreter alone: --no jit".into(),
            BackendChoice::Reference => "the reference evaluator for every kernel".into(),
            BackendChoice::Auto if self.is_ready("x86") => {
                format!("x86 ({mode}) for work that is worth compiling, vector for what it refuses, {rest}")
            }
            BackendChoice::Auto => format!("vector for work that is worth it, {rest}"),
            BackendChoice::Vector => format!("vector for every kernel it takes, {rest}"),
            BackendChoice::X86 if self.is_ready("x86") => {
                format!("x86 ({mode}) for every kernel it takes, {rest}")
            }
            BackendChoice::Vulkan if self.is_ready("vulkan") && engine.route().is_built_in() => {
                format!("vulkan ({} route) for every kernel it takes, {rest}", engine.route())
            }
            BackendChoice::Vulkan if self.is_ready("vulkan") => {
                format!("the interpreter alone: the {} route is not built in", engine.route())
            }
            BackendChoice::X86 | BackendChoice::Vulkan => {
                "the interpreter alone: the back end is not available (see above)".into()
            }
        }
    }
}

/// What one route to SPIR-V is, or why it is not there.
pub fn route(route: Route) -> Result<&'static str, &'static str> {
    match route {
        Route::Glsl if !route.is_built_in() => {
            Err("build with `--features shaderc` (tests/setup.sh installs what it needs)")
        }
        Route::Glsl => Ok("GLSL through shaderc"),
        _ => Ok("SPIR-V emitted by galopvm"),
    }
}

fn backends(engine: &Engine, opened: &Result<&Gpu, GpuError>) -> Vec<BackEnd> {
    let x86 = if X86Backend::is_available() {
        let machine = engine.machine();
        let threads =
            if machine.threads == 1 { "1 thread".into() } else { format!("{} threads", machine.threads) };
        Ok(format!("{}, {threads}", engine.cpu()))
    } else {
        Err("this is not a Unix system on an x86-64 processor".into())
    };
    let vulkan = opened.as_ref().map_err(GpuError::to_string);
    let vulkan = vulkan.map(|gpu| format!("#{} {}", gpu.info().index, gpu.info().name));
    vec![
        BackEnd { name: "interp", about: Ok("always there, does what the others refuse".into()) },
        BackEnd { name: "reference", about: Ok("slow, for checking the others".into()) },
        BackEnd { name: "vector", about: Ok("rows in groups, without machine code".into()) },
        BackEnd { name: "x86", about: x86 },
        BackEnd { name: "vulkan", about: vulkan },
    ]
}

/// A line of `/proc/meminfo`, in bytes.
fn memory(field: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

fn huge_pages() -> Option<HugePages> {
    let folder = "/sys/kernel/mm/transparent_hugepage";
    let text = std::fs::read_to_string(format!("{folder}/enabled")).ok()?;
    // The choice is in brackets.
    let when = text.split(['[', ']']).nth(1)?.to_string();
    let bytes = std::fs::read_to_string(format!("{folder}/hpage_pmd_size")).ok();
    Some(HugePages { when, bytes: bytes.and_then(|text| text.trim().parse().ok()) })
}

/// Cores as the system lists them, each with one or more hardware threads.
fn cores() -> Option<usize> {
    let mut cores: Vec<String> = std::fs::read_dir("/sys/devices/system/cpu")
        .ok()?
        .filter_map(|entry| {
            let topology = entry.ok()?.path().join("topology");
            let read = |name: &str| std::fs::read_to_string(topology.join(name)).ok();
            Some(read("physical_package_id")? + &read("core_id")?)
        })
        .collect();
    cores.sort();
    cores.dedup();
    (!cores.is_empty()).then_some(cores.len())
}

macro_rules! abilities {
    ($detect:ident: $($name:tt)*) => {
        [$(($name, std::arch::$detect!($name))),*]
    };
}

/// What of the instruction sets that matter to array programs the processor has.
#[cfg(target_arch = "x86_64")]
fn abilities() -> Vec<&'static str> {
    let all = abilities!(is_x86_feature_detected: "sse4.2" "popcnt" "lzcnt" "bmi1" "bmi2" "f16c" "fma" "avx" "avx2"
        "avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl" "avx512vbmi" "avx512vbmi2" "avx512vnni" "gfni");
    all.into_iter().filter(|(_, has)| *has).map(|(name, _)| name).collect()
}

/// What of the instruction sets that matter to array programs the processor has.
#[cfg(target_arch = "aarch64")]
fn abilities() -> Vec<&'static str> {
    let all = abilities!(is_aarch64_feature_detected: "neon" "fp16" "dotprod" "lse" "sve" "sve2");
    all.into_iter().filter(|(_, has)| *has).map(|(name, _)| name).collect()
}

/// What of the instruction sets that matter to array programs the processor has.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn abilities() -> Vec<&'static str> {
    Vec::new()
}
