//! Every engine against the interpreter: generated programs, over every layout of their arrays.

use crate::generate::{self, Param};
use crate::support::{Candidate, Tolerance, array, candidates, difference, interpreter, random_bits};
use galopvm::{Backend, Engine, Machine, Memory, Program, Value};
use galopvm_base::Sources;
use galopvm_bytecode::Instr;
use galopvm_frontend::{Options, compile_with};
use galopvm_jit::X86Backend;
use galopvm_runtime::{Session, Tiering};
use galopvm_testkit::{Layout, Random};
use std::ops::Range;
use std::sync::Arc;

/// Extents (n, m) to run with: nothing, one, around vector widths, more than one piece.
const EXTENTS: [(i64, i64); 6] = [(0, 3), (1, 1), (3, 0), (17, 5), (33, 16), (64, 67)];

/// How many programs; each runs with every extent, and a layout that changes from one to the next.
const PROGRAMS: u64 = 300;

fn arguments(memory: &Memory, params: &[Param], extents: (i64, i64), layout: usize, seed: u64) -> Vec<Value> {
    let mut random = Random::new(seed);
    let mut make = |(k, param): (usize, &Param)| {
        let shape: Vec<i64> =
            param.dims.iter().map(|d| if *d == 0 { extents.0 } else { extents.1 }).collect();
        let count = shape.iter().product::<i64>() as usize;
        let bits: Vec<u64> = (0..count).map(|_| random_bits(&mut random, param.elem)).collect();
        if shape.is_empty() {
            return Value::Scalar(galopvm_base::Scalar::new(param.elem, bits[0]));
        }
        array(memory, param.elem, &shape, &bits, Layout::ALL[(layout + k) % Layout::ALL.len()])
    };
    params.iter().enumerate().map(&mut make).collect()
}

/// The values, or the message of the error.
fn run(
    engine: &Engine,
    program: &Program,
    params: &[Param],
    extents: (i64, i64),
    layout: usize,
    seed: u64,
) -> Result<Vec<Value>, String> {
    let mut session = engine.session(program);
    let values = arguments(session.memory(), params, extents, layout, seed);
    session.call_values("main", values).map_err(|error| error.to_string())
}

#[test]
fn generated_programs_agree_on_every_engine() {
    compare(0..PROGRAMS, &EXTENTS, &candidates());
}

/// Enough work that machine code is cut into pieces for threads.
#[test]
fn large_arrays_agree_across_threads() {
    let engines: Vec<Candidate> = candidates().into_iter().filter(|c| c.name.starts_with("x86")).collect();
    compare(0..30, &[(30_000, 3)], &engines);
}

