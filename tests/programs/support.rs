//! What tests of whole programs share: engines to compare, layouts of arrays, comparison of values.

use galopvm::{BackendChoice, CpuMode, Engine, Memory, Route, Switch, Switches, Value};
use galopvm_base::{ElemType, Scalar};
use galopvm_jit::X86Backend;
use galopvm_kir::{Backend, Compiled, Machine, Reference, Refusal, Rhs, Unit};
use galopvm_runtime::{Array, Options, Tiering};
use galopvm_testkit::{Layout, Random};
use galopvm_vector::Vector;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An engine and the name that failures show.
pub struct Candidate {
    /// Back end, mode and route.
    pub name: String,
    /// The engine.
    pub engine: Engine,
}

fn candidate(name: &str, engine: Engine) -> Candidate {
    Candidate { name: name.into(), engine }
}

/// The engine that defines the meaning.
pub fn interpreter() -> Engine {
    Engine::builder().backend(BackendChoice::Interp).build()
}

/// Every engine of this machine that must agree with the interpreter. Vulkan is skipped, with a message, where there is no
/// driver.
pub fn candidates() -> Vec<Candidate> {
    let plain = [("reference", BackendChoice::Reference), ("vector", BackendChoice::Vector)];
    let plain = plain.map(|(name, backend)| candidate(name, Engine::builder().backend(backend).build()));
    let mut found = Vec::from(plain);
    for cpu in CpuMode::ALL.into_iter().filter(|mode| *mode <= galopvm_jit::X86Backend::greatest_mode()) {
        for threads in [1, 2] {
            let engine = Engine::builder().backend(BackendChoice::X86).cpu(cpu).threads(threads).build();
            found.push(candidate(&format!("x86 {cpu}, {threads} threads"), engine));
        }
    }
    // Results do not depend on switches, neither on one alone nor on all together.
    for switch in Switch::ALL {
        let backend = match switch {
            Switch::Machine => BackendChoice::Interp,
            Switch::Quick => BackendChoice::Auto,
            _ => BackendChoice::X86,
        };
        let engine = Engine::builder().backend(backend).threads(2).switches(Switches::without(&[*switch]));
        found.push(candidate(&format!("{backend}, --no {}", switch.name()), engine.build()));
    }
    found.push(candidate("everything off", Engine::builder().switches(Switches::OFF).build()));
    match galopvm_gpu::Gpu::open(&galopvm_gpu::DeviceChoice::default()) {
        Ok(_) => {
            for route in [Route::Direct, Route::Glsl] {
                if route == Route::Glsl && !cfg!(feature = "shaderc") {
                    println!("skipped: Vulkan by GLSL (build with the feature `shaderc`)");
                    continue;
                }
                let engine = Engine::builder().backend(BackendChoice::Vulkan).route(route).build();
                found.push(candidate(&format!("vulkan {route:?}"), engine));
            }
        }
        Err(reason) => println!("skipped: Vulkan ({reason})"),
    }
    found
}

/// An array with these elements (in row-major order) that lies in memory as the layout says.
pub fn array(memory: &Memory, elem: ElemType, shape: &[i64], bits: &[u64], layout: Layout) -> Value {
    let (lmad, elements) = layout.view(shape);
    let size = elem.bytes();
    let mut block = memory.block(elements as usize * size).expect("enough memory");
    let bytes = block.bytes_mut().expect("nobody else holds a fresh block");
    bytes.fill(0);
    for (place, b) in lmad.places().zip(bits) {
        let at = place as usize * size;
        bytes[at..at + size].copy_from_slice(&b.to_le_bytes()[..size]);
    }
    Value::Array(Array::from_block(block, elem, lmad).expect("the layout fits its block"))
}

/// Random bits of a type, with the values that make trouble among them.
pub fn random_bits(random: &mut Random, elem: ElemType) -> u64 {
    if elem.is_float() {
        let value = match random.below(16) {
            0 => f64::NAN,
            1 => f64::INFINITY,
            2 => -0.0,
            3 => 3e9,
            _ => (random.below(4001) as f64 - 2000.0) / 16.0,
        };
        return Scalar::from_f64(elem, value).bits;
    }
    match random.below(8) {
        0 => random.bits() & elem.mask(),
        1 => Scalar::from_int(elem, -1).bits,
        2 => 1u64.checked_shl(elem.bits() - 1).unwrap_or(0) & elem.mask(),
        _ => Scalar::from_int(elem, random.below(200) as i64 - 60).bits,
    }
}

