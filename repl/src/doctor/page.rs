//! What doctor knows, as a page for people.

use super::facts::{Facts, route};
use super::measure::Timings;
use galopvm::{BackendChoice, CpuMode, CpuTimes, Route};
use galopvm_gpu::{DeviceInfo, Ieee};
use galopvm_jit::X86Backend;
use std::time::{SystemTime, UNIX_EPOCH};

/// Measurements that differ by more than this part say that the machine had other things to do.
const BUSY: f64 = 0.25;

/// Everything.
pub fn all(facts: &Facts) -> String {
    let mut page = Page::default();
    page.version();
    page.processor(facts);
    page.memory(facts);
    page.back_ends(facts);
    page.devices(facts);
    page.costs(facts);
    page.will_be_used(facts);
    page.files(facts);
    page.text
}

/// The costs of layouts alone, and what was measured just now.
pub fn costs(facts: &Facts, timings: Option<&Timings>) -> String {
    let mut page = Page::default();
    if let Some(timings) = timings {
        page.measured(timings);
    }
    page.costs(facts);
    page.text.trim_start().to_string()
}

#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn title(&mut self, title: &str) {
        self.text.push_str(&format!("\n{title}\n"));
    }

    fn line(&mut self, name: &str, what: impl AsRef<str>) {
        self.text.push_str(&format!("  {name:<14}  {}\n", what.as_ref()));
    }

    fn version(&mut self) {
        let kind = if cfg!(debug_assertions) { "debug build (slow)" } else { "release build" };
        self.text.push_str(&format!("galopvm {}, {kind}\n", env!("CARGO_PKG_VERSION")));
        self.line("system", format!("{} on {}", std::env::consts::OS, std::env::consts::ARCH));
        self.line("bytecode", format!(".gbc format {}", galopvm_bytecode::VERSION));
    }

    fn processor(&mut self, facts: &Facts) {
        self.title("Processor");
        self.line("name", facts.processor.as_deref().unwrap_or("not known"));
        let cores = facts.cores.map_or(String::new(), |n| format!(", {n} {}", plural(n, "core")));
        self.line("threads", format!("{} of hardware{cores}", facts.threads));
        let greatest = X86Backend::greatest_mode();
        for (mode, what) in [
            (CpuMode::Avx2, "256-bit vectors (AVX2, FMA)"),
            (CpuMode::Avx512, "512-bit vectors with masks (AVX-512 F, BW, DQ, VL)"),
        ] {
            let has = if mode <= greatest { "yes" } else { "no" };
            self.line(mode.name(), format!("{has}: {what}"));
        }
        self.line("has", if facts.abilities.is_empty() { "-".into() } else { facts.abilities.join(" ") });
        let caches: Vec<String> =
            facts.caches.iter().map(|cache| format!("L{} {}", cache.level, kib(cache.bytes))).collect();
        let machine = facts.engine.machine();
        let assumed =
            || format!("not known; L1 {}, L2 {} are assumed", kib(machine.l1_bytes), kib(machine.l2_bytes));
        self.line("caches", if caches.is_empty() { assumed() } else { caches.join(", ") });
    }

    fn memory(&mut self, facts: &Facts) {
        self.title("Memory");
        let [all, free] = facts.memory.map(|bytes| bytes.map_or("not known".into(), gib));
        self.line("memory", format!("{all}, available {free}"));
        let limit = facts.engine.limits().memory.map_or("none".into(), gib);
        self.line("limit", format!("{limit} for values (--max-memory)"));
        let huge = match &facts.huge_pages {
            None => "not known".to_string(),
            Some(pages) => {
                let bytes = pages.bytes.map_or(String::new(), |bytes| format!(" of {}", kib(bytes as usize)));
                let what = match pages.when.as_str() {
                    "never" => "no: the system gives none (large arrays are slower to reach)",
                    _ => "used for large arrays",
                };
                format!("{}{bytes}: {what}", pages.when)
            }
        };
        self.line("huge pages", huge);
    }

    fn back_ends(&mut self, facts: &Facts) {
        self.title("Back ends");
        for backend in &facts.backends {
            let (word, about) = match &backend.about {
                Ok(about) => ("ready", about),
                Err(about) => ("not available", about),
            };
            self.line(backend.name, format!("{word}: {about}"));
        }
        for way in Route::ALL {
            let text = match route(way) {
                Ok(about) => format!("built in: {about}"),
                Err(about) => format!("not built in: {about}"),
            };
            self.line(&format!("  {}", way.name()), text);
        }
    }

    fn devices(&mut self, facts: &Facts) {
        self.title("Vulkan devices");
        match &facts.devices {
            Err(error) => {
                self.line("none", error.to_string());
                self.line("", "on Debian and Ubuntu: apt install libvulkan1 mesa-vulkan-drivers");
            }
            Ok(devices) if devices.is_empty() => {
                self.line("none", "the Vulkan loader is here, but no driver");
                self.line("", "on Debian and Ubuntu: apt install mesa-vulkan-drivers");
            }
            Ok(devices) => {
                for device in devices {
                    self.text.push_str(&format!("  {device}\n"));
                    if device.unusable.is_none() {
                        let (has, lacks) = abilities(device);
                        self.line("", format!("has {}", has.join(", ")));
                        if !lacks.is_empty() {
                            self.line("", format!("lacks {}", lacks.join(", ")));
                        }
                        if facts.opened == Some(device.index) {
                            self.line("", format!("f32 {}", floats(&device.features.singles)));
                            if device.features.float64 {
                                self.line("", format!("f64 {}", floats(&device.features.doubles)));
                            }
                        }
                        let limits = &device.limits;
                        self.line(
                            "",
                            format!(
                                "buffers up to {}, {} invocations and {} shared per group",
                                kib(usize::try_from(limits.buffer_bytes).unwrap_or(usize::MAX)),
                                limits.group_size,
                                kib(limits.shared_bytes as usize)
                            ),
                        );
                    }
                }
            }
        }
    }

    fn measured(&mut self, timings: &Timings) {
        self.title("Measured just now");
        for timing in &timings.modes {
            self.line(timing.mode.name(), format!("unit {:.3} ns", timing.unit));
        }
        let read = timings.bandwidth.iter().map(|(name, rate)| format!("{name} {rate:.1}"));
        self.line("reading", format!("{} GB/s, one thread", read.collect::<Vec<_>>().join(", ")));
        let spread = 100.0 * timings.spread;
        self.line("spread", format!("up to {spread:.0} % between measurements of one thing"));
        if timings.spread > BUSY {
            self.line("note", "the machine was busy: measure again when nothing else runs");
        }
        if cfg!(debug_assertions) {
            self.line("note", "this is a debug build: its copies are slower than those of a release build");
        }
    }

    fn costs(&mut self, facts: &Facts) {
        let known = &facts.costs;
        self.title("Costs of memory layouts");
        let mode = facts.engine.cpu();
        if let (Some(file), Some(warning)) = (&known.file, &known.warning) {
            self.line("warning", format!("{} {warning}", file.display()));
            self.line("", "it is not used; `galopvm doctor --calibrate` makes it anew");
        }
        let used = match &known.measured {
            Some(measured) if known.is_measured => {
                format!("the measured ones ({mode}, {})", ago(measured.when))
            }
            Some(_) => format!("the usual ones: {mode} was not measured"),
            None => "the usual ones: nothing was measured (galopvm doctor --calibrate)".into(),
        };
        self.line("used", used);
        let mut measured: Vec<(CpuMode, &CpuTimes)> = Vec::new();
        measured.extend(known.measured.iter().flat_map(|m| &m.modes).map(|(mode, times)| (*mode, times)));
        let heads: String = measured.iter().map(|(mode, _)| format!("{mode:>9}")).collect();
        self.line("", format!("{:>9}{heads}", "usual"));
        for (k, (name, meaning, usual)) in known.usual.cpu.times().each().into_iter().enumerate() {
            let columns: String =
                measured.iter().map(|(_, times)| format!("{:>9}", times.each()[k].2)).collect();
            self.line(name, format!("{usual:>9}{columns}  {meaning}"));
        }
        self.line("unit", "a vector access next to the last one, in the first cache");
        self.line("gpu", "the usual ones: a GPU is not measured");
    }

    fn will_be_used(&mut self, facts: &Facts) {
        self.title("What will be used");
        let engine = &facts.engine;
        self.line(&format!("--backend {}", engine.backend()), facts.will_be_used());
        let off: Vec<&str> = engine.switches().off().map(|switch| switch.name()).collect();
        if !off.is_empty() {
            self.line("--no", off.join(", "));
        }
        for note in engine.notes() {
            self.line("note", note);
        }
        if engine.backend() == BackendChoice::Auto {
            self.line("", "vulkan is used only when asked for: --backend vulkan");
        }
    }

    fn files(&mut self, facts: &Facts) {
        self.title("Files");
        match &facts.history {
            Some(path) => self.line("history", path.display().to_string()),
            None => self.line("history", "none: neither XDG_DATA_HOME nor HOME is set"),
        }
        match &facts.costs.file {
            Some(path) if facts.costs.measured.is_some() => self.line("costs", path.display().to_string()),
            Some(path) => self.line("costs", format!("{} (not written yet)", path.display())),
            None => self.line("costs", "none: neither XDG_CACHE_HOME nor HOME is set"),
        }
        self.line("kernel cache", "none: kernels are compiled anew in each process");
    }
}