/// Analyses are asked however little there is to gain: results lie where they would be copied to, or over arrays that die.
#[test]
fn results_in_their_places_agree() {
    let plain = interpreter();
    let x86: Vec<Arc<dyn Backend>> = match X86Backend::is_available() {
        true => vec![Arc::new(X86Backend::default())],
        false => Vec::new(),
    };
    let mut failures = Vec::new();
    for seed in 0..PROGRAMS / 2 {
        let generated = generate::program(seed);
        let name = format!("seed{seed}.fut");
        let Ok(program) = Program::from_source(&name, &generated.source) else { continue };
        for (k, extents) in EXTENTS.iter().copied().enumerate() {
            let layout = k + seed as usize;
            let expected = run(&plain, &program, &generated.params, extents, layout, seed);
            for backends in [Vec::new(), x86.clone()] {
                let tiering = Tiering { always: !backends.is_empty(), backends, ..Tiering::interpreter() };
                let machine = Machine {
                    vectors: X86Backend::greatest_mode().vectors(),
                    threads: 2,
                    ..Machine::default()
                };
                let options = galopvm_runtime::Options {
                    tiering: Tiering { machine, ..tiering },
                    eager: true,
                    ..galopvm_runtime::Options::default()
                };
                let mut session = Session::new(program.module().clone(), options);
                let values = arguments(session.memory(), &generated.params, extents, layout, seed);
                let found = session.call("main", values).map_err(|error| error.to_string());
                let wrong = match (&expected, &found, session.violation()) {
                    (_, _, Some(violation)) => {
                        Some(format!("the checker refuses what was decided: {violation}"))
                    }
                    (Ok(e), Ok(f), None) => difference(e, f, Tolerance::NONE),
                    (Err(e), Err(f), None) if e == f => None,
                    (e, f, None) => Some(format!("{f:?} instead of {e:?}")),
                };
                failures.extend(
                    wrong.map(|wrong| format!("seed {seed}, {extents:?}: {wrong}\n{}", generated.source)),
                );
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures[..failures.len().min(20)].join("\n"));
}

/// Runs the programs of these seeds on every engine and on the interpreter.
fn compare(seeds: Range<u64>, extents: &[(i64, i64)], engines: &[Candidate]) {
    let plain = interpreter();
    let mut failures = Vec::new();
    let mut comparisons = 0;
    let mut errors = 0;
    for seed in seeds {
        let generated = generate::program(seed);
        let program = match Program::from_source(&format!("seed{seed}.fut"), &generated.source) {
            Ok(program) => program,
            Err(error) => {
                failures.push(format!("seed {seed} does not compile: {error}\n{}", generated.source));
                continue;
            }
        };
        for (k, extents) in extents.iter().copied().enumerate() {
            let layout = k + seed as usize;
            let expected = run(&plain, &program, &generated.params, extents, layout, seed);
            errors += expected.is_err() as usize;
            for candidate in engines {
                let found = run(&candidate.engine, &program, &generated.params, extents, layout, seed);
                comparisons += 1;
                let wrong = match (&expected, &found) {
                    (Ok(e), Ok(f)) => difference(e, f, Tolerance::NONE),
                    (Err(e), Err(f)) if e == f => None,
                    (e, f) => Some(format!("{f:?} instead of {e:?}")),
                };
                if let Some(wrong) = wrong {
                    let name = &candidate.name;
                    failures.push(format!(
                        "seed {seed}, {name}, extents {extents:?}: {wrong}\n{}",
                        generated.source
                    ));
                }
            }
        }
    }
    println!("{comparisons} comparisons, {errors} runs end in an error, {} failures", failures.len());
    assert!(
        failures.is_empty(),
        "{} failures, the first ones:\n{}",
        failures.len(),
        failures[..failures.len().min(40)].join("\n")
    );
}

/// The program of a source text, with or without fusion, and how many reductions took up a map.
fn compiled(source: &str, fusion: bool) -> (Program, usize) {
    let mut sources = Sources::new();
    let file = sources.add("fusion.fut", source);
    let compiled = compile_with(&mut sources, file, &Options { fusion, ..Options::default() });
    let module = compiled.module.unwrap_or_else(|| panic!("{:?}\n{source}", compiled.diagnostics));
    let code = module.functions.iter().flat_map(|f| f.blocks.iter()).flat_map(|b| &b.code);
    let fused = code.filter(|instr| matches!(instr, Instr::Redomap { .. })).count();
    (Program::from_module("fusion.fut", module).expect("compiled code verifies"), fused)
}

#[test]
fn fusion_changes_no_value() {
    let plain = interpreter();
    let mut fused = 0;
    for seed in 0..PROGRAMS {
        let generated = generate::program(seed);
        let (with, some) = compiled(&generated.source, true);
        let (without, none) = compiled(&generated.source, false);
        assert_eq!(none, 0, "fusion is switched off");
        fused += some;
        for extents in EXTENTS {
            let expected = run(&plain, &without, &generated.params, extents, 0, seed);
            let found = run(&plain, &with, &generated.params, extents, 0, seed);
            let wrong = match (&expected, &found) {
                (Ok(e), Ok(f)) => difference(e, f, Tolerance::NONE),
                // Of several errors another one may come first.
                (Err(_), Err(_)) => None,
                (e, f) => Some(format!("{f:?} instead of {e:?}")),
            };
            assert!(wrong.is_none(), "seed {seed}, extents {extents:?}: {wrong:?}\n{}", generated.source);
        }
    }
    assert!(fused > 0, "no program has anything to fuse");
}
