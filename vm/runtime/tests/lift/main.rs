//! Golden tests of the lift. A file of `tests/golden/lift` is a title, `----`, a module in assembly, and for each
//! parallel operator that is not inside another one `==== place`, then its region and bindings, or why there is
//! none. `GALOPVM_ACCEPT=1` writes the last part anew. `meaning.rs` compares values.

mod large;
mod meaning;

use galopvm_bytecode::{BlockId, FuncId, Instr, Module, VerifiedModule, text, verify};
use galopvm_kir::text::{print_exp, print_region};
use galopvm_lift::{Binding, Lifted, lift};
use galopvm_testkit::golden::whole;
use std::fmt::Write;

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
                    if matches!(other, Instr::For { .. } | Instr::While { .. }) {
                        found.push((block, k));
                    }
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

/// The title of a golden file, and its module.
fn title_and_code(whole: &str) -> (&str, &str) {
    let (title, rest) = whole.split_once("----\n").expect("a line of dashes");
    (title, rest.find("==== ").map_or(rest, |at| &rest[..at]))
}

#[test]
fn golden() {
    whole("lift", "txt", 13, |_, text| {
        let (title, code) = title_and_code(text);
        format!("{title}----\n{code}{}", lifts(&assembled(code)))
    });
}
