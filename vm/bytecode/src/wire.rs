//! Primitive encodings of `.gbc` sections: bytes, LEB128 numbers, lists, and indices into the constant and string
//! tables.
//!
//! The decoder never trusts a length: a list cannot be longer than the bytes that are left (every item takes at
//! least one), so memory stays proportional to the file.

use galopvm_base::Scalar;
use std::collections::HashMap;
use std::fmt;

/// What is wrong with encoded bytes, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct WireError {
    pub(crate) offset: usize,
    pub(crate) message: String,
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: {}", self.offset, self.message)
    }
}

/// Strings and constants, each once, in the order of first use.
#[derive(Default)]
pub(crate) struct Tables {
    pub(crate) strings: Vec<String>,
    pub(crate) constants: Vec<Scalar>,
    string_index: HashMap<String, u64>,
    constant_index: HashMap<Scalar, u64>,
}

impl Tables {
    /// Tables read from a file.
    pub(crate) fn of(strings: Vec<String>, constants: Vec<Scalar>) -> Tables {
        Tables { strings, constants, ..Tables::default() }
    }
}

/// Writes one section.
pub(crate) struct Encoder<'a> {
    pub(crate) bytes: Vec<u8>,
    tables: &'a mut Tables,
}

impl<'a> Encoder<'a> {
    pub(crate) fn new(tables: &'a mut Tables) -> Encoder<'a> {
        Encoder { bytes: Vec::new(), tables }
    }

    pub(crate) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    pub(crate) fn number(&mut self, number: u64) {
        write_number(&mut self.bytes, number);
    }

    pub(crate) fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&T, &mut Self)) {
        self.number(items.len() as u64);
        for item in items {
            each(item, self);
        }
    }

    pub(crate) fn string(&mut self, text: &str) -> u64 {
        if let Some(&index) = self.tables.string_index.get(text) {
            return index;
        }
        let index = self.tables.strings.len() as u64;
        self.tables.strings.push(text.to_string());
        self.tables.string_index.insert(text.to_string(), index);
        index
    }

    pub(crate) fn constant(&mut self, value: Scalar) -> u64 {
        if let Some(&index) = self.tables.constant_index.get(&value) {
            return index;
        }
        let index = self.tables.constants.len() as u64;
        self.tables.constants.push(value);
        self.tables.constant_index.insert(value, index);
        index
    }
}

/// Appends an unsigned LEB128 number.
pub(crate) fn write_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads one section.
pub(crate) struct Decoder<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Offset of the section in the file, for messages.
    base: usize,
    tables: &'a Tables,
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(bytes: &'a [u8], base: usize, tables: &'a Tables) -> Decoder<'a> {
        Decoder { bytes, at: 0, base, tables }
    }

    pub(crate) fn error(&self, message: impl Into<String>) -> WireError {
        WireError { offset: self.base + self.at, message: message.into() }
    }

    pub(crate) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub(crate) fn byte(&mut self) -> Result<u8, WireError> {
        let byte = *self.bytes.get(self.at).ok_or_else(|| self.error("the section ends too early"))?;
        self.at += 1;
        Ok(byte)
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Result<&'a [u8], WireError> {
        let end = self.at.checked_add(count).filter(|e| *e <= self.bytes.len());
        let end = end.ok_or_else(|| self.error("the section ends too early"))?;
        let slice = &self.bytes[self.at..end];
        self.at = end;
        Ok(slice)
    }

    pub(crate) fn number(&mut self) -> Result<u64, WireError> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = (byte & 0x7f) as u64;
            if shift == 63 && bits > 1 {
                return Err(self.error("a number has more than 64 bits"));
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                // One way only to write a number, so that a file has one encoding.
                let padded = byte == 0 && shift > 0;
                return if padded { Err(self.error("a number is padded")) } else { Ok(number) };
            }
        }
        Err(self.error("a number has more than 64 bits"))
    }

    pub(crate) fn small(&mut self) -> Result<u32, WireError> {
        let number = self.number()?;
        u32::try_from(number).map_err(|_| self.error("a number has more than 32 bits"))
    }

    pub(crate) fn list<T>(
        &mut self,
        mut each: impl FnMut(&mut Self) -> Result<T, WireError>,
    ) -> Result<Vec<T>, WireError> {
        let count = self.number()?;
        if count > self.left() as u64 {
            return Err(self.error(format!("a list of {count} items does not fit the section")));
        }
        (0..count).map(|_| each(self)).collect()
    }

    pub(crate) fn string(&self, index: u64) -> Result<String, WireError> {
        let found = usize::try_from(index).ok().and_then(|i| self.tables.strings.get(i));
        found.cloned().ok_or_else(|| self.error(format!("there is no string {index}")))
    }

    pub(crate) fn constant(&self, index: u64) -> Result<Scalar, WireError> {
        let found = usize::try_from(index).ok().and_then(|i| self.tables.constants.get(i));
        found.copied().ok_or_else(|| self.error(format!("there is no constant {index}")))
    }
}
