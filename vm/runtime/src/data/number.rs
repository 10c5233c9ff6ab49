//! Scalars as text.
//!
//! Reading takes the suffix or an expected type into account; writing is C's `%.*g` with enough digits to read the
//! same value back, followed by the type.

use galopvm_base::scalar::{convert, parse_scalar};
use galopvm_base::{Bits, ElemType, Scalar};
use std::io::Write;

/// A word of the text format as a scalar. `expected` is the type of a word without suffix; a word with a suffix has
/// the type that this says.
pub(super) fn parse(word: &[u8], expected: Option<ElemType>) -> Result<Scalar, String> {
    if let Some(scalar) = parse_decimal(word, expected) {
        return Ok(scalar);
    }
    let text = std::str::from_utf8(word).map_err(|_| "this is not text".to_string())?;
    let unreadable = || format!("`{text}` is not a value");
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if text == "true" || text == "false" || unsigned.contains(".nan") || unsigned.contains(".inf") {
        return parse_scalar(text).ok_or_else(unreadable);
    }
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Err(unreadable());
    }
    let (body, suffix) = split_suffix(unsigned);
    // A leading point is C's, not Rust's.
    let body = if body.starts_with('.') { format!("0{body}") } else { body.to_string() };
    let negative = text.starts_with('-');
    let Some(ty) = suffix.or(expected) else {
        return parse_scalar(&signed(negative, &body)).ok_or_else(unreadable);
    };
    if ty == ElemType::Bool {
        return Err(format!("`{text}` is not a bool"));
    }
    let looks_whole = !(body.contains('.') || !is_hexadecimal(&body) && body.contains(['e', 'E']));
    if ty.is_int() && !looks_whole {
        return Err(format!("`{text}` is not an integer, but a value of type {ty} is expected"));
    }
    parse_scalar(&signed(negative, &format!("{body}{ty}"))).ok_or_else(unreadable)
}

fn signed(negative: bool, body: &str) -> String {
    if negative { format!("-{body}") } else { body.to_string() }
}

fn is_hexadecimal(body: &str) -> bool {
    body.starts_with("0x") || body.starts_with("0X")
}

/// A number and the type at its end, if there is one.
fn split_suffix(word: &str) -> (&str, Option<ElemType>) {
    let suffix = ElemType::ALL.into_iter().filter(|t| *t != ElemType::Bool).find(|t| {
        // In a hexadecimal number `f32` is digits, unless an exponent came before.
        word.ends_with(t.name()) && !(t.is_float() && is_hexadecimal(word) && !word.contains(['p', 'P']))
    });
    match suffix {
        Some(ty) => (&word[..word.len() - ty.name().len()], Some(ty)),
        None => (word, None),
    }
}

/// The fast path: decimal digits, possibly a sign, a point and a suffix, and nothing that could round or wrap.
fn parse_decimal(word: &[u8], expected: Option<ElemType>) -> Option<Scalar> {
    let negative = word.first() == Some(&b'-');
    let mut at = negative as usize;
    let (mut value, start) = (0u64, at);
    while let Some(digit) = word.get(at).map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10) {
        value = value * 10 + u64::from(digit);
        at += 1;
        if at - start > 18 {
            return None;
        }
    }
    if at == start || word[start] == b'0' && at - start > 1 {
        return None;
    }
    let whole_end = at;
    if word.get(at) == Some(&b'.') {
        at += 1;
        while word.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
    }
    let has_point = at > whole_end;
    let suffix = match &word[at..] {
        b"" => None,
        rest => Some(ElemType::ALL.into_iter().find(|t| t.name().as_bytes() == rest)?),
    };
    let ty = suffix.or(expected).unwrap_or(if has_point { ElemType::F64 } else { ElemType::I32 });
    if ty == ElemType::Bool || has_point && (ty.is_int() || at == whole_end + 1) {
        return None;
    }
    if ty.is_int() {
        let value = if negative { value.wrapping_neg() } else { value };
        return Some(Scalar::new(ty, value));
    }
    let digits = std::str::from_utf8(&word[..at]).ok()?;
    match ty {
        ElemType::F32 => digits.parse().ok().map(Scalar::f32),
        ElemType::F64 => digits.parse().ok().map(Scalar::f64),
        _ => None,
    }
}

