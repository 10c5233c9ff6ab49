//! The programs that the analyses are for: results do not depend on switches, and what should not be copied is not.

use crate::support::{Tolerance, difference};
use galopvm::{BackendChoice, Engine, Program, Scalar, Switch, Switches, Value};
use std::path::Path;

/// Reductions of floats may be computed in another order.
const REORDERED: Tolerance = Tolerance { relative: 1e-5, absolute: 1e-9 };

/// Program, size for its entry point `large`, and whether nothing at all is copied in it.
const PROGRAMS: [(&str, i64, bool); 11] = [
    ("nw_lmads", 5, true),
    ("nw_arrays", 130, true),
    ("lu_arrays", 130, true),
    ("hotspot", 60, true),
    ("lud", 4, false),
    ("nn", 5000, true),
    ("option_pricing", 300, false),
    ("galop_rowsum", 70, true),
    ("galop_matmul", 40, true),
    ("galop_sweep", 6, true),
    ("galop_filter", 40, false),
];

fn program(name: &str) -> Program {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/seeds").join(name).with_extension("fut");
    Program::load(&file).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// The results of `large`, and the bytes that were copied meanwhile.
fn large(program: &Program, size: i64, backend: BackendChoice, switches: Switches) -> (Vec<Value>, u64) {
    let engine = Engine::builder().backend(backend).threads(2).switches(switches).build();
    let mut session = engine.session(program);
    let values =
        session.call_values("large", vec![Value::from(Scalar::i64(size))]).expect("the program runs");
    let copied = session.memory_stats().copied_bytes.iter().sum();
    (values, copied)
}

#[test]
fn results_do_not_depend_on_switches_and_copies_are_avoided() {
    for (name, size, copies_nothing) in PROGRAMS {
        let program = program(name);
        let (meaning, without) = large(&program, size, BackendChoice::Interp, Switches::OFF);
        for off in Switch::ALL.iter().map(|switch| vec![*switch]).chain([Vec::new()]) {
            for backend in [BackendChoice::Interp, BackendChoice::Auto] {
                let (found, copied) = large(&program, size, backend, Switches::without(&off));
                if let Some(wrong) = difference(&meaning, &found, REORDERED) {
                    panic!("{name} on {backend}, without {off:?}: {wrong}");
                }
                if off.is_empty() {
                    assert!(!copies_nothing || copied == 0, "{name} on {backend}: {copied} bytes are copied");
                    assert!(copied <= without, "{name}: {copied} bytes are copied, {without} without plans");
                }
            }
        }
    }
}
