//! Functions and loops of many programs are recorded as regions: nothing panics, what is recorded is well-formed, and
//! results stay the same.

#[path = "../../tests/programs/generate.rs"]
mod generate;

use galopvm_base::{ElemType, Sources};
use galopvm_bytecode::{VerifiedModule, verify};
use galopvm_explain::{Collector, Costs, Heading, Target, first_input};
use galopvm_runtime::Explained;
use galopvm_runtime::data::{Reader, write_text};
use galopvm_runtime::{Limits, Options, Session};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// What was told of regions.
#[derive(Default)]
struct Told {
    recorded: usize,
    complaints: Vec<String>,
}

fn compiled(name: &str, source: &str) -> VerifiedModule {
    let mut sources = Sources::new();
    let file = sources.add(name, source);
    let module = galopvm_frontend::compile(&mut sources, file).module;
    verify(module.unwrap_or_else(|| panic!("{name} does not compile")))
        .unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// The results of an entry point as text, or the error; told about its regions.
fn run(module: &VerifiedModule, entry: &str, input: &str, told: Option<&Arc<Mutex<Told>>>) -> String {
    let collector = Collector::default();
    let limits = Limits { fuel: Some(20_000_000), memory: Some(1 << 28), ..Limits::default() };
    let mut options = Options { limits, ..Options::default() };
    if let Some(told) = told {
        let (told, kept) = (told.clone(), collector.sink());
        options.explain = Some(Arc::new(move |what: Explained<'_>| {
            let mut told = told.lock().expect("nobody panics while telling");
            match &what {
                Explained::Region(seen) => {
                    told.recorded += 1;
                    let _ = seen.circuits.text(seen.recorded.region.region());
                }
                Explained::Unrecorded(seen) if seen.refusal.reason.contains("not well-formed") => {
                    told.complaints.push(seen.refusal.reason.clone());
                }
                _ => {}
            }
            kept(what);
        }));
    }
    let mut session = Session::new(module.clone(), options);
    let function = session.entry(entry).expect("the entry point").function;
    let code = &module.module().functions[function];
    let types: Vec<_> = code.params.iter().map(|param| code.regs[*param]).collect();
    let mut values = Vec::new();
    let memory = session.memory().clone();
    let mut reader = Reader::new(&memory, input.as_bytes());
    for ty in types {
        match reader.value(Some(ty)) {
            Ok(Some(value)) => values.push(value),
            _ => return "no such values".into(),
        }
    }
    let outcome = session.call(entry, values);
    let heading = Heading { program: "p.fut", entry, input: "", off: Vec::new() };
    let (machine, costs) = (Default::default(), Costs::default());
    let document = collector.document(
        heading,
        module.module(),
        &session.sites(),
        (&machine, &costs, Target::Gpu),
        &|_| None,
    );
    assert_eq!(document.text(true).is_empty(), document.json(true).to_string().is_empty());
    match outcome {
        Ok(values) => {
            let mut text = Vec::new();
            for value in &values {
                write_text(&mut text, value).expect("memory");
            }
            String::from_utf8_lossy(&text).into_owned()
        }
        Err(error) => error.to_string(),
    }
}

/// Runs with and without being told.
fn compare(name: &str, module: &VerifiedModule, entry: &str, input: &str, told: &Arc<Mutex<Told>>) {
    let plain = run(module, entry, input, None);
    assert_eq!(run(module, entry, input, Some(told)), plain, "{name}, {entry}");
    let told = told.lock().expect("nobody panics while telling");
    assert!(told.complaints.is_empty(), "{name}, {entry}: {}", told.complaints.join("; "));
}

fn value(param: &generate::Param, k: usize) -> String {
    let scalar = match param.elem {
        ElemType::Bool => "true".to_string(),
        ElemType::U8 | ElemType::U16 | ElemType::U32 | ElemType::U64 => k.to_string(),
        _ => format!("{}", k as i64 - 3),
    };
    param.dims.iter().rev().fold(scalar, |inner, dim| {
        let rows = vec![inner; [5, 3][*dim]];
        format!("[{}]", rows.join(", "))
    })
}

#[test]
fn generated_programs() {
    let told = Arc::default();
    for seed in 0..300 {
        let program = generate::program(seed);
        let module = compiled(&format!("generated {seed}"), &program.source);
        let input: Vec<String> = program.params.iter().enumerate().map(|(k, p)| value(p, k + 1)).collect();
        compare(&program.source, &module, "main", &input.join(" "), &told);
    }
    assert!(told.lock().expect("nobody panicked").recorded >= 300);
}

fn programs(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    let mut found: Vec<PathBuf> = paths.filter(|p| p.extension().is_some_and(|e| e == "fut")).collect();
    found.sort();
    found
}

#[test]
fn examples() {
    let told = Arc::default();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = ["examples", "examples/seeds", "tests/golden/explain"];
    for path in folders.iter().flat_map(|folder| programs(&root.join(folder))) {
        let name = path.display().to_string();
        let source = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
        let module = compiled(&name, &source);
        for entry in &module.module().entries {
            let test = first_input(&source, &entry.name).map(|input| input.values);
            let data =
                path.with_file_name("data").join(path.file_stem().expect("a name")).with_extension("in");
            let input = test.or_else(|| fs::read_to_string(data).ok()).unwrap_or_default();
            compare(&name, &module, &entry.name, &input, &told);
        }
    }
    assert!(told.lock().expect("nobody panicked").recorded >= 50);
}
