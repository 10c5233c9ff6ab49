//! The `.gbc` container.
//!
//! ```text
//! offset  bytes
//!      0  4      magic: 7f 'g' 'b' 'c'
//!      4  2      format version, little endian
//!      6  2      number of sections, little endian
//!      8  8      checksum (FNV-1a, 64 bits, little endian) of everything from byte 16 on
//!     16  8 * n  per section: kind (u32), length in bytes (u32), little endian; kinds rise
//!     ..         the sections, one after the other, in that order
//! ```
//! Numbers inside sections are LEB128. The same module always gives the same bytes. Unknown kinds are skipped, so
//! that a later version may add sections older readers can do without; anything else new raises the version.
//!
//! Decoding proves only that the bytes say *some* module; [`crate::verify()`] proves that it may run.

use crate::field::{Def, Field, FuncId, Operand, RegId};
use crate::module::{CodeBlock, Entry, EntryValue, Function, Module, Place, ValueType};
use crate::op::Instr;
use crate::wire::{Decoder, Encoder, Tables, WireError};
use galopvm_base::{ElemType, IdVec, Pos, Scalar};
use std::fmt;

/// The format version this crate writes. It reads this one and all before it, for ever: each version has a file in
/// `tests/golden/frozen` that must load.
pub const VERSION: u16 = 1;

/// The first version there was.
const OLDEST: u16 = 1;

const MAGIC: [u8; 4] = [0x7f, b'g', b'b', b'c'];
const HEADER: usize = 16;

/// Section kinds, in file order.
mod section {
    pub(super) const STRINGS: u32 = 1;
    pub(super) const CONSTANTS: u32 = 2;
    pub(super) const TYPES: u32 = 3;
    pub(super) const FUNCTIONS: u32 = 4;
    pub(super) const CODE: u32 = 5;
    pub(super) const ENTRIES: u32 = 6;
    pub(super) const PLACES: u32 = 7;
    pub(super) const CALLS: u32 = 8;
}

/// Why bytes are no module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FormatError {
    /// Not a `.gbc` file at all.
    NotBytecode,
    /// Written by another version of the format.
    Version {
        /// The version of the file.
        found: u16,
    },
    /// The checksum does not match: the file was damaged.
    Checksum,
    /// The contents make no sense.
    Malformed {
        /// Byte offset.
        offset: usize,
        /// What is wrong there.
        message: String,
    },
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FormatError::NotBytecode => {
                f.write_str("this is not a .gbc file (the first four bytes are not 7f 'gbc')")
            }
            FormatError::Version { found } if *found > VERSION => {
                write!(
                    f,
                    "the file has format version {found}; this galopvm reads versions up to {VERSION}: use a newer one"
                )
            }
            FormatError::Version { found } => {
                write!(
                    f,
                    "the file has format version {found}, which this galopvm does not read: compile it again"
                )
            }
            FormatError::Checksum => f.write_str("the file is damaged (its checksum does not match)"),
            FormatError::Malformed { offset, message } => {
                write!(f, "malformed file at byte {offset}: {message}")
            }
        }
    }
}

impl std::error::Error for FormatError {}

impl From<WireError> for FormatError {
    fn from(error: WireError) -> FormatError {
        FormatError::Malformed { offset: error.offset, message: error.message }
    }
}

/// The checksum of the bytes after the header.
pub fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ *b as u64).wrapping_mul(0x0000_0100_0000_01b3))
}