/// Writes a scalar with its type.
pub(super) fn write(out: &mut Vec<u8>, ty: ElemType, bits: Bits) {
    match ty {
        ElemType::Bool => out.extend_from_slice(if bits != 0 { b"true" } else { b"false" }),
        _ if ty.is_float() => write_float(out, ty, bits),
        _ => {
            let value = Scalar::new(ty, bits);
            let negative = ty.is_signed() && value.as_i64() < 0;
            write_decimal(out, negative, if ty.is_signed() { value.as_i64().unsigned_abs() } else { bits });
            out.extend_from_slice(ty.name().as_bytes());
        }
    }
}

fn write_decimal(out: &mut Vec<u8>, negative: bool, mut value: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    if negative {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

fn write_float(out: &mut Vec<u8>, ty: ElemType, bits: Bits) {
    let value = f64::from_bits(convert(ty, ElemType::F64, bits));
    let name = ty.name().as_bytes();
    if !value.is_finite() {
        if value == f64::NEG_INFINITY {
            out.push(b'-');
        }
        out.extend_from_slice(name);
        out.extend_from_slice(if value.is_nan() { b".nan" } else { b".inf" });
        return;
    }
    write_general(out, value, if ty == ElemType::F64 { 17 } else { 9 });
    out.extend_from_slice(name);
}

/// C's `%.{digits}g` for a finite number.
fn write_general(out: &mut Vec<u8>, value: f64, digits: usize) {
    // Whole numbers of fewer digits are all there is.
    if value.fract() == 0.0 && value.abs() < if digits > 9 { 1e15 } else { 1e9 } {
        write_decimal(out, value.is_sign_negative(), value.abs() as u64);
        return;
    }
    // `d.ddde-7`: the digits are correctly rounded, and only have to be laid out.
    let mut buffer = [0; 32];
    let mut rest = &mut buffer[..];
    // One digit, a point, 16 digits and `e-308` fit.
    let _ = write!(rest, "{:.*e}", digits - 1, value.abs());
    let used = 32 - rest.len();
    let text = &mut buffer[..used];
    let mark = text.iter().position(|b| *b == b'e').unwrap_or(used);
    let (negative, power) = match &text[mark..] {
        [_, b'-', power @ ..] => (true, power),
        [_, power @ ..] => (false, power),
        [] => (false, &[][..]),
    };
    let power = power.iter().fold(0, |n, b| n * 10 + i32::from(b - b'0'));
    let exponent = if negative { -power } else { power };
    // The first digit takes the place of the point.
    text.swap(0, 1);
    let mut mantissa = &text[1.min(mark)..mark];
    while let [front @ .., b'0'] = mantissa
        && !front.is_empty()
    {
        mantissa = front;
    }
    if value.is_sign_negative() {
        out.push(b'-');
    }
    if exponent < -4 || exponent >= digits as i32 {
        out.push(mantissa[0]);
        point(out, &mantissa[1..]);
        let sign = if exponent < 0 { '-' } else { '+' };
        let _ = write!(out, "e{sign}{:02}", exponent.unsigned_abs());
    } else if exponent < 0 {
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', exponent.unsigned_abs() as usize - 1));
        out.extend_from_slice(mantissa);
    } else {
        let whole = exponent as usize + 1;
        let given = whole.min(mantissa.len());
        out.extend_from_slice(&mantissa[..given]);
        out.extend(std::iter::repeat_n(b'0', whole - given));
        point(out, &mantissa[given..]);
    }
}

fn point(out: &mut Vec<u8>, fraction: &[u8]) {
    if !fraction.is_empty() {
        out.push(b'.');
        out.extend_from_slice(fraction);
    }
}
