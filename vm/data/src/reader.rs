//! Reading a sequence of values.

use super::elements::Elements;
use super::number::{self, Misfit};
use super::{Input, npy};
use crate::Value;
use galopvm_base::{ElemType, Scalar};
use galopvm_bytecode::ValueType;
use galopvm_lmad::Lmad;
use galopvm_store::Array;
use galopvm_store::memory::{Block, Memory, OutOfMemory};
use std::fmt;

/// Binary arrays of at least this size stay in their input.
const STAY_MAPPED: usize = 64 << 10;

/// Ranks above this are refused.
const GREATEST_RANK: usize = 255;

/// What is wrong with the text or bytes of values, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DataError {
    /// What.
    pub message: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for DataError {}

/// All values of an input.
pub fn read_values(memory: &Memory, input: &[u8]) -> Result<Vec<Value>, DataError> {
    Reader::new(memory, input).values()
}

/// Reads values one after the other.
pub struct Reader<'a> {
    memory: &'a Memory,
    input: &'a [u8],
    at: usize,
    whole: Option<&'a Input>,
    misfits: Misfit,
}

impl<'a> Reader<'a> {
    /// A reader of these bytes.
    pub fn new(memory: &'a Memory, input: &'a [u8]) -> Reader<'a> {
        Reader { memory, input, at: mark(input), whole: None, misfits: Misfit::Refused }
    }

    /// A reader of an input; large binary arrays stay in it.
    pub fn of_input(memory: &'a Memory, input: &'a Input) -> Reader<'a> {
        let (bytes, misfits) = (input.bytes(), Misfit::Refused);
        Reader { memory, input: bytes, at: mark(bytes), whole: Some(input), misfits }
    }

    /// The same reader, for which integers are this that their type does not have.
    pub fn taking(self, misfits: Misfit) -> Reader<'a> {
        Reader { misfits, ..self }
    }

    /// All values that are left, of any types.
    pub fn values(&mut self) -> Result<Vec<Value>, DataError> {
        let mut values = Vec::new();
        while let Some(value) = self.value(None)? {
            values.push(value);
        }
        Ok(values)
    }

    /// The next value, of the expected type if one is given; nothing at the end of the input.
    pub fn value(&mut self, expected: Option<ValueType>) -> Result<Option<Value>, DataError> {
        loop {
            self.skip_space();
            match self.input.get(self.at) {
                None => return Ok(None),
                // The empty tuple has no components.
                Some(b'(') if self.input[self.at..].starts_with(b"()") => self.at += 2,
                Some(_) => break,
            }
        }
        let start = self.at;
        let value = match self.input[self.at] {
            b'b' if self.input.get(self.at + 1).is_none_or(|b| !is_word(*b)) => self.binary()?,
            npy::FIRST_BYTE => self.npy()?,
            b'[' => Value::Array(self.array(expected)?),
            b'"' => Value::Array(self.string()?),
            _ if self.is_empty_array() => Value::Array(self.empty()?),
            _ => Value::Scalar(self.scalar(expected.filter(|t| t.is_scalar()).map(|t| t.elem))?),
        };
        match expected {
            Some(ty) if value.ty() != ty => {
                Err(self
                    .error(start, format!("expected a value of type {ty}, found one of type {}", value.ty())))
            }
            _ => Ok(Some(value)),
        }
    }

    /// An error unless nothing but white space and comments is left.
    pub fn end(&mut self) -> Result<(), DataError> {
        self.skip_space();
        if self.at < self.input.len() {
            return Err(self.error(self.at, "the input ends with something that no value is expected for"));
        }
        Ok(())
    }

    /// The next byte that is neither white space nor in a comment.
    pub fn peek(&mut self) -> Option<u8> {
        self.skip_space();
        self.input.get(self.at).copied()
    }

    /// What comes next, from there on.
    pub fn rest(&mut self) -> &'a [u8] {
        self.skip_space();
        &self.input[self.at..]
    }

    /// Takes a byte if it comes next.
    pub fn takes(&mut self, byte: u8) -> bool {
        let comes = self.peek() == Some(byte);
        self.at += usize::from(comes);
        comes
    }

    /// Takes a name; an empty one if none comes next.
    pub fn name(&mut self) -> &'a str {
        let rest = self.rest();
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'\'');
        let name = &rest[..rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len())];
        self.at += name.len();
        std::str::from_utf8(name).unwrap_or_default()
    }

    /// Takes this byte, which messages call `what`.
    pub fn expect(&mut self, byte: u8, what: &str) -> Result<(), DataError> {
        if self.takes(byte) { Ok(()) } else { Err(self.unexpected(what)) }
    }

    /// The error that something else comes next.
    pub fn unexpected(&self, what: &str) -> DataError {
        match self.input.get(self.at) {
            None => self.error(self.at, format!("the input ends where {what} is expected")),
            Some(_) => self.error(self.at, format!("{what} is expected here")),
        }
    }

    /// The place of what comes next, as messages count.
    pub fn place(&mut self) -> usize {
        self.skip_space();
        self.at
    }

    /// An error at a place.
    pub fn error(&self, at: usize, message: impl Into<String>) -> DataError {
        let before = &self.input[..at.min(self.input.len())];
        let first = mark(before);
        let start = before.iter().rposition(|b| *b == b'\n').map_or(first, |p| p + 1);
        let line = before.iter().filter(|b| **b == b'\n').count() + 1;
        // Bytes that continue a UTF-8 character do not count.
        let column = before[start..].iter().filter(|b| **b & 0xc0 != 0x80).count() + 1;
        DataError { message: message.into(), line, column }
    }

    fn memory_error(&self, at: usize, error: &OutOfMemory) -> DataError {
        self.error(at, error.to_string())
    }

    fn skip_space(&mut self) {
        loop {
            match self.input.get(self.at) {
                Some(b) if b.is_ascii_whitespace() || *b == 0x0b => self.at += 1,
                Some(b'-') if self.input.get(self.at + 1) == Some(&b'-') => {
                    let rest = &self.input[self.at..];
                    self.at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    #[inline]
    fn word(&mut self) -> &'a [u8] {
        let rest = &self.input[self.at..];
        let end = rest.iter().position(|b| !is_word(*b)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    #[inline]
    fn scalar(&mut self, expected: Option<ElemType>) -> Result<Scalar, DataError> {
        let start = self.at;
        let word = self.word();
        if word.is_empty() {
            return Err(self.unexpected("a value"));
        }
        number::parse(word, expected, self.misfits).map_err(|message| self.error(start, message))
    }

    /// `[[1, 2], [3, 4]]`, `["ab", "cd"]`, `[empty([0]i32)]`: an explicit stack of extents, so that depth costs no Rust
    /// stack.
    fn array(&mut self, expected: Option<ValueType>) -> Result<Array, DataError> {
        let start = self.at;
        let mut open = 0;
        while self.input.get(self.at) == Some(&b'[') && open < GREATEST_RANK {
            self.at += 1;
            open += 1;
            self.skip_space();
        }
        // The first element says how many dimensions there are below the brackets.
        let rank = open + self.rank_here()?;
        if rank > GREATEST_RANK {
            return Err(self.error(start, "this array has too many dimensions"));
        }
        let mut elem = expected.map(|t| t.elem);
        let mut extents: Vec<Option<i64>> = vec![None; rank];
        let mut counts = vec![0i64; rank];
        let mut elements = Elements::new(rank);
        let mut depth = open;
        // Whether something must come before the next element of the innermost open bracket.
        let mut need_comma = false;
        while depth > 0 {
            self.skip_space();
            match self.input.get(self.at) {
                Some(b']') => {
                    self.fix(self.at, &mut extents[depth - 1], counts[depth - 1])?;
                    self.at += 1;
                    depth -= 1;
                    if depth > 0 {
                        counts[depth - 1] += 1;
                    }
                    need_comma = true;
                }
                Some(b',') if need_comma => {
                    self.at += 1;
                    need_comma = false;
                }
                _ if need_comma => return Err(self.unexpected("`,` or `]`")),
                Some(b'[') if depth < rank => {
                    self.at += 1;
                    counts[depth] = 0;
                    depth += 1;
                }
                Some(b'"') if depth + 1 == rank => {
                    let at = self.at;
                    let bytes = self.bytes()?;
                    self.same_type(at, "string", ElemType::U8, &mut elem)?;
                    self.fix(at, &mut extents[depth], bytes.len() as i64)?;
                    for byte in bytes {
                        elements
                            .push(self.memory, Scalar::new(ElemType::U8, byte as u64), &self.input[self.at..])
                            .map_err(|error| self.memory_error(at, &error))?;
                    }
                    counts[depth - 1] += 1;
                    need_comma = true;
                }
                Some(b'e') if depth < rank && self.is_empty_array() => {
                    let at = self.at;
                    let (shape, ty) = self.empty_shape()?;
                    if shape.len() != rank - depth {
                        let message = format!(
                            "this array has {} dimensions, those before it have {}",
                            shape.len(),
                            rank - depth
                        );
                        return Err(self.error(at, message));
                    }
                    self.same_type(at, ty.name(), ty, &mut elem)?;
                    for (known, extent) in extents[depth..].iter_mut().zip(shape) {
                        self.fix(at, known, extent)?;
                    }
                    counts[depth - 1] += 1;
                    need_comma = true;
                }
                Some(_) if depth == rank => {
                    counts[rank - 1] += self.row(&mut elem, &mut elements)?;
                    need_comma = true;
                }
                None if depth == rank => return Err(self.unexpected("a value")),
                _ => return Err(self.unexpected("`[`")),
            }
        }
        let Some(elem) = elem else {
            return Err(self.error(start, "the type of this array is not known: write it as `empty([0]i32)`"));
        };
        let shape: Vec<i64> = extents.into_iter().map(|e| e.unwrap_or(0)).collect();
        elements.into_array(self.memory, elem, &shape).map_err(|e| self.memory_error(start, &e))
    }

    /// How many dimensions the value here has, if it is a string or an `empty`; brackets and numbers count nothing.
    fn rank_here(&mut self) -> Result<usize, DataError> {
        if self.input.get(self.at) == Some(&b'"') {
            return Ok(1);
        }
        if !self.is_empty_array() {
            return Ok(0);
        }
        let start = self.at;
        let (shape, _) = self.empty_shape()?;
        self.at = start;
        Ok(shape.len())
    }

    /// An extent that must be the one of the rows before.
    fn fix(&self, at: usize, known: &mut Option<i64>, count: i64) -> Result<(), DataError> {
        match known.replace(count) {
            Some(extent) if extent != count => {
                let message = format!("this row has {count} elements, the rows before it have {extent}");
                Err(self.error(at, message))
            }
            _ => Ok(()),
        }
    }

    /// An element type that must be the one of the elements before.
    fn same_type(
        &self,
        at: usize,
        what: &str,
        ty: ElemType,
        elem: &mut Option<ElemType>,
    ) -> Result<(), DataError> {
        match *elem.get_or_insert(ty) {
            known if known == ty => Ok(()),
            known => Err(self.error(at, format!("this {what} is in an array of {known}"))),
        }
    }

    /// The elements up to the end of the row, or up to something that needs a closer look; how many.
    fn row(&mut self, elem: &mut Option<ElemType>, elements: &mut Elements) -> Result<i64, DataError> {
        let mut count = 0;
        loop {
            let at = self.at;
            let scalar = self.scalar(*elem)?;
            if *elem.get_or_insert(scalar.ty) != scalar.ty {
                self.same_type(at, scalar.ty.name(), scalar.ty, elem)?;
            }
            elements
                .push(self.memory, scalar, &self.input[self.at..])
                .map_err(|error| self.memory_error(at, &error))?;
            count += 1;
            // `, 1` is how nearly all of them go on.
            let rest = &self.input[self.at..];
            let comma = rest.first() == Some(&b',');
            let blank = usize::from(rest.get(1) == Some(&b' '));
            match rest.get(1 + blank) {
                Some(byte)
                    if comma
                        && (byte.is_ascii_alphanumeric()
                            || *byte == b'-' && rest.get(2 + blank) != Some(&b'-')) =>
                {
                    self.at += 1 + blank;
                }
                _ => return Ok(count),
            }
        }
    }

    fn is_empty_array(&self) -> bool {
        self.input[self.at..].starts_with(b"empty")
    }

    /// `empty([0][2]i32)`
    fn empty(&mut self) -> Result<Array, DataError> {
        let start = self.at;
        let (shape, elem) = self.empty_shape()?;
        Array::fresh(self.memory, elem, &shape).map_err(|e| self.memory_error(start, &e))
    }

    /// The shape and element type of an `empty`.
    fn empty_shape(&mut self) -> Result<(Vec<i64>, ElemType), DataError> {
        let start = self.at;
        self.at += "empty".len();
        self.expect(b'(', "`(`")?;
        let mut shape = Vec::new();
        let elem = loop {
            self.skip_space();
            if self.input.get(self.at) == Some(&b'[') && shape.len() < GREATEST_RANK {
                self.at += 1;
                self.skip_space();
                let word = self.word();
                let extent =
                    std::str::from_utf8(word).ok().and_then(|w| w.parse().ok()).filter(|n: &i64| *n >= 0);
                shape.push(extent.ok_or_else(|| self.unexpected("an extent"))?);
                self.expect(b']', "`]`")?;
            } else {
                let word = self.word();
                let elem = std::str::from_utf8(word).ok().and_then(|w| w.parse::<ElemType>().ok());
                break elem.ok_or_else(|| self.unexpected("an element type"))?;
            }
        };
        self.expect(b')', "`)`")?;
        if !shape.contains(&0) {
            return Err(self.error(start, "an array without a zero extent is not empty"));
        }
        Ok((shape, elem))
    }

    /// `"text"` as an array.
    fn string(&mut self) -> Result<Array, DataError> {
        let start = self.at;
        let bytes = self.bytes()?;
        Array::from_slice(self.memory, &bytes, &[bytes.len() as i64])
            .map_err(|e| self.error(start, e.message))
    }

    /// `"text"`: its UTF-8 bytes.
    fn bytes(&mut self) -> Result<Vec<u8>, DataError> {
        let start = self.at;
        self.at += 1;
        let mut bytes = Vec::new();
        loop {
            let Some(&byte) = self.input.get(self.at) else {
                return Err(self.error(start, "this string has no end"));
            };
            self.at += 1;
            match byte {
                b'"' => break,
                b'\\' => {
                    let at = self.at - 1;
                    match self.escape() {
                        Some(Some(c)) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                        Some(None) => {}
                        None => return Err(self.error(at, "this escape is not known")),
                    }
                }
                _ => bytes.push(byte),
            }
        }
        Ok(bytes)
    }

    /// The character after a backslash; `\&` is none.
    fn escape(&mut self) -> Option<Option<char>> {
        let byte = *self.input.get(self.at)?;
        let radix = match byte {
            b'0'..=b'9' => 10,
            b'x' | b'X' => 16,
            b'o' | b'O' => 8,
            _ => {
                self.at += 1;
                return Some(Some(match byte {
                    b'n' => '\n',
                    b't' => '\t',
                    b'r' => '\r',
                    b'a' => '\x07',
                    b'b' => '\x08',
                    b'f' => '\x0c',
                    b'v' => '\x0b',
                    b'\\' | b'"' | b'\'' => byte as char,
                    b'&' => return Some(None),
                    _ => return None,
                }));
            }
        };
        self.at += (radix != 10) as usize;
        let mut code = None;
        while let Some(digit) = self.input.get(self.at).and_then(|b| (*b as char).to_digit(radix)) {
            code = Some(code.unwrap_or(0u32).checked_mul(radix)?.checked_add(digit)?);
            self.at += 1;
        }
        char::from_u32(code?).map(Some)
    }

    /// `b`, version, rank, type, extents, elements.
    fn binary(&mut self) -> Result<Value, DataError> {
        let start = self.at;
        self.at += 1;
        let short = |reader: &Self| reader.error(start, "the binary value that starts here is cut off");
        let [version, rank] = *self.take(2).and_then(|b| b.first_chunk()).ok_or_else(|| short(self))?;
        if version != 2 {
            return Err(self
                .error(start, format!("binary values of version {version} are not known, only version 2")));
        }
        let name = self.take(4).ok_or_else(|| short(self))?;
        let elem = std::str::from_utf8(name).ok().and_then(|n| n.trim_start().parse::<ElemType>().ok());
        let elem =
            elem.ok_or_else(|| self.error(start, "the element type of this binary value is not known"))?;
        let mut shape = Vec::with_capacity(rank as usize);
        for _ in 0..rank {
            let extent = self.take(8).and_then(|b| b.first_chunk()).ok_or_else(|| short(self))?;
            let extent = i64::try_from(u64::from_le_bytes(*extent)).map_err(|_| short(self))?;
            shape.push(extent);
        }
        self.binary_elements(start, elem, Lmad::row_major(&shape), false)
    }

    /// A value of numpy's format.
    fn npy(&mut self) -> Result<Value, DataError> {
        let start = self.at;
        let header = npy::header(&self.input[start..]).map_err(|message| self.error(start, message))?;
        self.at += header.length;
        self.binary_elements(start, header.elem, header.lmad, header.swapped)
    }

    /// The elements that come next, which lie as the view says.
    fn binary_elements(
        &mut self,
        start: usize,
        elem: ElemType,
        lmad: Lmad,
        swapped: bool,
    ) -> Result<Value, DataError> {
        let short = |reader: &Self| reader.error(start, "the binary value that starts here is cut off");
        let bytes = usize::try_from(lmad.elements()).ok().and_then(|n| n.checked_mul(elem.bytes()));
        let from = self.at;
        let data = bytes.and_then(|n| self.take(n)).ok_or_else(|| short(self))?;
        if elem == ElemType::Bool && data.iter().any(|b| *b > 1) {
            return Err(self.error(start, "a bool of this binary value is neither 0 nor 1"));
        }
        // Files may change while they are mapped, but truth values stay 0 or 1.
        let stays = data.len() >= STAY_MAPPED && !swapped && elem != ElemType::Bool && lmad.rank() > 0;
        if let Some(input) = self.whole.filter(|_| stays) {
            let block = Block::foreign(input.owner(), from..self.at);
            if let Some(array) = block.and_then(|b| Array::from_block(b, elem, lmad.clone())) {
                return Ok(Value::Array(array));
            }
        }
        let mut block = self.memory.block(data.len()).map_err(|e| self.memory_error(start, &e))?;
        if let Some(target) = block.bytes_mut() {
            target.copy_from_slice(data);
            if swapped {
                target.chunks_exact_mut(elem.bytes()).for_each(<[u8]>::reverse);
            }
        }
        if lmad.rank() == 0 {
            return Ok(Value::Scalar(Scalar::new(
                elem,
                galopvm_store::array::load(block.bytes(), elem.bytes(), 0),
            )));
        }
        Array::from_block(block, elem, lmad).map(Value::Array).ok_or_else(|| short(self))
    }

    fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let taken = self.input.get(self.at..)?.get(..bytes)?;
        self.at += bytes;
        Some(taken)
    }
}

/// The bytes of a byte order mark in front of the input, which some editors write.
fn mark(input: &[u8]) -> usize {
    if input.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 }
}

#[inline]
fn is_word(byte: u8) -> bool {
    WORD[byte as usize]
}

/// Bytes of words.
static WORD: [bool; 256] = {
    let (mut table, mut k) = ([false; 256], 0);
    while k < 256 {
        let byte = k as u8;
        table[k] = byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+' | b'_');
        k += 1;
    }
    table
};
