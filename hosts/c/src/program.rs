//! Programs, and what they say of their entry points.

use crate::boundary::{Out, OutHandle, export, given, text, values};
use crate::status::c_text;
use galopvm::{Entry, EntryValue};
use std::ffi::{CString, c_char};
use std::ptr;

/// A program, with its texts as C wants them.
pub struct Program {
    pub(crate) program: galopvm::Program,
    entries: Vec<EntryTexts>,
    warnings: Option<CString>,
}

struct EntryTexts {
    name: CString,
    params: Vec<ValueTexts>,
    results: Vec<ValueTexts>,
}

struct ValueTexts {
    name: CString,
    ty: CString,
}

impl ValueTexts {
    fn new(value: &EntryValue) -> ValueTexts {
        ValueTexts { name: c_text(&value.name), ty: c_text(&value.ty) }
    }
}

impl EntryTexts {
    fn new(entry: &Entry) -> EntryTexts {
        EntryTexts {
            name: c_text(&entry.name),
            params: entry.params.iter().map(ValueTexts::new).collect(),
            results: entry.results.iter().map(ValueTexts::new).collect(),
        }
    }
}

/// Bytes that the library made.
pub struct Bytes(Vec<u8>);

fn handle(program: galopvm::Program) -> Option<Box<Program>> {
    let entries = program.entries().iter().map(EntryTexts::new).collect();
    let warnings = program.warnings().map(|messages| c_text(&messages.render(false)));
    Some(Box::new(Program { program, entries, warnings }))
}

/// What a program says of an entry point.
fn entry(program: Option<&Program>, number: usize) -> Option<&EntryTexts> {
    program?.entries.get(number)
}

export! {
    /// Compiles source text; it need not end with a zero. `name` is what messages call the file; imports are looked for from its folder.
    fn galopvm_program_from_source(name: *const c_char, source: *const c_char, bytes: usize, out: OutHandle<'_, Program>) -> Status {
        let name = text(name, "name")?;
        let source = values(source.cast::<u8>(), bytes, "source")?;
        let out = given(out, "out")?;
        out.write(handle(galopvm::Program::from_source(name, galopvm::program::source_text(name, source)?)?));
    }

    /// The program in a file: bytecode, or source.
    fn galopvm_program_from_file(path: *const c_char, out: OutHandle<'_, Program>) -> Status {
        let path = text(path, "path")?;
        let out = given(out, "out")?;
        out.write(handle(galopvm::Program::load(path)?));
    }

    /// The program of the bytes of a bytecode file.
    fn galopvm_program_from_bytecode(name: *const c_char, bytecode: *const u8, bytes: usize, out: OutHandle<'_, Program>) -> Status {
        let name = text(name, "name")?;
        let bytecode = values(bytecode, bytes, "bytecode")?;
        let out = given(out, "out")?;
        out.write(handle(galopvm::Program::from_bytecode(name, bytecode)?));
    }

    /// The bytes of a bytecode file.
    fn galopvm_program_bytecode(program: Option<&Program>, out: OutHandle<'_, Bytes>) -> Status {
        let program = given(program, "program")?;
        given(out, "out")?.write(Some(Box::new(Bytes(program.program.to_bytecode()))));
    }

    /// Frees a program; sessions of it go on.
    fn galopvm_program_free(program: Option<Box<Program>>) -> Status {
        drop(program);
    }

    /// Where bytes are, and how many.
    fn galopvm_bytes_get(bytes: Option<&Bytes>, data: Out<'_, *const u8>, count: Out<'_, usize>) -> Status {
        let bytes = given(bytes, "bytes")?;
        let (data, count) = (given(data, "data")?, given(count, "count")?);
        data.write(bytes.0.as_ptr());
        count.write(bytes.0.len());
    }

    /// Frees bytes.
    fn galopvm_bytes_free(bytes: Option<Box<Bytes>>) -> Status {
        drop(bytes);
    }
}

export! {
    /// Warnings of the compilation, as people read them; `NULL` if there are none.
    fn galopvm_program_warnings(program: Option<&Program>) -> *const c_char {
        program.and_then(|p| p.warnings.as_ref()).map_or(ptr::null(), |text| text.as_ptr())
    } else ptr::null();

    /// How many entry points there are.
    fn galopvm_program_entries(program: Option<&Program>) -> usize {
        program.map_or(0, |p| p.entries.len())
    } else 0;

    /// The name of an entry point; `NULL` if there is none of this number.
    fn galopvm_entry_name(program: Option<&Program>, number: usize) -> *const c_char {
        entry(program, number).map_or(ptr::null(), |e| e.name.as_ptr())
    } else ptr::null();

    /// How many arguments an entry point takes.
    fn galopvm_entry_params(program: Option<&Program>, number: usize) -> usize {
        entry(program, number).map_or(0, |e| e.params.len())
    } else 0;

    /// The name of a parameter; `NULL` if there is none of this number.
    fn galopvm_entry_param_name(program: Option<&Program>, number: usize, param: usize) -> *const c_char {
        entry(program, number).and_then(|e| e.params.get(param)).map_or(ptr::null(), |p| p.name.as_ptr())
    } else ptr::null();

    /// The type of a parameter as the source writes it, `*` in front if it is consumed; `NULL` if there is none of this number.
    fn galopvm_entry_param_type(program: Option<&Program>, number: usize, param: usize) -> *const c_char {
        entry(program, number).and_then(|e| e.params.get(param)).map_or(ptr::null(), |p| p.ty.as_ptr())
    } else ptr::null();

    /// How many results an entry point gives.
    fn galopvm_entry_results(program: Option<&Program>, number: usize) -> usize {
        entry(program, number).map_or(0, |e| e.results.len())
    } else 0;

    /// The type of a result as the source writes it; `NULL` if there is none of this number.
    fn galopvm_entry_result_type(program: Option<&Program>, number: usize, result: usize) -> *const c_char {
        entry(program, number).and_then(|e| e.results.get(result)).map_or(ptr::null(), |r| r.ty.as_ptr())
    } else ptr::null();
}
