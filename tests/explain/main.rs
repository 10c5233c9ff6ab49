//! What `galopvm explain` says, as text and as JSON. Each program of `tests/golden/explain` is run on the first inputs of
//! its test blocks, and so are some of `examples/seeds`. `GALOPVM_ACCEPT=1` writes the expectations anew.
#![forbid(unsafe_code)]

use galopvm::{BackendChoice, Engine, Machine, Program};
use galopvm_explain::{Collector, Costs, Document, Heading, Target, first_input};
use galopvm_runtime::data::read_values;
use galopvm_testkit::golden::Golden;
use galopvm_testkit::read;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What is found out when an entry point runs on the first input of its test block, with the prices of a machine that
/// is the same everywhere.
fn explained(path: &Path, entry: &str, backend: BackendChoice) -> Document {
    let source = read(path);
    let name = path.display().to_string();
    let program = Program::from_source(&name, &source).unwrap_or_else(|e| panic!("{name}: {e}"));
    let collector = Collector::default();
    let engine = Engine::builder().backend(backend).explain(collector.sink()).build();
    let mut session = engine.session(&program);
    let input = first_input(&source, entry).unwrap_or_else(|| panic!("{name}: no input for {entry}"));
    let values = read_values(session.memory(), input.values.as_bytes()).expect("values");
    session.call_values(entry, values).unwrap_or_else(|e| panic!("{name}: {e}"));
    let input = format!("with the input of line {}", input.line);
    let heading = Heading { program: &name, entry, input: &input, off: Vec::new() };
    let (module, sites) = (program.module().module(), session.sites());
    let found = |name: &str| fs::read_to_string(name).ok();
    collector.document(heading, module, &sites, (&Machine::default(), &Costs::default(), Target::Cpu), &found)
}

/// The programs with the entry points to explain, and who executes their operators.
fn programs() -> Vec<(PathBuf, &'static str, BackendChoice, String)> {
    // Tests run in the folder of the manifest, so places are the same wherever that is.
    let golden = |name: &str| Path::new("tests/golden/explain").join(name).with_extension("fut");
    let seed = |name: &str| Path::new("examples/seeds").join(name).with_extension("fut");
    let interp = BackendChoice::Interp;
    let mut programs = vec![(golden("together"), "main", BackendChoice::Reference, "together".to_string())];
    for name in ["concat", "rows", "reuse", "data", "loops"] {
        programs.push((golden(name), "main", interp, name.into()));
    }
    for entry in ["apart", "meet"] {
        programs.push((golden("parts"), entry, interp, format!("parts_{entry}")));
    }
    for name in ["nw_arrays", "lu_arrays", "hotspot"] {
        programs.push((seed(name), "main", interp, name.into()));
    }
    programs
}

#[test]
fn golden() {
    let mut golden = Golden::new();
    for (path, entry, backend, name) in programs() {
        let document = explained(&path, entry, backend);
        let mut texts = vec![("txt", document.text(false))];
        // The examples would fill many pages.
        if path.starts_with("tests") {
            texts.push(("json", format!("{}\n", document.json(false))));
        }
        for (ending, found) in texts {
            golden.compare(&Path::new("tests/golden/explain").join(&name).with_extension(ending), &found);
        }
    }
    golden.finish();
}

/// The schema of the page has each name that the JSON has.
#[test]
fn the_page_tells_of_every_field() {
    let page = read(Path::new("docs/explain.md"));
    let (_, schema) = page.split_once("## JSON").expect("a section about JSON");
    let mut missed = BTreeSet::new();
    for (path, entry, backend, _) in programs() {
        let text = explained(&path, entry, backend).json(true).to_string();
        for (at, _) in text.match_indices("\":") {
            let name = text[..at].rsplit('"').next().unwrap_or_default();
            if !schema.contains(&format!("`{name}`")) {
                missed.insert(name.to_string());
            }
        }
    }
    assert!(missed.is_empty(), "docs/explain.md does not name {missed:?}");
}

/// Text and JSON are of the same facts, and kernel IR is shown only to those who ask.
#[test]
fn kernels_are_shown_on_demand() {
    let (path, entry, backend, _) = programs().remove(0);
    let document = explained(&path, entry, backend);
    assert!(!document.text(false).contains("kernel IR") && document.text(true).contains("kernel IR"));
    let (without, with) = (document.json(false).to_string(), document.json(true).to_string());
    assert!(!without.contains("\"kir\"") && with.contains("\"kir\""));
}
