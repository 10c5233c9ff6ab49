//! Every example gives its documented result on every engine.

use crate::support::{Tolerance, candidates, difference, example_files, interpreter};
use galopvm::{Engine, Program, Value};
use galopvm_runtime::data::read_values;
use std::fs;

/// The documented results have six digits after the point.
const PRINTED: Tolerance = Tolerance { relative: 1e-6, absolute: 6e-7 };

/// Reductions of floats may be computed in another order.
const REORDERED: Tolerance = Tolerance { relative: 1e-5, absolute: 0.0 };

fn run(engine: &Engine, program: &Program, input: &[u8]) -> Vec<Value> {
    let mut session = engine.session(program);
    let arguments = read_values(session.memory(), input).expect("the input is in the data format");
    session.call_values("main", arguments).expect("the example runs")
}

#[test]
fn examples_agree_with_their_results_and_each_other() {
    let (engines, plain) = (candidates(), interpreter());
    let examples = example_files();
    assert!(examples.len() >= 6, "examples are missing");
    for path in examples {
        let name = path.file_stem().expect("a file name").to_string_lossy().into_owned();
        let program = Program::load(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
        let data = |extension| {
            let file = path.with_file_name("data").join(&name).with_extension(extension);
            fs::read(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
        };
        let input = data("in");
        let meaning = run(&plain, &program, &input);
        let session = plain.session(&program);
        let documented =
            read_values(session.memory(), &data("out")).expect("the result is in the data format");
        if let Some(wrong) = difference(&documented, &meaning, PRINTED) {
            panic!("{name}, interpreter against examples/data/{name}.out: {wrong}");
        }
        for candidate in &engines {
            let found = run(&candidate.engine, &program, &input);
            if let Some(wrong) = difference(&meaning, &found, REORDERED) {
                panic!("{name}, {}: {wrong}", candidate.name);
            }
        }
    }
}
