//! Writing values as text and in the binary format.
//!
//! Values are handed on in pieces, so that a result of any size needs no copy of its own. The blocks of mapped files
//! can vanish (see `memory/mapped.rs`): then writing is an error.

use super::numeral::{self, LONGEST, Style};
use crate::Value;
use galopvm_lmad::Dim;
use galopvm_store::array::{Array, load};
use galopvm_store::memory::{DEVICE_LOST, SHORTENED};
use std::io::{self, Write};

/// Bytes are handed on in pieces of about this size.
const PIECE: usize = 1 << 16;

/// A value in the text format, on one line without its end.
pub fn value_text(value: &Value) -> String {
    let mut text = Vec::new();
    // Writing to a vector does not fail, and what is written is ASCII.
    let _ = write_text(&mut text, value);
    String::from_utf8_lossy(&text).into_owned()
}

/// Writes a value in the text format as programs do, on one line without its end.
pub fn write_text(out: &mut dyn Write, value: &Value) -> io::Result<()> {
    write_text_in(out, value, Style::Program)
}

/// Writes a value in the text format in this style, without the end of the line.
pub fn write_text_in(out: &mut dyn Write, value: &Value, style: Style) -> io::Result<()> {
    match value {
        Value::Scalar(scalar) => {
            let mut place = [0; LONGEST];
            let length = numeral::write(&mut place, scalar.ty, scalar.bits, style);
            out.write_all(&place[..length])
        }
        Value::Array(array) if array.elements() == 0 && style == Style::Bare => out.write_all(b"[]"),
        Value::Array(array) if array.elements() == 0 => {
            let shape = galopvm_store::array::view::shape_text(&array.shape());
            write!(out, "empty({shape}{})", array.elem())
        }
        Value::Array(array) => {
            let mut rows = Rows { out, array, style, buffer: vec![0; PIECE + 2 * LONGEST], used: 0 };
            rows.write(&array.lmad().dims, array.lmad().offset)?;
            rows.flush()?;
            intact(array)
        }
    }
}

/// The rows of an array on their way out.
struct Rows<'w> {
    out: &'w mut dyn Write,
    array: &'w Array,
    style: Style,
    /// At least two longest scalars more than a piece.
    buffer: Vec<u8>,
    used: usize,
}

impl Rows<'_> {
    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer[..self.used])?;
        self.used = 0;
        Ok(())
    }

    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.buffer[self.used..self.used + bytes.len()].copy_from_slice(bytes);
        self.used += bytes.len();
    }

    /// The part of the array with these dimensions that starts at a place.
    fn write(&mut self, dims: &[Dim], place: i64) -> io::Result<()> {
        let Some((dim, inner)) = dims.split_first() else { return Ok(()) };
        if inner.is_empty() {
            return self.row(*dim, place);
        }
        self.put(b"[");
        for i in 0..dim.size {
            if i > 0 {
                self.put(if self.style == Style::Data { b",\n" } else { b", " });
            }
            self.write(inner, place + i * dim.stride)?;
        }
        self.put(b"]");
        Ok(())
    }

    /// An innermost row.
    fn row(&mut self, dim: Dim, place: i64) -> io::Result<()> {
        let (elem, bytes) = (self.array.elem(), self.array.block().bytes());
        let (width, style) = (elem.bytes(), self.style);
        self.put(b"[");
        for i in 0..dim.size {
            if i > 0 {
                self.put(b", ");
            }
            if self.used > PIECE {
                self.flush()?;
            }
            let bits = load(bytes, width, place + i * dim.stride);
            if let Some(place) = self.buffer[self.used..].first_chunk_mut() {
                self.used += numeral::write(place, elem, bits, style);
            }
        }
        self.put(b"]");
        if self.used > PIECE { self.flush() } else { Ok(()) }
    }
}

/// An error if the file that an array lies in has been shortened, or the device is lost that held its elements.
pub fn intact(array: &Array) -> io::Result<()> {
    if array.block().is_intact() {
        return Ok(());
    }
    let why = if array.block().is_foreign() { SHORTENED } else { DEVICE_LOST };
    Err(io::Error::new(io::ErrorKind::UnexpectedEof, why))
}

/// Writes a value in the binary format.
pub fn write_binary(out: &mut dyn Write, value: &Value) -> io::Result<()> {
    let ty = value.ty();
    let mut header = vec![b'b', 2, ty.rank];
    write!(header, "{:>4}", ty.elem.name())?;
    match value {
        Value::Scalar(scalar) => {
            header.extend_from_slice(&scalar.bits.to_le_bytes()[..ty.elem.bytes()]);
            out.write_all(&header)
        }
        Value::Array(array) => {
            array.shape().iter().for_each(|extent| header.extend_from_slice(&extent.to_le_bytes()));
            out.write_all(&header)?;
            write_elements(out, array)
        }
    }
}

/// Writes the elements in row-major order.
pub(super) fn write_elements(out: &mut dyn Write, array: &Array) -> io::Result<()> {
    if let Some(bytes) = array.row_major_bytes() {
        out.write_all(bytes)?;
        return intact(array);
    }
    let width = array.elem().bytes();
    let mut buffer = vec![0; PIECE];
    let mut used = 0;
    for bits in array.iter_bits() {
        if used + width > PIECE {
            out.write_all(&buffer[..used])?;
            used = 0;
        }
        buffer[used..used + width].copy_from_slice(&bits.to_le_bytes()[..width]);
        used += width;
    }
    out.write_all(&buffer[..used])?;
    intact(array)
}
