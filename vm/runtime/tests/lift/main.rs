//! Golden tests of the lift. A file of `tests/golden/lift` is a title, `----`, a module in assembly, and for each
//! parallel operator that is not inside another one `==== place`, then its region and bindings, or why there is
//! none. `GALOPVM_ACCEPT=1` writes the last part anew. `meaning.rs` compares values.

mod large;
mod meaning;

use galopvm_bytecode::{BlockId, FuncId, Module, VerifiedModule, text, verify};
use galopvm_kir::text::{print_exp, print_region};
use galopvm_lift::{Binding, Lifted, lift};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

fn golden_files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/lift");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the golden folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    files
}

fn assembled(text: &str) -> VerifiedModule {
    let module = text::parse(text).unwrap_or_else(|e| panic!("{e}"));
    verify(module).unwrap_or_else(|e| panic!("{e}"))
}

/// The operators of a function that are not inside others, in order.
fn operators(module: &Module, function: FuncId) -> Vec<(BlockId, usize)> {
    fn collect(module: &Module, function: FuncId, block: BlockId, found: &mut Vec<(BlockId, usize)>) {
        for (k, instr) in module.functions[function].blocks[block].code.iter().enumerate() {
            match instr {
                operator if operator.is_parallel() => found.push((block, k)),
                other => {
                    for inner in galopvm_bytecode::field::Fields::of(other).blocks {
                        collect(module, function, inner, found);
                    }
                }
            }
        }
    }
    let mut found = Vec::new();
    collect(module, function, BlockId(0), &mut found);
    found
}

fn bindings(lifted: &Lifted) -> String {
    let region = lifted.region.region();
    let show = |(param, binding): (&galopvm_kir::VarId, &Binding)| {
        let value = match binding {
            Binding::Scalar(reg) | Binding::Array(reg) => reg.to_string(),
            Binding::Extent { array, dim } => format!("dim {array} {dim}"),
        };
        format!("{} = {value}", region.name_of(*param))
    };
    region.params.iter().zip(&lifted.bindings).map(show).collect::<Vec<_>>().join(", ")
}

fn lifts(module: &VerifiedModule) -> String {
    let mut out = String::new();
    for function in module.module().functions.ids() {
        for (block, index) in operators(module.module(), function) {
            let name = &module.module().functions[function].name;
            let _ = writeln!(out, "==== {name} {block} {index}");
            match lift(module, function, block, index) {
                Ok(lifted) => {
                    let region = lifted.region.region();
                    let _ = writeln!(out, "{}where {}", print_region(region), bindings(&lifted));
                    for guard in &lifted.guards {
                        let _ = writeln!(out, "guard {}", print_exp(region, guard));
                    }
                }
                Err(refusal) => {
                    let _ = writeln!(out, "refused: {refusal}");
                }
            }
        }
    }
    out
}

#[test]
fn golden() {
    let accept = std::env::var_os("GALOPVM_ACCEPT").is_some();
    let mut failures = Vec::new();
    for file in golden_files() {
        let whole = fs::read_to_string(&file).expect("a golden file");
        let (head, rest) = whole.split_once("----\n").expect("a line of dashes");
        let code = rest.find("==== ").map_or(rest, |at| &rest[..at]);
        let got = format!("{head}----\n{code}{}", lifts(&assembled(code)));
        if accept {
            fs::write(&file, got).expect("the golden file can be written");
        } else if got != whole {
            failures.push(format!("{}:\n{got}", file.display()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
