//! `galopvm doctor`: what this machine offers, what will be used, and why not the rest.

use crate::failure::Outcome;
use crate::repl::history;
use crate::settings::Settings;
use galopvm::{BackendChoice, CpuMode, Engine, Route};
use galopvm_gpu::{DeviceChoice, DeviceInfo, GpuError};
use galopvm_jit::X86Backend;
use std::io::Write;

/// Show what this machine offers, what will be used, and why not the rest
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  galopvm doctor
  galopvm doctor --backend vulkan --route glsl    what these options would lead to
  GALOPVM_VULKAN_DEVICE=cpu galopvm doctor        with another device")]
pub struct Args {
    #[command(flatten)]
    settings: Settings,
}

/// Carries out the command.
pub fn run(args: Args) -> Outcome {
    let engine = args.settings.builder().build();
    let mut page = Page::default();
    page.version();
    page.processor(&engine);
    let devices = galopvm_gpu::devices();
    let vulkan = page.back_ends(&engine, &devices);
    page.devices(&devices);
    page.will_be_used(&engine, vulkan);
    page.files();
    std::io::stdout().lock().write_all(page.text.as_bytes())?;
    Ok(())
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

    fn processor(&mut self, engine: &Engine) {
        let machine = engine.machine();
        self.title("Processor");
        self.line("threads", format!("{} of hardware", galopvm::machine::hardware_threads()));
        let greatest = X86Backend::greatest_mode();
        for (mode, what) in [
            (CpuMode::Avx2, "256-bit vectors (AVX2, FMA)"),
            (CpuMode::Avx512, "512-bit vectors with masks (AVX-512 F, BW, DQ, VL)"),
        ] {
            let has = if mode <= greatest { "yes" } else { "no" };
            self.line(mode.name(), format!("{has}: {what}"));
        }
        self.line("caches", format!("L1 {}, L2 {}", kib(machine.l1_bytes), kib(machine.l2_bytes)));
    }

    /// The part on back ends; gives whether Vulkan can be used.
    fn back_ends(&mut self, engine: &Engine, devices: &Result<Vec<DeviceInfo>, GpuError>) -> bool {
        self.title("Back ends");
        self.line("interp", "ready: always there, does what the others refuse");
        self.line("reference", "ready: slow, for checking the others");
        if X86Backend::is_available() {
            let machine = engine.machine();
            let threads =
                if machine.threads == 1 { "1 thread".into() } else { format!("{} threads", machine.threads) };
            self.line("x86", format!("ready: {}, {threads}", machine.cpu));
        } else {
            self.line("x86", "not available: this is not a Unix system on an x86-64 processor");
        }
        let choice = DeviceChoice::from_env();
        let picked = devices.as_ref().map_err(GpuError::to_string).and_then(|devices| {
            let index = choice.pick(devices).map_err(|error| error.to_string())?;
            devices.iter().find(|d| d.index == index).ok_or_else(|| "the device is gone".into())
        });
        match &picked {
            Ok(device) => self.line("vulkan", format!("ready: #{} {}", device.index, device.name)),
            Err(reason) => self.line("vulkan", format!("not available: {reason}")),
        }
        self.line("  direct", "built in: SPIR-V emitted by galopvm");
        self.line(
            "  glsl",
            if Route::Glsl.is_built_in() {
                "built in: GLSL through shaderc"
            } else {
                "not built in: build with `--features shaderc` (tests/setup.sh installs what it needs)"
            },
        );
        picked.is_ok()
    }

    fn devices(&mut self, devices: &Result<Vec<DeviceInfo>, GpuError>) {
        self.title("Vulkan devices");
        match devices {
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

    fn will_be_used(&mut self, engine: &Engine, vulkan: bool) {
        let machine = engine.machine();
        let text = match engine.backend() {
            BackendChoice::Interp => "the interpreter alone".to_string(),
            BackendChoice::Reference => "the reference evaluator for every kernel".into(),
            BackendChoice::Auto if X86Backend::is_available() => {
                format!(
                    "x86 ({}) for work that is worth compiling, the interpreter for the rest",
                    machine.cpu
                )
            }
            BackendChoice::X86 if X86Backend::is_available() => {
                format!("x86 ({}) for every kernel it takes, the interpreter for the rest", machine.cpu)
            }
            BackendChoice::Vulkan if vulkan && engine.route().is_built_in() => {
                format!(
                    "vulkan ({} route) for every kernel it takes, the interpreter for the rest",
                    engine.route()
                )
            }
            BackendChoice::Vulkan if vulkan => {
                format!("the interpreter alone: the {} route is not built in", engine.route())
            }
            BackendChoice::Auto | BackendChoice::X86 | BackendChoice::Vulkan => {
                "the interpreter alone: the back end is not available (see above)".into()
            }
        };
        self.title("What will be used");
        self.line(&format!("--backend {}", engine.backend()), text);
        for note in engine.notes() {
            self.line("note", note);
        }
        if engine.backend() == BackendChoice::Auto {
            self.line("", "vulkan is used only when asked for: --backend vulkan");
        }
    }

    fn files(&mut self) {
        self.title("Files");
        match history::file() {
            Some(path) => self.line("history", path.display().to_string()),
            None => self.line("history", "none: neither XDG_DATA_HOME nor HOME is set"),
        }
        self.line("kernel cache", "none: kernels are compiled anew in each process");
    }
}

fn abilities(device: &DeviceInfo) -> (Vec<&'static str>, Vec<&'static str>) {
    let f = &device.features;
    let all = [
        ("f64", f.float64),
        ("f16", f.float16),
        ("i64", f.int64),
        ("i16", f.int16),
        ("i8", f.int8),
        ("8-bit storage", f.storage8),
        ("16-bit storage", f.storage16),
        ("exact f32", f.exact32),
        ("exact f64", f.exact64),
    ];
    let (has, lacks): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, has)| *has);
    let names = |list: Vec<(&'static str, bool)>| list.into_iter().map(|(name, _)| name).collect();
    (names(has), names(lacks))
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
