//! What doctor knows, as JSON.

use super::facts::{Facts, route};
use super::measure::Timings;
use super::page::abilities;
use galopvm::{CpuMode, CpuTimes, Route, Switch};
use galopvm_base::Json;
use galopvm_gpu::{DeviceInfo, Ieee};
use galopvm_jit::X86Backend;
use std::path::PathBuf;

/// The object; with what was measured just now, if anything was.
pub fn of(facts: &Facts, timings: Option<&Timings>) -> Json {
    let engine = &facts.engine;
    let machine = engine.machine();
    let switches = Switch::ALL.iter();
    let switches = switches.map(|s| (s.name(), engine.switches().is_on(*s).into())).collect();
    Json::Object(vec![
        ("version", env!("CARGO_PKG_VERSION").into()),
        ("build", if cfg!(debug_assertions) { "debug" } else { "release" }.into()),
        ("os", std::env::consts::OS.into()),
        ("arch", std::env::consts::ARCH.into()),
        ("bytecode", u64::from(galopvm_bytecode::VERSION).into()),
        ("processor", processor(facts)),
        ("memory", memory(facts)),
        ("backends", backends(facts)),
        ("routes", Route::ALL.into_iter().map(one_route).collect()),
        (
            "devices",
            match &facts.devices {
                Ok(devices) => devices.iter().map(|d| device(d, facts.opened == Some(d.index))).collect(),
                Err(_) => Json::List(Vec::new()),
            },
        ),
        ("devices_error", facts.devices.as_ref().err().map(ToString::to_string).into()),
        ("costs", costs(facts)),
        ("measured_now", timings.map_or(Json::Null, measured_now)),
        (
            "used",
            Json::Object(vec![
                ("backend", engine.backend().name().into()),
                ("route", engine.route().name().into()),
                ("cpu", engine.cpu().name().into()),
                ("threads", machine.threads.into()),
                ("what", facts.will_be_used().into()),
                ("notes", engine.notes().iter().map(String::as_str).collect()),
                ("switches", Json::Object(switches)),
            ]),
        ),
        ("files", Json::Object(vec![("history", path(&facts.history)), ("costs", path(&facts.costs.file))])),
    ])
}

fn processor(facts: &Facts) -> Json {
    let cache = |cache: &galopvm::machine::Cache| {
        Json::Object(vec![("level", Json::from(u64::from(cache.level))), ("bytes", cache.bytes.into())])
    };
    Json::Object(vec![
        ("name", facts.processor.clone().into()),
        ("threads", facts.threads.into()),
        ("cores", facts.cores.into()),
        ("greatest_mode", X86Backend::greatest_mode().name().into()),
        ("features", facts.abilities.iter().copied().collect()),
        ("caches", facts.caches.iter().map(cache).collect()),
    ])
}

fn memory(facts: &Facts) -> Json {
    let pages = facts.huge_pages.as_ref();
    Json::Object(vec![
        ("bytes", facts.memory[0].into()),
        ("available_bytes", facts.memory[1].into()),
        ("limit_bytes", facts.engine.limits().memory.into()),
        ("huge_pages", pages.map(|pages| pages.when.clone()).into()),
        ("huge_page_bytes", pages.and_then(|pages| pages.bytes).into()),
    ])
}

fn backends(facts: &Facts) -> Json {
    let one = |backend: &super::facts::BackEnd| {
        Json::Object(vec![
            ("name", Json::from(backend.name)),
            ("ready", backend.about.is_ok().into()),
            ("about", backend.about.as_ref().ok().cloned().into()),
            ("reason", backend.about.as_ref().err().cloned().into()),
        ])
    };
    facts.backends.iter().map(one).collect()
}

fn one_route(way: Route) -> Json {
    Json::Object(vec![
        ("name", Json::from(way.name())),
        ("built_in", way.is_built_in().into()),
        ("about", route(way).ok().into()),
        ("reason", route(way).err().into()),
    ])
}

/// A device; how it computes with floats is only known of the one that was opened.
fn device(device: &DeviceInfo, is_open: bool) -> Json {
    let (has, lacks) = abilities(device);
    let seen = |ieee: &Ieee| {
        is_open.then(|| {
            Json::Object(vec![
                ("subnormals", Json::from(ieee.subnormals)),
                ("quotients", ieee.quotients.into()),
                ("roots", ieee.roots.into()),
            ])
        })
    };
    Json::Object(vec![
        ("index", Json::from(device.index)),
        ("name", device.name.clone().into()),
        ("kind", device.kind.to_string().into()),
        ("driver", device.driver.clone().into()),
        ("vulkan", device.version.clone().into()),
        ("unusable", device.unusable.clone().into()),
        ("has", has.into_iter().collect()),
        ("lacks", lacks.into_iter().collect()),
        ("f32", seen(&device.features.singles).into()),
        ("f64", seen(&device.features.doubles).into()),
    ])
}

fn costs(facts: &Facts) -> Json {
    let known = &facts.costs;
    let modes = known.measured.iter().flat_map(|measured| &measured.modes);
    let measured = modes.map(|(mode, found)| (mode.name().to_string(), times(found))).collect();
    Json::Object(vec![
        ("source", if known.is_measured { "measured" } else { "usual" }.into()),
        ("file", path(&known.file)),
        ("warning", known.warning.clone().into()),
        ("measured_at", known.measured.as_ref().map(|measured| measured.when).into()),
        ("usual", times(&known.usual.cpu.times())),
        ("measured", Json::Map(measured)),
        ("used", times(&known.used.cpu.times())),
    ])
}

fn times(times: &CpuTimes) -> Json {
    Json::Object(times.each().map(|(name, _, number)| (name, Json::from(number))).into_iter().collect())
}

fn measured_now(timings: &Timings) -> Json {
    let unit = |mode: CpuMode, unit: f64| (mode.name().to_string(), Json::Float(unit));
    let units = timings.modes.iter().map(|timing| unit(timing.mode, timing.unit)).collect();
    let read = timings.bandwidth.iter().map(|(name, rate)| (name.clone(), Json::Float(*rate))).collect();
    Json::Object(vec![
        ("unit_nanoseconds", Json::Map(units)),
        ("read_gigabytes_per_second", Json::Map(read)),
        ("spread", Json::Float(timings.spread)),
    ])
}

fn path(path: &Option<PathBuf>) -> Json {
    path.as_ref().map(|path| path.display().to_string()).into()
}
