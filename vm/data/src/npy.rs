//! The header of numpy's `.npy` format, both ways.
//!
//! The header is the text of a Python dictionary with an element type, the order of the elements and a shape. Elements
//! in Fortran's order are a view.

use super::writer::write_elements;
use crate::Value;
use galopvm_base::ElemType;
use galopvm_lmad::Lmad;
use std::io::{self, Write};

/// No text starts with this byte.
pub(super) const FIRST_BYTE: u8 = 0x93;

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The header, with the bytes that it says about itself, is a multiple of this long.
const ALIGNMENT: usize = 64;

/// What a header says.
pub(super) struct Header {
    /// Bytes before the elements.
    pub(super) length: usize,
    pub(super) elem: ElemType,
    /// Whether the bytes of elements come in the other order.
    pub(super) swapped: bool,
    pub(super) lmad: Lmad,
}

/// The header at the start of these bytes.
pub(super) fn header(bytes: &[u8]) -> Result<Header, String> {
    let short = || "the .npy value that starts here is cut off".to_string();
    let rest = bytes.strip_prefix(MAGIC).ok_or("this is neither text nor a .npy value")?;
    let [version, _] = *rest.first_chunk().ok_or_else(short)?;
    let (text_length, start) = match version {
        1 => (usize::from(u16::from_le_bytes(*rest[2..].first_chunk().ok_or_else(short)?)), 10),
        2 | 3 => (u32::from_le_bytes(*rest[2..].first_chunk().ok_or_else(short)?) as usize, 12),
        _ => return Err(format!(".npy values of version {version} are not known")),
    };
    let text = bytes.get(start..).and_then(|rest| rest.get(..text_length)).ok_or_else(short)?;
    let text =
        std::str::from_utf8(text).map_err(|_| "the header of this .npy value is not text".to_string())?;
    let missing = |what: &str| format!("the header of this .npy value has no {what}");
    let descr = field(text, "descr").and_then(quoted).ok_or_else(|| missing("element type"))?;
    let (elem, swapped) =
        element_type(descr).ok_or_else(|| format!("elements of type `{descr}` have no type in Futhark"))?;
    let order = field(text, "fortran_order").ok_or_else(|| missing("order"))?;
    let shape = field(text, "shape").and_then(extents).ok_or_else(|| missing("shape"))?;
    let lmad = if order.starts_with("True") {
        let reversed: Vec<i64> = shape.iter().rev().copied().collect();
        let axes: Vec<usize> = (0..shape.len()).rev().collect();
        Lmad::row_major(&reversed).permute(&axes)
    } else {
        Lmad::row_major(&shape)
    };
    Ok(Header { length: start + text_length, elem, swapped, lmad })
}

/// What stands after a key of the dictionary.
fn field<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let after = ['\'', '"'].iter().find_map(|quote| text.split_once(&format!("{quote}{key}{quote}")))?.1;
    Some(after.trim_start().strip_prefix(':')?.trim_start())
}

fn quoted(text: &str) -> Option<&str> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    text[1..].split_once(quote).map(|(inside, _)| inside)
}

fn extents(text: &str) -> Option<Vec<i64>> {
    let (inside, _) = text.strip_prefix('(')?.split_once(')')?;
    let numbers = inside.split(',').map(str::trim).filter(|n| !n.is_empty());
    let shape: Option<Vec<i64>> = numbers.map(|n| n.parse().ok().filter(|n| *n >= 0)).collect();
    shape.filter(|shape| shape.len() <= 255)
}

/// `<f4` and the like.
fn element_type(descr: &str) -> Option<(ElemType, bool)> {
    let (order, name) = match descr.as_bytes().first()? {
        b'<' | b'>' | b'=' | b'|' => descr.split_at(1),
        _ => ("<", descr),
    };
    let elem = ElemType::ALL.into_iter().find(|elem| code(*elem) == name)?;
    Some((elem, order == ">" && elem.bytes() > 1))
}

/// A type without the order of its bytes.
fn code(elem: ElemType) -> &'static str {
    match elem {
        ElemType::I8 => "i1",
        ElemType::I16 => "i2",
        ElemType::I32 => "i4",
        ElemType::I64 => "i8",
        ElemType::U8 => "u1",
        ElemType::U16 => "u2",
        ElemType::U32 => "u4",
        ElemType::U64 => "u8",
        ElemType::F16 => "f2",
        ElemType::F32 => "f4",
        ElemType::F64 => "f8",
        ElemType::Bool => "b1",
    }
}

/// Writes a value in numpy's format.
pub fn write_npy(out: &mut dyn Write, value: &Value) -> io::Result<()> {
    let ty = value.ty();
    let order = if ty.elem.bytes() == 1 { '|' } else { '<' };
    let shape = value.as_array().map_or_else(Default::default, |array| array.shape());
    let extents = match shape.as_slice() {
        [one] => format!("{one},"),
        all => all.iter().map(i64::to_string).collect::<Vec<_>>().join(", "),
    };
    let mut text =
        format!("{{'descr': '{order}{}', 'fortran_order': False, 'shape': ({extents}), }}", code(ty.elem));
    // The text ends with a newline, and elements start at a multiple of the alignment.
    let start = MAGIC.len() + 4;
    let total = (start + text.len() + 1).next_multiple_of(ALIGNMENT);
    text.extend(std::iter::repeat_n(' ', total - start - text.len() - 1));
    text.push('\n');
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    // 255 extents are at most 5355 characters.
    out.write_all(&(text.len() as u16).to_le_bytes())?;
    out.write_all(text.as_bytes())?;
    match value {
        Value::Scalar(scalar) => out.write_all(&scalar.bits.to_le_bytes()[..ty.elem.bytes()]),
        Value::Array(array) => write_elements(out, array),
    }
}
