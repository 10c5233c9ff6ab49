//! Every example gives its documented result on every engine.

use crate::support::{Candidate, Tolerance, candidates, difference, example_files, interpreter};
use galopvm::{Engine, Program, Value};
use galopvm_runtime::data::read_values;
use std::fs;
use std::path::{Path, PathBuf};

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
    let calculating: Vec<&Candidate> =
        engines.iter().filter(|candidate| !candidate.name.starts_with("vulkan")).collect();
    let all: Vec<&Candidate> = engines.iter().collect();
    let examples = example_files();
    assert!(examples.len() >= 6, "examples are missing");
    let mut larger = 0;
    for path in examples {
        let name = path.file_stem().expect("a file name").to_string_lossy().into_owned();
        let data = path.with_file_name("data");
        let (small, large) = (data.join(&name), data.join(format!("{name}.large")));
        agree(&path, &small, &plain, &all);
        // A device that is imitated here takes minutes for what the others do in a second.
        if beside(&large, "in").exists() {
            agree(&path, &large, &plain, &calculating);
            larger += 1;
        }
    }
    assert!(larger >= 1, "no example has a larger input");
}

/// A file of data by its name without the extension, which may have a point in it.
fn beside(data: &Path, extension: &str) -> PathBuf {
    let mut name = data.as_os_str().to_os_string();
    name.push(format!(".{extension}"));
    name.into()
}

/// An example gives its documented result for an input on some engines.
fn agree(path: &Path, data: &Path, plain: &Engine, engines: &[&Candidate]) {
    let name = data.file_name().expect("a file name").to_string_lossy();
    let program = Program::load(path).unwrap_or_else(|e| panic!("{name}: {e}"));
    let read = |extension| {
        let file = beside(data, extension);
        fs::read(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
    };
    let input = read("in");
    let meaning = run(plain, &program, &input);
    let session = plain.session(&program);
    let documented = read_values(session.memory(), &read("out")).expect("the result is in the data format");
    if let Some(wrong) = difference(&documented, &meaning, PRINTED) {
        panic!("{name}, interpreter against its documented result: {wrong}");
    }
    for candidate in engines {
        let found = run(&candidate.engine, &program, &input);
        if let Some(wrong) = difference(&meaning, &found, REORDERED) {
            panic!("{name}, {}: {wrong}", candidate.name);
        }
    }
}
