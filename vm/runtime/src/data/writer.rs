//! Writing values.

use super::number;
use crate::array::Array;
use crate::value::Value;
use galopvm_base::{Bits, ElemType};
use std::io::{self, Write};

/// Text is handed on in pieces of about this size.
const PIECE: usize = 1 << 16;

/// A value in the text format, on one line without its end.
pub fn value_text(value: &Value) -> String {
    let mut text = Vec::new();
    // Writing to a vector does not fail, and what is written is ASCII.
    let _ = write_text(&mut text, value);
    String::from_utf8_lossy(&text).into_owned()
}

/// Writes a value in the text format, on one line without its end.
pub fn write_text(out: &mut dyn Write, value: &Value) -> io::Result<()> {
    let mut buffer = Vec::new();
    match value {
        Value::Scalar(scalar) => number::write(&mut buffer, scalar.ty, scalar.bits),
        Value::Array(array) if array.elements() == 0 => {
            let shape = crate::array::view::shape_text(&array.shape());
            write!(buffer, "empty({shape}{})", array.elem())?;
        }
        Value::Array(array) => {
            let shape = array.shape();
            write_rows(out, &mut buffer, array.elem(), &shape, &mut array.iter_bits())?;
        }
    }
    out.write_all(&buffer)
}

fn write_rows(
    out: &mut dyn Write,
    buffer: &mut Vec<u8>,
    elem: ElemType,
    shape: &[i64],
    bits: &mut dyn Iterator<Item = Bits>,
) -> io::Result<()> {
    let Some((&extent, inner)) = shape.split_first() else {
        // The iterator has as many elements as the shape says.
        number::write(buffer, elem, bits.next().unwrap_or(0));
        return Ok(());
    };
    buffer.push(b'[');
    for i in 0..extent {
        if i > 0 {
            buffer.extend_from_slice(b", ");
        }
        write_rows(out, buffer, elem, inner, bits)?;
        if buffer.len() > PIECE {
            out.write_all(buffer)?;
            buffer.clear();
        }
    }
    buffer.push(b']');
    Ok(())
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

fn write_elements(out: &mut dyn Write, array: &Array) -> io::Result<()> {
    if let Some(bytes) = array.row_major_bytes() {
        return out.write_all(bytes);
    }
    let mut buffer = Vec::with_capacity(PIECE);
    for bits in array.iter_bits() {
        buffer.extend_from_slice(&bits.to_le_bytes()[..array.elem().bytes()]);
        if buffer.len() >= PIECE {
            out.write_all(&buffer)?;
            buffer.clear();
        }
    }
    out.write_all(&buffer)
}
