//! The disassembler.

use crate::field::{Field, Fields, RegId};
use crate::module::{CodeBlock, EntryValue, Function, Module, Place};
use crate::op::Instr;
use galopvm_base::IdVec;
use std::fmt::Write;

/// The text of a module.
pub fn print(module: &Module) -> String {
    let mut text = String::from("module\n");
    for file in &module.files {
        let _ = writeln!(text, "file {file:?}");
    }
    for call in &module.calls {
        let _ = writeln!(text, "call{}", place_text(call));
    }
    for entry in &module.entries {
        let _ = writeln!(
            text,
            "entry {:?} {} ({}) -> ({})",
            entry.name,
            entry.function,
            entry_values(&entry.params),
            entry_values(&entry.results),
        );
    }
    for (id, function) in module.functions.iter_ids() {
        let _ = write!(text, "fn {id} ");
        text += &print_function(function);
    }
    text
}

fn entry_values(values: &[EntryValue]) -> String {
    let show = |v: &EntryValue| {
        let count = if v.values == 1 { String::new() } else { format!(" * {}", v.values) };
        let name = if v.name.is_empty() { String::new() } else { format!("{:?} : ", v.name) };
        format!("{name}{:?}{count}", v.ty)
    };
    values.iter().map(show).collect::<Vec<_>>().join(", ")
}

/// The text of a function, from its name on.
pub fn print_function(function: &Function) -> String {
    let results: Vec<String> = function.results.iter().map(|t| t.to_string()).collect();
    let mut text = format!(
        "{:?} ({}) -> ({})\n",
        function.name,
        definitions(function, &function.params),
        results.join(", ")
    );
    for (id, block) in function.blocks.iter_ids() {
        let _ = writeln!(text, "{id} ({}):", definitions(function, &block.params));
        text += &print_block(function, block);
    }
    text
}

fn print_block(function: &Function, block: &CodeBlock) -> String {
    let mut text = String::new();
    for (k, instr) in block.code.iter().enumerate() {
        let place = block.place(k).map_or(String::new(), |p| place_text(&p));
        let _ = writeln!(text, "  {}{place}", print_instr(function, instr));
    }
    let _ = writeln!(text, "  => {}", block.results.print());
    text
}

fn place_text(place: &Place) -> String {
    let (start, end) = (place.start, place.end);
    let call = place.call.map_or(String::new(), |call| format!(" in {call}"));
    format!(" @ {} {}:{}-{}:{}{call}", place.file, start.line, start.column, end.line, end.column)
}

/// The text of one instruction, without its place.
pub fn print_instr(function: &Function, instr: &Instr) -> String {
    let defs: Vec<RegId> = Fields::of(instr).defs.iter().map(|d| d.0).collect();
    let mut words = vec![instr.row().mnemonic.to_string()];
    instr.print_fields(&mut words);
    let words = words.join(" ");
    if defs.is_empty() { words } else { format!("{} = {words}", definitions(function, &defs)) }
}

fn definitions(function: &Function, regs: &[RegId]) -> String {
    let regs_of: &IdVec<RegId, _> = &function.regs;
    let show = |r: &RegId| match regs_of.get(*r) {
        Some(ty) => format!("{r} : {ty}"),
        None => format!("{r} : ?"),
    };
    regs.iter().map(show).collect::<Vec<_>>().join(", ")
}
