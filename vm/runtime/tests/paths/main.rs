//! The ways to execute an operator or a loop mean the same: by the interpreter alone, block by block or as a unit of the machine; with
//! the optimizer beside it; by a back end a group of rows at a time.
//!
//! Generated programs over all scalar types and operations run in every way, on arrays that lie in memory in every manner;
//! values, messages and back traces must be equal.

mod generate;
mod lines;
mod values;

use galopvm_analysis::layout::Costs;
use galopvm_base::{ElemType, Scalar};
use galopvm_bytecode::{FuncId, Function, Scope, text, verify};
use galopvm_interp::{Forms, Host, Inner, Interpreter, Plain, Prepared, Rooms, Setup, stack};
use galopvm_kir::{Backend, Reference, evaluate};
use galopvm_lift::region::Recorded;
use galopvm_runtime::{
    ExplainSink, Explained, Limits, Memory, Options, RuntimeError, Session, Switches, Tiering, Value,
};
use galopvm_store::stop::Stop;
use galopvm_testkit::Random;
use galopvm_vector::Vector;
use generate::Generator;
use std::fmt::Write;
use std::sync::{Arc, Mutex};

/// The ways besides the interpreter alone, block by block.
const ALL_WAYS: [Switches; 8] = [
    Switches::OFF,
    Switches { machine: true, ..Switches::OFF },
    Switches { reuse: true, shortcircuit: true, ..Switches::OFF },
    Switches { merge: true, ..Switches::OFF },
    Switches { shortcircuit: true, merge: true, machine: true, ..Switches::OFF },
    Switches { galop: true, ..Switches::OFF },
    Switches { galop: true, strategy: true, reuse: true, machine: true, ..Switches::OFF },
    Switches::ON,
];

/// For each call, block by block.
const FUEL: u64 = 10_000_000;

/// What a program shows with nobody beside the interpreter.
fn meaning_of(text: &str, seed: u64, units: bool) -> String {
    let module = text::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let module = verify(module).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let (module, memory) = (module.module(), Memory::default());
    memory.set_budget(Some(1 << 28));
    let prepared = Prepared::new(module);
    let stop = Stop::new(Arc::default(), None);
    let limits = Limits { fuel: Some(FUEL), memory: Some(1 << 28), ..Limits::default() };
    let (mut out, mut rooms) = (String::new(), Rooms::default());
    for turn in 0..2 {
        let setup = Setup {
            module,
            prepared: &prepared,
            memory: &memory,
            stop: &stop,
            limits: &limits,
            forms: Forms { units, inner: Inner::Loops },
            eager: false,
            host: Host::default(),
            rooms: &mut rooms,
        };
        let function = &module.functions[FuncId(0)];
        let types: Vec<_> = function.params.iter().map(|param| function.regs[*param]).collect();
        let args = values::arguments(&memory, &types, seed + turn);
        let mut interpreter = Interpreter::new(setup, Plain);
        let outcome = stack::with_room(|| interpreter.run(FuncId(0), args)).expect("memory for a stack");
        let _ = match outcome {
            Ok(values) => values.iter().try_for_each(|value| writeln!(out, "{value}")),
            Err(error) => writeln!(out, "{error}"),
        };
    }
    out
}

/// What a program shows, and how many arrays were given or made in other layouts.
fn outcome(text: &str, seed: u64, switches: Switches) -> (String, u64) {
    let (out, session) = outcome_with(text, seed, switches, Tiering::interpreter());
    let stats = session.memory().stats();
    (out, stats.layouts + stats.births)
}

/// What a program shows, executed by back ends as well.
fn outcome_with(text: &str, seed: u64, switches: Switches, tiering: Tiering) -> (String, Session) {
    let module = text::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let module = verify(module).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let limits = Limits { fuel: Some(FUEL), memory: Some(1 << 28), ..Limits::default() };
    // Copies into other layouts cost next to nothing, so that there are many.
    let mut costs = Costs::default();
    (costs.cpu.copy_line, costs.cpu.copy_start, costs.cpu.l1_bytes) = (1, 1, 2);
    (costs.cpu.cache_lines, costs.cpu.tile) = (16, 64);
    let options =
        Options { switches, limits, eager: true, costs: costs.into(), tiering, ..Options::default() };
    let mut session = Session::new(module, options);
    let mut out = String::new();
    // Twice: what is translated once is used again.
    for turn in 0..2 {
        let function = &session.module().module().functions[galopvm_bytecode::FuncId(0)];
        let types: Vec<_> = function.params.iter().map(|param| function.regs[*param]).collect();
        let args = values::arguments(session.memory(), &types, seed + turn);
        let _ = match session.call_function(galopvm_bytecode::FuncId(0), args) {
            Ok(values) => values.iter().try_for_each(|value| writeln!(out, "{value}")),
            Err(error) => writeln!(out, "{error}"),
        };
    }
    (out, session)
}

