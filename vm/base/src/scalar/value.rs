//! A scalar value with its type, and its text form.
//!
//! The text form is Futhark's: `3i32`, `-1.5f32`, `f64.nan`, `true`. It prints and parses back exactly; integers
//! are decimal, floats the shortest decimal that reads back to the same bits.

use crate::elem::ElemType;
use half::f16;
use std::fmt;

/// The bits of a scalar, zero-extended to 64.
pub type Bits = u64;

/// A scalar value of a known type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Scalar {
    /// Its type.
    pub ty: ElemType,
    /// Its bits; nothing above the width of `ty`.
    pub bits: Bits,
}

impl Scalar {
    /// A scalar from bits; bits above the type's width are dropped.
    pub fn new(ty: ElemType, bits: Bits) -> Scalar {
        Scalar { ty, bits: bits & ty.mask() }
    }

    /// An integer of a given integer type, wrapped to its width; for floats the nearest value, for bool `!= 0`.
    pub fn from_int(ty: ElemType, value: i64) -> Scalar {
        Scalar::new(ty, super::convert(ElemType::I64, ty, value as u64))
    }

    /// An `i64`.
    pub fn i64(value: i64) -> Scalar {
        Scalar { ty: ElemType::I64, bits: value as u64 }
    }

    /// A bool.
    pub fn bool(value: bool) -> Scalar {
        Scalar { ty: ElemType::Bool, bits: value as u64 }
    }

    /// An `f32`.
    pub fn f32(value: f32) -> Scalar {
        Scalar { ty: ElemType::F32, bits: value.to_bits() as u64 }
    }

    /// An `f64`.
    pub fn f64(value: f64) -> Scalar {
        Scalar { ty: ElemType::F64, bits: value.to_bits() }
    }

    /// The nearest value of a float type.
    pub fn from_f64(ty: ElemType, value: f64) -> Scalar {
        Scalar::new(ty, super::convert(ElemType::F64, ty, value.to_bits()))
    }

    /// The value as an i64 (sign-extended), for integer types and bool.
    pub fn as_i64(self) -> i64 {
        super::convert(self.ty, ElemType::I64, self.bits) as i64
    }

    /// The value as an f64, for float types.
    pub fn as_f64(self) -> f64 {
        f64::from_bits(super::convert(self.ty, ElemType::F64, self.bits))
    }

    /// The value as text without the type suffix: `3`, `-1.5`, `nan`, `inf`, `true`.
    pub fn plain(self) -> String {
        match self.ty {
            ElemType::Bool => (self.bits != 0).to_string(),
            ty if ty.is_signed() => self.as_i64().to_string(),
            ty if ty.is_unsigned() => self.bits.to_string(),
            ElemType::F16 => float_text(f16::from_bits(self.bits as u16).to_f32(), |x| x.to_string()),
            ElemType::F32 => float_text(f32::from_bits(self.bits as u32), |x| format!("{x:?}")),
            _ => float_text(f64::from_bits(self.bits), |x| format!("{x:?}")),
        }
    }
}

fn float_text<F: Into<f64> + Copy>(value: F, show: impl Fn(F) -> String) -> String {
    let wide: f64 = value.into();
    if wide.is_nan() {
        return "nan".into();
    }
    if wide.is_infinite() {
        return if wide > 0.0 { "inf".into() } else { "-inf".into() };
    }
    let text = show(value);
    if text.contains(['.', 'e']) { text } else { text + ".0" }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = self.plain();
        match plain.as_str() {
            "nan" | "inf" => write!(f, "{}.{plain}", self.ty),
            "-inf" => write!(f, "-{}.inf", self.ty),
            _ if self.ty == ElemType::Bool => f.write_str(&plain),
            _ => write!(f, "{plain}{}", self.ty),
        }
    }
}