/// What a device can do, and what it lacks.
pub fn abilities(device: &DeviceInfo) -> (Vec<&'static str>, Vec<&'static str>) {
    let f = &device.features;
    let all = [
        ("f64", f.float64),
        ("f16", f.float16),
        ("i64", f.int64),
        ("i16", f.int16),
        ("i8", f.int8),
        ("8-bit storage", f.storage8),
        ("16-bit storage", f.storage16),
        ("f32 infinities", f.exact32),
        ("f64 infinities", f.exact64),
    ];
    let (has, lacks): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, has)| *has);
    let names = |list: Vec<(&'static str, bool)>| list.into_iter().map(|(name, _)| name).collect();
    (names(has), names(lacks))
}

/// How a device was seen to compute with floats of one width, and what is done about it.
fn floats(seen: &Ieee) -> String {
    let inexact: Vec<&str> = [(seen.quotients, "quotients"), (seen.roots, "square roots")]
        .into_iter()
        .filter_map(|(is_exact, name)| (!is_exact).then_some(name))
        .collect();
    let rounded = match inexact.is_empty() {
        true => "rounded as IEEE 754 says".to_string(),
        false => format!("rounded as IEEE 754 says ({} by code of galopvm's)", inexact.join(", ")),
    };
    match seen.subnormals {
        true => rounded,
        false => format!("{rounded}; the device loses subnormal ones: what meets them is the interpreter's"),
    }
}

/// Bytes in the largest unit that leaves a whole number.
fn kib(bytes: usize) -> String {
    match bytes {
        _ if bytes >= 1 << 30 && bytes.is_multiple_of(1 << 30) => format!("{} GiB", bytes >> 30),
        _ if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ if bytes >= 1 << 10 && bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} B"),
    }
}

/// Bytes, roughly.
fn gib(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / (1u64 << 30) as f64)
}

fn plural(count: usize, word: &str) -> String {
    if count == 1 { word.into() } else { format!("{word}s") }
}

/// How long ago a time is, in the largest unit.
fn ago(when: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let seconds = now.saturating_sub(when);
    let units = [(86400, "day"), (3600, "hour"), (60, "minute")];
    match units.into_iter().find(|(size, _)| seconds >= *size) {
        Some((size, unit)) => {
            let count = (seconds / size) as usize;
            format!("{count} {} ago", plural(count, unit))
        }
        None => "just now".into(),
    }
}