/// Gives how many arrays were given or made in other layouts.
fn all_paths_agree(seeds: std::ops::Range<u64>, generate: impl Fn(&mut Generator)) -> u64 {
    let (mut failures, mut relaid) = (0, 0);
    let count = seeds.end - seeds.start;
    for seed in seeds {
        let mut generator = Generator::new(Random::new(seed));
        generate(&mut generator);
        let text = generator.finish();
        let plain = meaning_of(&text, seed, false);
        if plain.contains("Out of fuel") {
            // Ways differ in when that is.
            continue;
        }
        assert_eq!(meaning_of(&text, seed, true), plain, "seed {seed}, units\n{text}");
        for switches in ALL_WAYS {
            let (other, count) = outcome(&text, seed, switches);
            relaid += count;
            assert!(
                other == plain,
                "seed {seed}, {switches:?}\n{text}\nexpected\n{}\nfound\n{}",
                shortened(&plain, &other),
                shortened(&other, &plain)
            );
        }
        failures += u64::from(plain.contains("Backtrace"));
    }
    assert!(failures * 4 > count / 10, "hardly any program failed: {failures} of {count}");
    assert!(failures * 4 < count * 3, "most programs failed: {failures} of {count}");
    relaid
}

/// The vector back end computes what the interpreter does, where the order of combining is free.
fn vector_agrees(seeds: std::ops::Range<u64>, generate: impl Fn(&mut Generator)) {
    let mut launches = 0;
    for seed in seeds {
        let mut generator = Generator::in_any_order(Random::new(seed));
        generate(&mut generator);
        let text = generator.finish();
        let plain = meaning_of(&text, seed, false);
        if plain.contains("Out of fuel") {
            continue;
        }
        for switches in [Switches { jit: true, ..Switches::OFF }, Switches::ON] {
            let backends: Vec<Arc<dyn Backend>> = vec![Arc::new(Vector::default())];
            let tiering = Tiering { backends, always: true, background: false, ..Tiering::interpreter() };
            let (other, session) = outcome_with(&text, seed, switches, tiering);
            // What a launch costs is an estimate.
            assert!(
                other == plain || other.contains("Out of fuel"),
                "seed {seed}, {switches:?}\n{text}\nexpected\n{}\nfound\n{}",
                shortened(&plain, &other),
                shortened(&other, &plain)
            );
            launches += session.sites().iter().map(|site| site.profile.launches).sum::<u64>();
        }
    }
    assert!(launches > 100, "only {launches} launches");
}

/// What of a text differs from another.
fn shortened(text: &str, other: &str) -> String {
    let at = text.bytes().zip(other.bytes()).position(|(a, b)| a != b).unwrap_or(0);
    String::from_utf8_lossy(&text.as_bytes()[at.saturating_sub(60)..text.len().min(at + 200)]).into_owned()
}

/// A value as the evaluator of kernel IR takes it.
fn plain(value: &Value) -> evaluate::Value {
    match value {
        Value::Scalar(scalar) => evaluate::Value::Scalar(*scalar),
        Value::Array(array) => {
            evaluate::Value::new(array.elem(), array.shape().to_vec(), array.iter_bits().collect())
        }
    }
}

/// Shapes and elements, every NaN alike.
fn numbers(values: &[evaluate::Value]) -> Vec<(Vec<i64>, Vec<u64>)> {
    let number =
        |elem: ElemType, bits: u64| match elem.is_float() && Scalar::new(elem, bits).as_f64().is_nan() {
            true => Scalar::from_f64(elem, f64::NAN).bits,
            false => bits,
        };
    let value = |value: &evaluate::Value| {
        let data = value.data().iter().map(|bits| number(value.elem(), *bits));
        (value.shape().to_vec(), data.collect())
    };
    values.iter().map(value).collect()
}

/// What a recorded function computes from these arguments, if it is executable as it is.
fn meaning(recorded: &Recorded, code: &Function, args: &[Value]) -> Option<Vec<evaluate::Value>> {
    let region = galopvm_kir::verify(recorded.region.region().clone()).ok()?;
    let argument = |var: &galopvm_kir::VarId| {
        let reg = recorded.registers[*var];
        let at = code.params.iter().position(|param| *param == reg).expect("a parameter of the function");
        plain(&args[at])
    };
    let given: Vec<_> = region.region().params.iter().map(argument).collect();
    evaluate::evaluate(&region, &given).ok()
}