/// Reads the text form of [`Scalar`]. A number without suffix is an `i32`, or an `f64` if it has a point or an
/// exponent. Underscores between digits are skipped; `0x` and `0b` integers are understood.
pub fn parse_scalar(text: &str) -> Option<Scalar> {
    match text {
        "true" => return Some(Scalar::bool(true)),
        "false" => return Some(Scalar::bool(false)),
        _ => {}
    }
    let (negative, body) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    for ty in [ElemType::F16, ElemType::F32, ElemType::F64] {
        if let Some(word) = body.strip_prefix(ty.name()).and_then(|r| r.strip_prefix('.')) {
            return match word {
                "nan" => Some(Scalar::from_f64(ty, f64::NAN)),
                "inf" => Some(Scalar::from_f64(ty, if negative { f64::NEG_INFINITY } else { f64::INFINITY })),
                _ => None,
            };
        }
    }
    let suffix = ElemType::ALL.into_iter().filter(|t| *t != ElemType::Bool).find(|t| {
        // In a hexadecimal literal a trailing `f32` could be digits; a suffix there must be an integer type.
        body.ends_with(t.name()) && !(t.is_float() && body.starts_with("0x") && !body.contains('p'))
    });
    let digits = suffix.map_or(body, |t| &body[..body.len() - t.name().len()]).replace('_', "");
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if let Some(value) = parse_integer(&digits) {
        let ty = suffix.unwrap_or(ElemType::I32);
        if ty.is_float() {
            return parse_digits(ty, &digits, negative);
        }
        let value = if negative { value.wrapping_neg() } else { value };
        return Some(Scalar::new(ty, value));
    }
    let ty = suffix.unwrap_or(ElemType::F64);
    if ty.is_float() { parse_digits(ty, &digits, negative) } else { None }
}

fn parse_integer(digits: &str) -> Option<u64> {
    let (radix, body) = match digits.get(..2) {
        Some("0x") => (16, &digits[2..]),
        Some("0b") => (2, &digits[2..]),
        _ => (10, digits),
    };
    // Wraps, as Futhark's data format does.
    let mut value: u64 = 0;
    for c in body.chars() {
        value = value.wrapping_mul(radix as u64).wrapping_add(c.to_digit(radix)? as u64);
    }
    (!body.is_empty()).then_some(value)
}

/// Reads a number of a float type, without sign and suffix; underscores between digits are skipped.
pub fn parse_float(ty: ElemType, text: &str) -> Option<Scalar> {
    match text.contains('_') {
        true => parse_digits(ty, &text.replace('_', ""), false),
        false => parse_digits(ty, text, false),
    }
}

fn parse_digits(ty: ElemType, digits: &str, negative: bool) -> Option<Scalar> {
    let sign = |x: f64| if negative { -x } else { x };
    if let Some(hex) = digits.strip_prefix("0x") {
        return Some(Scalar::from_f64(ty, sign(parse_hex_float(hex)?)));
    }
    if ty == ElemType::F32 {
        // Straight to f32: going through f64 would round twice.
        let value: f32 = digits.parse().ok()?;
        return Some(Scalar::f32(if negative { -value } else { value }));
    }
    Some(Scalar::from_f64(ty, sign(digits.parse().ok()?)))
}

fn parse_hex_float(text: &str) -> Option<f64> {
    let (mantissa, exponent) = match text.split_once('p') {
        Some((m, e)) => (m, e.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut value = 0.0f64;
    for c in whole.chars().chain(fraction.chars()) {
        value = value * 16.0 + c.to_digit(16)? as f64;
    }
    let shift = exponent.checked_sub(i32::try_from(fraction.len()).ok()?.checked_mul(4)?)?;
    Some(value * 2f64.powi(shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips() {
        for text in ["3i32", "-128i8", "255u8", "1.5f32", "-0.1f64", "f32.nan", "-f64.inf", "true", "1e30f32"]
        {
            let value = parse_scalar(text).unwrap_or_else(|| panic!("{text} does not parse"));
            assert_eq!(parse_scalar(&value.to_string()), Some(value), "{text}");
        }
    }

    #[test]
    fn defaults_and_radixes() {
        assert_eq!(parse_scalar("7"), Some(Scalar::new(ElemType::I32, 7)));
        assert_eq!(parse_scalar("7.5"), Some(Scalar::f64(7.5)));
        assert_eq!(parse_scalar("0xff_u8").map(|s| s.bits), Some(255));
        assert_eq!(parse_scalar("0x1.8p1f32"), Some(Scalar::f32(3.0)));
        assert_eq!(parse_scalar("3f32"), Some(Scalar::f32(3.0)));
        assert_eq!(parse_scalar("x"), None);
    }
}
