//! Scalars as text, followed by their type.
//!
//! Floats have two styles: of programs, C's `%.*g` with enough digits to read the same value back; and of data, the
//! fewest digits that do, written as Haskell does.

use super::decimal::{Decimal, rounded, shortest_f32, shortest_f64};
use galopvm_base::scalar::convert;
use galopvm_base::{Bits, ElemType, Scalar};

/// How floats and arrays of several dimensions are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Style {
    /// As compiled programs print results: `0.100000001f32`, on one line.
    #[default]
    Program,
    /// As `futhark dataset` prints data: `0.1f32`, rows on lines of their own.
    Data,
    /// As Futhark's interpreter shows traced values: as data, without types, on one line.
    Bare,
}

/// Bytes that any scalar fits into.
pub(super) const LONGEST: usize = 40;

/// Text that grows at its end.
pub(super) struct Text<'t> {
    place: &'t mut [u8; LONGEST],
    length: usize,
}

impl Text<'_> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        // The longest is `-1.2345678901234567e-308f64`.
        if let Some(place) = self.place.get_mut(self.length..self.length + bytes.len()) {
            place.copy_from_slice(bytes);
            self.length += bytes.len();
        }
    }

    #[inline]
    fn byte(&mut self, byte: u8) {
        if let Some(place) = self.place.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }

    /// An unsigned number.
    #[inline]
    fn number(&mut self, value: u64) {
        let count = value.checked_ilog10().unwrap_or(0) as usize + 1;
        if let Some(place) = self.place.get_mut(self.length..self.length + count) {
            write_digits(place, value);
            self.length += count;
        }
    }
}

/// Two digits at a time.
static PAIRS: [[u8; 2]; 100] = pairs();

const fn pairs() -> [[u8; 2]; 100] {
    let (mut pairs, mut k) = ([[0; 2]; 100], 0);
    while k < 100 {
        pairs[k as usize] = [b'0' + k / 10, b'0' + k % 10];
        k += 1;
    }
    pairs
}

/// Writes the last digits of a number, as many as there is place for.
#[inline]
fn write_digits(place: &mut [u8], mut value: u64) {
    let mut end = place.len();
    while end >= 2 {
        place[end - 2..end].copy_from_slice(&PAIRS[(value % 100) as usize]);
        value /= 100;
        end -= 2;
    }
    if end == 1 {
        place[0] = b'0' + (value % 10) as u8;
    }
}

/// Writes a scalar with its type to the front of a place; the number of bytes.
#[inline]
pub(super) fn write(place: &mut [u8; LONGEST], ty: ElemType, bits: Bits, style: Style) -> usize {
    let mut text = Text { place, length: 0 };
    if ty == ElemType::Bool {
        text.put(if bits != 0 { b"true" } else { b"false" });
        return text.length;
    }
    if ty.is_float() {
        let value = f64::from_bits(convert(ty, ElemType::F64, bits));
        if value.is_sign_negative() && !value.is_nan() {
            text.byte(b'-');
        }
        if !value.is_finite() {
            text.put(ty.name().as_bytes());
            text.put(if value.is_nan() { b".nan" } else { b".inf" });
            return text.length;
        }
        write_float(&mut text, ty, value.abs(), style);
    } else {
        let mut value = bits;
        if ty.is_signed() {
            let signed = Scalar { ty, bits }.as_i64();
            value = signed.unsigned_abs();
            if signed < 0 {
                text.byte(b'-');
            }
        }
        text.number(value);
    }
    if style != Style::Bare {
        text.put(ty.name().as_bytes());
    }
    text.length
}

/// A finite number that is not negative.
#[inline]
fn write_float(text: &mut Text<'_>, ty: ElemType, value: f64, style: Style) {
    match style {
        // Whole numbers of fewer digits are all there is.
        Style::Program if value < 1e9 && value.fract() == 0.0 => text.number(value as u64),
        Style::Program => write_general(text, rounded(value, if ty == ElemType::F64 { 17 } else { 9 })),
        _ if value == 0.0 => text.put(b"0.0"),
        _ if ty == ElemType::F64 => write_shown(text, shortest_f64(value)),
        _ => write_shown(text, shortest_f32(value as f32)),
    }
}

/// The digits without zeros at their end.
#[inline]
fn significant<'d>(buffer: &'d mut [u8; 20], decimal: &Decimal) -> &'d [u8] {
    let digits = &mut buffer[..decimal.count.min(20) as usize];
    write_digits(digits, decimal.digits);
    let length = digits.iter().rposition(|digit| *digit != b'0').map_or(1, |last| last + 1);
    &digits[..length]
}

/// C's `%.*g`.
#[inline]
fn write_general(text: &mut Text<'_>, decimal: Decimal) {
    let mut buffer = [0; 20];
    let digits = significant(&mut buffer, &decimal);
    let exponent = decimal.exponent;
    if exponent < -4 || exponent >= decimal.count as i32 {
        text.put(&digits[..1]);
        point(text, &digits[1..]);
        text.put(if exponent < 0 { b"e-" } else { b"e+" });
        if exponent.unsigned_abs() < 10 {
            text.byte(b'0');
        }
        text.number(u64::from(exponent.unsigned_abs()));
    } else {
        write_plain(text, digits, exponent);
    }
}

/// Haskell's `show`.
fn write_shown(text: &mut Text<'_>, decimal: Decimal) {
    let mut buffer = [0; 20];
    let digits = significant(&mut buffer, &decimal);
    let exponent = decimal.exponent;
    if (-1..7).contains(&exponent) {
        write_plain(text, digits, exponent);
        if digits.len() as i32 <= exponent + 1 {
            text.put(b".0");
        }
    } else {
        text.put(&digits[..1]);
        point(text, if digits.len() > 1 { &digits[1..] } else { b"0" });
        text.put(if exponent < 0 { b"e-" } else { b"e" });
        text.number(u64::from(exponent.unsigned_abs()));
    }
}

/// Without an exponent.
fn write_plain(text: &mut Text<'_>, digits: &[u8], exponent: i32) {
    const ZEROS: [u8; 20] = [b'0'; 20];
    if exponent < 0 {
        text.put(b"0.");
        text.put(&ZEROS[..(exponent.unsigned_abs() as usize - 1).min(20)]);
        text.put(digits);
    } else {
        let whole = exponent as usize + 1;
        let given = whole.min(digits.len());
        text.put(&digits[..given]);
        text.put(&ZEROS[..(whole - given).min(20)]);
        point(text, &digits[given..]);
    }
}

fn point(text: &mut Text<'_>, fraction: &[u8]) {
    if !fraction.is_empty() {
        text.byte(b'.');
        text.put(fraction);
    }
}