/// What is told about a program changes nothing; every region of it is well-formed and computes what the function does.
#[test]
fn regions_mean_what_functions_do() {
    let mut computed = 0;
    for seed in 20_001..20_120 {
        let mut generator = Generator::new(Random::new(seed));
        match seed % 2 {
            0 => generator.operator(),
            _ => generator.a_loop(),
        }
        let text = generator.finish();
        let module = verify(text::parse(&text).expect("assembly")).expect("a right program");
        let code = &module.module().functions[FuncId(0)];
        let told = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::new(Mutex::new(None));
        let (sink, keep) = (told.clone(), kept.clone());
        let explain: ExplainSink = Arc::new(move |what: Explained<'_>| {
            let told = match what {
                Explained::Region(seen) => {
                    if seen.scope == Scope::Function {
                        *keep.lock().expect("nobody panicked") = Some(seen.recorded.clone());
                    }
                    seen.circuits.text(seen.recorded.region.region())
                }
                Explained::Unrecorded(seen) => seen.refusal.to_string(),
                _ => return,
            };
            sink.lock().expect("nobody panicked").push(told);
        });
        let run = |explain: Option<ExplainSink>| {
            let limits = Limits { fuel: Some(FUEL), ..Limits::default() };
            let mut session = Session::new(module.clone(), Options { explain, limits, ..Options::default() });
            let types: Vec<_> = code.params.iter().map(|param| code.regs[*param]).collect();
            let args = values::arguments(session.memory(), &types, seed);
            (args.clone(), session.call_function(FuncId(0), args))
        };
        let show = |outcome: &Result<Vec<Value>, RuntimeError>| match outcome {
            Ok(values) => values.iter().map(|value| format!("{value}\n")).collect(),
            Err(error) => error.to_string(),
        };
        let (args, outcome) = run(Some(explain));
        assert_eq!(show(&outcome), show(&run(None).1), "seed {seed}\n{text}");
        let told = told.lock().expect("nobody panicked");
        assert!(!told.is_empty(), "seed {seed}\n{text}");
        assert!(!told.iter().any(|told| told.contains("not well-formed")), "seed {seed}: {told:?}\n{text}");
        let Ok(results) = &outcome else { continue };
        let recorded = kept.lock().expect("nobody panicked").take();
        if let Some(found) = recorded.and_then(|recorded| meaning(&recorded, code, &args)) {
            let wanted: Vec<_> = results.iter().map(plain).collect();
            let (found, wanted) = (numbers(&found), numbers(&wanted));
            assert_eq!(found, wanted, "seed {seed}\n{text}");
            computed += 1;
        }
    }
    assert!(computed >= 20, "only {computed} of the regions can be executed");
}

#[test]
fn operators() {
    all_paths_agree(1..300, Generator::operator);
}

#[test]
fn nests() {
    let relaid = all_paths_agree(20_001..20_120, Generator::nest);
    assert!(relaid >= 50, "only {relaid} arrays were in other layouts");
}

#[test]
fn operators_by_vector() {
    vector_agrees(60_001..60_200, Generator::operator);
    vector_agrees(61_001..61_200, Generator::nest);
}

#[test]
fn others_by_vector() {
    vector_agrees(62_001..62_100, Generator::selection);
    vector_agrees(63_001..63_100, Generator::histogram);
    vector_agrees(64_001..64_100, Generator::scatter);
}

#[test]
fn selections() {
    all_paths_agree(30_001..30_150, Generator::selection);
}

#[test]
fn histograms() {
    all_paths_agree(40_001..40_150, Generator::histogram);
}

/// Writes at computed places, as kernels, alone and together with the maps before them.
#[test]
fn writes_on_a_back_end() {
    let (mut launches, mut fused) = (0, 0);
    for seed in 50_001..50_300 {
        let mut generator = Generator::new(Random::new(seed));
        match seed % 2 {
            0 => generator.histogram(),
            _ => generator.scatter(),
        }
        let text = generator.finish();
        let plain = meaning_of(&text, seed, false);
        if plain.contains("Out of fuel") {
            continue;
        }
        let only = Switches { jit: true, ..Switches::OFF };
        for switches in [only, Switches { fusion: true, ..only }, Switches::ON] {
            let backends: Vec<Arc<dyn Backend>> = vec![Arc::new(Reference)];
            let tiering = Tiering { backends, always: true, background: false, ..Tiering::interpreter() };
            let (other, session) = outcome_with(&text, seed, switches, tiering);
            if other.contains("Out of fuel") {
                continue;
            }
            assert!(
                other == plain,
                "seed {seed}, {switches:?}\n{text}\nexpected\n{}\nfound\n{}",
                shortened(&plain, &other),
                shortened(&other, &plain)
            );
            for site in session.sites() {
                match site.name.operator {
                    "scatter" | "hist" => launches += site.profile.launches,
                    "fused" => fused += site.profile.launches,
                    _ => {}
                }
            }
        }
    }
    assert!(launches > 200 && fused > 50, "{launches} launches, {fused} of several operators");
}

#[test]
fn loops() {
    all_paths_agree(10_001..10_250, Generator::a_loop);
}
