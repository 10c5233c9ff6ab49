//! A program of a file, whose entry points are called like those of a generated one.

use crate::author::{Elem, EntryPoint, Param, Program};
use galopvm_base::{ElemType, Sources};
use galopvm_bytecode::{FuncId, Module, ValueType, text};
use std::path::Path;

/// The program of a file. Each entry point takes two `i64`, an `f64`, and arrays.
pub fn program(file: &Path) -> Result<Program, String> {
    let name = file.display();
    let source = std::fs::read_to_string(file).map_err(|error| format!("{name}: {error}"))?;
    let module = module(&source).map_err(|why| format!("{name}: {why}"))?;
    let entries = module.entries.iter().map(|entry| {
        let params = params(&module, entry.function).ok_or_else(|| {
            format!(
                "{name}: `{}` should take two i64, an f64, and arrays of {}",
                entry.name,
                Elem::ALL.iter().map(|elem| elem.word()).collect::<Vec<_>>().join(", ")
            )
        })?;
        Ok(EntryPoint { name: entry.name.clone(), params })
    });
    let entries = entries.collect::<Result<Vec<_>, String>>()?;
    if entries.is_empty() {
        return Err(format!("{name}: there is no entry point"));
    }
    Ok(Program { source, entries })
}

/// What the text of a program says, which is source code or bytecode.
pub fn module(source: &str) -> Result<Module, String> {
    if source.lines().find(|line| !line.starts_with(';')) == Some("module") {
        return text::parse(source).map_err(|error| error.to_string());
    }
    let mut sources = Sources::new();
    let file = sources.add("case.fut", source);
    let compiled = galopvm_frontend::compile(&mut sources, file);
    compiled.module.ok_or_else(|| {
        let first = compiled.diagnostics.iter().find(|d| d.is_error());
        first.map(|d| d.message.clone()).unwrap_or_default()
    })
}

/// The arrays that an entry point takes after its numbers.
fn params(module: &Module, function: FuncId) -> Option<Vec<Param>> {
    let code = &module.functions[function];
    let types: Vec<ValueType> = code.params.iter().map(|param| code.regs[*param]).collect();
    let numbers = [ElemType::I64, ElemType::I64, ElemType::F64].map(ValueType::scalar);
    let arrays = types.strip_prefix(&numbers)?;
    arrays
        .iter()
        .map(|ty| Some(Param { elem: elem(ty.elem)?, rank: ty.rank.into(), unique: false }))
        .collect()
}

fn elem(ty: ElemType) -> Option<Elem> {
    Elem::ALL.iter().copied().find(|elem| elem.ty() == ty)
}