/// How far apart two floats may be.
#[derive(Clone, Copy)]
pub struct Tolerance {
    /// As a share of the greater one.
    pub relative: f64,
    /// Besides that.
    pub absolute: f64,
}

impl Tolerance {
    /// The same bits.
    pub const NONE: Tolerance = Tolerance { relative: 0.0, absolute: 0.0 };
}

/// Says how two results differ, if they do. Floats may differ as the tolerance says; any two NaNs are equal.
pub fn difference(expected: &[Value], found: &[Value], tolerance: Tolerance) -> Option<String> {
    if expected.len() != found.len() {
        return Some(format!("{} values instead of {}", found.len(), expected.len()));
    }
    for (k, (e, f)) in expected.iter().zip(found).enumerate() {
        if e.ty() != f.ty() || shape_of(e) != shape_of(f) {
            return Some(format!(
                "value {k}: {} {:?} instead of {} {:?}",
                f.ty(),
                shape_of(f),
                e.ty(),
                shape_of(e)
            ));
        }
        for (at, (a, b)) in elements(e).into_iter().zip(elements(f)).enumerate() {
            let (a, b) = (Scalar::new(e.elem(), a), Scalar::new(e.elem(), b));
            if !close(a, b, tolerance) {
                return Some(format!("value {k}, element {at}: {b} instead of {a}"));
            }
        }
    }
    None
}

fn close(a: Scalar, b: Scalar, tolerance: Tolerance) -> bool {
    if a == b {
        return true;
    }
    if !a.ty.is_float() {
        return false;
    }
    let (x, y) = (a.as_f64(), b.as_f64());
    (x.is_nan() && y.is_nan())
        || (x - y).abs() <= tolerance.relative * x.abs().max(y.abs()) + tolerance.absolute
}

fn shape_of(value: &Value) -> Vec<i64> {
    value.as_array().map_or(Vec::new(), |a| a.shape().to_vec())
}

fn elements(value: &Value) -> Vec<u64> {
    match value {
        Value::Scalar(scalar) => vec![scalar.bits],
        Value::Array(array) => array.iter_bits().collect(),
    }
}

/// The programs in `examples/`, by name.
pub fn example_files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let entries = std::fs::read_dir(folder).expect("there are examples").filter_map(Result::ok);
    let mut files: Vec<PathBuf> =
        entries.map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "fut")).collect();
    files.sort();
    files
}

/// The x86 back end without scans: one that refuses what others take.
pub struct WithoutScans;

impl Backend for WithoutScans {
    fn name(&self) -> &'static str {
        "x86"
    }

    fn compile(&self, unit: Unit<'_>) -> Result<Arc<dyn Compiled>, Refusal> {
        let mut scans = false;
        unit.region.region().body.visit_stms(&mut |stm| scans |= matches!(stm.rhs, Rhs::Scan { .. }));
        if scans {
            return Err(Refusal::new("a scan"));
        }
        X86Backend::default().compile(unit)
    }
}

/// Code for everything by each back end of the CPU, and none.
fn tierings() -> Vec<Tiering> {
    let mut backends: Vec<Arc<dyn Backend>> = vec![Arc::new(Reference), Arc::new(Vector::default())];
    if X86Backend::is_available() {
        backends.push(Arc::new(X86Backend::default()));
    }
    let machine =
        Machine { threads: 2, vectors: X86Backend::greatest_mode().vectors(), ..Machine::default() };
    let compiled = |backend| Tiering {
        backends: vec![backend],
        machine: machine.clone(),
        threshold: 1,
        always: true,
        ..Tiering::interpreter()
    };
    backends.into_iter().map(compiled).chain([Tiering::interpreter()]).collect()
}

/// Checked execution by each of these, with these switches, at once and as it comes.
pub fn executions(switches: &[Switches]) -> Vec<Options> {
    let mut all = Vec::new();
    for tiering in tierings() {
        for (switches, eager) in switches.iter().flat_map(|on| [(*on, false), (*on, true)]) {
            let tiering = tiering.clone();
            all.push(Options { switches, eager, check: true, tiering, ..Options::default() });
        }
    }
    all
}