/// True if the bytes claim to be a `.gbc` file.
pub fn is_bytecode(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// The bytes of a module.
pub fn encode(module: &Module) -> Vec<u8> {
    let mut tables = Tables::default();
    let mut types = TypeTable::default();
    let mut sections = Vec::new();
    let functions = section_bytes(&mut tables, |out| {
        out.list(module.functions.as_slice(), |f, out| encode_function(f, &mut types, out));
    });
    let code = section_bytes(&mut tables, |out| {
        for function in module.functions.iter() {
            out.list(function.blocks.as_slice(), encode_block);
        }
    });
    let entries = section_bytes(&mut tables, |out| out.list(&module.entries, encode_entry));
    let places = section_bytes(&mut tables, |out| encode_places(module, out));
    let strings = section_bytes(&mut Tables::default(), |out| {
        out.list(&tables.strings, |text, out| {
            out.number(text.len() as u64);
            out.bytes.extend_from_slice(text.as_bytes());
        });
    });
    let constants = section_bytes(&mut Tables::default(), |out| {
        out.list(&tables.constants, |c, out| {
            out.byte(c.ty.code());
            out.bytes.extend_from_slice(&c.bits.to_le_bytes()[..c.ty.bytes()]);
        });
    });
    let types = section_bytes(&mut Tables::default(), |out| {
        out.list(&types.types, |t, out| {
            out.byte(t.elem.code());
            out.byte(t.rank);
        });
    });
    sections.push((section::STRINGS, strings));
    sections.push((section::CONSTANTS, constants));
    sections.push((section::TYPES, types));
    sections.push((section::FUNCTIONS, functions));
    sections.push((section::CODE, code));
    sections.push((section::ENTRIES, entries));
    if !module.files.is_empty() {
        sections.push((section::PLACES, places));
    }
    if !module.calls.is_empty() {
        sections
            .push((section::CALLS, section_bytes(&mut Tables::default(), |out| encode_calls(module, out))));
    }
    let mut body = Vec::new();
    for (kind, bytes) in &sections {
        body.extend_from_slice(&kind.to_le_bytes());
        body.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    }
    for (_, bytes) in &sections {
        body.extend_from_slice(bytes);
    }
    let mut file = Vec::with_capacity(HEADER + body.len());
    file.extend_from_slice(&MAGIC);
    file.extend_from_slice(&VERSION.to_le_bytes());
    file.extend_from_slice(&(sections.len() as u16).to_le_bytes());
    file.extend_from_slice(&checksum(&body).to_le_bytes());
    file.extend_from_slice(&body);
    file
}

fn section_bytes(tables: &mut Tables, write: impl FnOnce(&mut Encoder<'_>)) -> Vec<u8> {
    let mut out = Encoder::new(tables);
    write(&mut out);
    out.bytes
}

#[derive(Default)]
struct TypeTable {
    types: Vec<ValueType>,
}

impl TypeTable {
    fn index(&mut self, ty: ValueType) -> u64 {
        let found = self.types.iter().position(|t| *t == ty).unwrap_or_else(|| {
            self.types.push(ty);
            self.types.len() - 1
        });
        found as u64
    }
}

fn encode_function(function: &Function, types: &mut TypeTable, out: &mut Encoder<'_>) {
    let name = out.string(&function.name);
    out.number(name);
    out.list(function.regs.as_slice(), |ty, out| out.number(types.index(*ty)));
    out.list(&function.params, |p, out| Def(*p).encode(out));
    out.list(&function.results, |ty, out| out.number(types.index(*ty)));
}

fn encode_block(block: &CodeBlock, out: &mut Encoder<'_>) {
    out.list(&block.params, |p, out| Def(*p).encode(out));
    out.list(&block.code, Instr::encode);
    out.list(&block.results, Field::encode);
}

fn encode_entry(entry: &Entry, out: &mut Encoder<'_>) {
    let name = out.string(&entry.name);
    out.number(name);
    entry.function.encode(out);
    for values in [&entry.params, &entry.results] {
        out.list(values, |value, out| {
            for text in [&value.name, &value.ty] {
                let index = out.string(text);
                out.number(index);
            }
            out.number(value.values as u64);
        });
    }
}

fn encode_places(module: &Module, out: &mut Encoder<'_>) {
    out.list(&module.files, |name, out| {
        let index = out.string(name);
        out.number(index);
    });
    for block in module.functions.iter().flat_map(|f| f.blocks.iter()) {
        out.list(&block.places, |place, out| encode_place(*place, out));
    }
}

/// All but the call that it belongs to.
fn encode_place(place: Option<Place>, out: &mut Encoder<'_>) {
    let Some(place) = place else { return out.number(0) };
    out.number(place.file as u64 + 1);
    for number in [place.start.line, place.start.column, place.end.line, place.end.column] {
        out.number(number as u64);
    }
}

/// Numbers of calls: one more than the index, 0 for none.
fn encode_calls(module: &Module, out: &mut Encoder<'_>) {
    let number = |place: Place| place.call.map_or(0, |call| u64::from(call) + 1);
    out.list(&module.calls, |place, out| {
        encode_place(Some(*place), out);
        out.number(number(*place));
    });
    for block in module.functions.iter().flat_map(|f| f.blocks.iter()) {
        let any = block.places.iter().flatten().any(|place| place.call.is_some());
        let places = if any { &block.places[..] } else { &[] };
        out.list(places, |place, out| out.number(place.map_or(0, number)));
    }
}

/// The module that bytes say.
pub fn decode(file: &[u8]) -> Result<Module, FormatError> {
    if !is_bytecode(file) {
        return Err(FormatError::NotBytecode);
    }
    let short = || FormatError::Malformed { offset: file.len(), message: "the file ends too early".into() };
    let header: &[u8; HEADER] = file.first_chunk().ok_or_else(short)?;
    let version = u16::from_le_bytes([header[4], header[5]]);
    if !(OLDEST..=VERSION).contains(&version) {
        return Err(FormatError::Version { found: version });
    }
    let count = u16::from_le_bytes([header[6], header[7]]) as usize;
    let body = &file[HEADER..];
    if checksum(body) != u64::from_le_bytes(*header[8..].first_chunk().ok_or_else(short)?) {
        return Err(FormatError::Checksum);
    }
    let sections = Sections::read(file, count)?;
    let none = Tables::default();
    let strings = sections.whole(section::STRINGS, &none, |input| {
        input.list(|input| {
            let length = input.number()? as usize;
            let text = std::str::from_utf8(input.bytes(length)?)
                .map_err(|_| input.error("a string is not UTF-8"))?;
            Ok(text.to_string())
        })
    })?;
    let constants = sections.whole(section::CONSTANTS, &none, |input| input.list(decode_constant))?;
    let types = sections.whole(section::TYPES, &none, |input| {
        input.list(|input| Ok(ValueType { elem: ElemType::decode(input)?, rank: input.byte()? }))
    })?;
    let tables = Tables::of(strings, constants);
    let mut functions = sections
        .whole(section::FUNCTIONS, &tables, |input| input.list(|input| decode_function(&types, input)))?;
    sections.whole(section::CODE, &tables, |input| {
        for function in &mut functions {
            function.blocks = input.list(decode_block)?.into();
        }
        Ok(())
    })?;
    let entries = sections.whole(section::ENTRIES, &tables, |input| input.list(decode_entry))?;
    let mut module = Module { functions: functions.into(), entries, files: Vec::new(), calls: Vec::new() };
    if sections.find(section::PLACES).is_some() {
        sections.whole(section::PLACES, &tables, |input| decode_places(&mut module, input))?;
    }
    if sections.find(section::CALLS).is_some() {
        sections.whole(section::CALLS, &tables, |input| decode_calls(&mut module, input))?;
    }
    Ok(module)
}

struct Sections<'a> {
    file: &'a [u8],
    /// (kind, first byte, one past the last byte)
    ranges: Vec<(u32, usize, usize)>,
}

impl<'a> Sections<'a> {
    fn read(file: &'a [u8], count: usize) -> Result<Sections<'a>, FormatError> {
        let malformed = |offset, message: &str| FormatError::Malformed { offset, message: message.into() };
        let mut start = HEADER + 8 * count;
        let mut ranges: Vec<(u32, usize, usize)> = Vec::new();
        for k in 0..count {
            let at = HEADER + 8 * k;
            let row =
                file.get(at..at + 8).ok_or_else(|| malformed(at, "the section table ends too early"))?;
            let word = |i: usize| u32::from_le_bytes([row[i], row[i + 1], row[i + 2], row[i + 3]]);
            let (kind, end) = (word(0), start + word(4) as usize);
            if ranges.last().is_some_and(|(before, ..)| *before >= kind) {
                return Err(malformed(at, "section kinds do not rise"));
            }
            if end > file.len() {
                return Err(malformed(at, "a section is longer than the file"));
            }
            ranges.push((kind, start, end));
            start = end;
        }
        if start != file.len() {
            return Err(malformed(start, "bytes follow the last section"));
        }
        Ok(Sections { file, ranges })
    }

    fn find(&self, kind: u32) -> Option<(usize, usize)> {
        self.ranges.iter().find(|r| r.0 == kind).map(|r| (r.1, r.2))
    }

    /// Reads a section with `read`, which must use all of it.
    fn whole<T>(
        &self,
        kind: u32,
        tables: &Tables,
        read: impl FnOnce(&mut Decoder<'_>) -> Result<T, WireError>,
    ) -> Result<T, FormatError> {
        let missing =
            || FormatError::Malformed { offset: HEADER, message: format!("section {kind} is missing") };
        let (start, end) = self.find(kind).ok_or_else(missing)?;
        let mut input = Decoder::new(&self.file[start..end], start, tables);
        let value = read(&mut input)?;
        if input.left() != 0 {
            return Err(input.error("bytes are left at the end of a section").into());
        }
        Ok(value)
    }
}

fn decode_constant(input: &mut Decoder<'_>) -> Result<Scalar, WireError> {
    let ty = ElemType::decode(input)?;
    let mut bits = [0; 8];
    bits[..ty.bytes()].copy_from_slice(input.bytes(ty.bytes())?);
    let bits = u64::from_le_bytes(bits);
    if bits & !ty.mask() != 0 {
        return Err(input.error("a truth value is neither 0 nor 1"));
    }
    Ok(Scalar { ty, bits })
}

fn decode_type(types: &[ValueType], input: &mut Decoder<'_>) -> Result<ValueType, WireError> {
    let index = input.small()?;
    types.get(index as usize).copied().ok_or_else(|| input.error(format!("there is no type {index}")))
}

fn decode_registers(input: &mut Decoder<'_>) -> Result<Vec<RegId>, WireError> {
    input.list(|input| Ok(Def::decode(input)?.0))
}

fn decode_function(types: &[ValueType], input: &mut Decoder<'_>) -> Result<Function, WireError> {
    let name = input.number()?;
    Ok(Function {
        name: input.string(name)?,
        regs: input.list(|input| decode_type(types, input))?.into(),
        params: decode_registers(input)?,
        results: input.list(|input| decode_type(types, input))?,
        blocks: IdVec::new(),
    })
}

fn decode_block(input: &mut Decoder<'_>) -> Result<CodeBlock, WireError> {
    Ok(CodeBlock {
        params: decode_registers(input)?,
        code: input.list(Instr::decode)?,
        results: input.list(Operand::decode)?,
        places: Vec::new(),
    })
}

fn decode_entry(input: &mut Decoder<'_>) -> Result<Entry, WireError> {
    let text = |input: &mut Decoder<'_>| {
        let index = input.number()?;
        input.string(index)
    };
    let name = text(input)?;
    let function = FuncId::decode(input)?;
    let mut values = || {
        input.list(|input| {
            let (name, ty) = (text(input)?, text(input)?);
            Ok(EntryValue { name, ty, values: input.small()? })
        })
    };
    Ok(Entry { name, function, params: values()?, results: values()? })
}

fn decode_places(module: &mut Module, input: &mut Decoder<'_>) -> Result<(), WireError> {
    module.files = input.list(|input| {
        let index = input.number()?;
        input.string(index)
    })?;
    let files = module.files.len() as u32;
    for block in module.functions.iter_mut().flat_map(|f| f.blocks.iter_mut()) {
        block.places = input.list(|input| decode_place(files, input))?;
        if !block.places.is_empty() && block.places.len() != block.code.len() {
            return Err(input.error("a block has places for another number of instructions"));
        }
    }
    Ok(())
}

fn decode_place(files: u32, input: &mut Decoder<'_>) -> Result<Option<Place>, WireError> {
    let Some(file) = input.small()?.checked_sub(1) else { return Ok(None) };
    if file >= files {
        return Err(input.error(format!("there is no source file {file}")));
    }
    let mut pos = || Ok(Pos { line: input.small()?, column: input.small()? });
    Ok(Some(Place { file, start: pos()?, end: pos()?, call: None }))
}

fn decode_calls(module: &mut Module, input: &mut Decoder<'_>) -> Result<(), WireError> {
    let files = module.files.len() as u32;
    let mut count = 0;
    module.calls = input.list(|input| {
        let place = decode_place(files, input)?.ok_or_else(|| input.error("a call has no place"))?;
        let call = decode_call(count, input)?;
        count += 1;
        Ok(Place { call, ..place })
    })?;
    for block in module.functions.iter_mut().flat_map(|f| f.blocks.iter_mut()) {
        let calls = input.list(|input| decode_call(count, input))?;
        if !calls.is_empty() && calls.len() != block.places.len() {
            return Err(input.error("a block has calls for another number of places"));
        }
        for (place, call) in block.places.iter_mut().zip(calls) {
            match place {
                Some(place) => place.call = call,
                None if call.is_none() => {}
                None => return Err(input.error("a call without a place")),
            }
        }
    }
    Ok(())
}

/// A call that is one of the first `count`, or none.
fn decode_call(count: u32, input: &mut Decoder<'_>) -> Result<Option<u32>, WireError> {
    let call = input.small()?.checked_sub(1);
    match call {
        Some(call) if call >= count => Err(input.error(format!("there is no call {call} yet"))),
        _ => Ok(call),
    }
}
