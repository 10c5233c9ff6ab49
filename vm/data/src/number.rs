//! Scalars from text. The suffix or an expected type says what a word means.

use super::decimal::{nearest_f32, nearest_f64};
use galopvm_base::scalar::parse_scalar;
use galopvm_base::{ElemType, Scalar};

/// What an integer is that its type does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Misfit {
    /// An error.
    Refused,
    /// The number of its lowest bits, as in the language's own tests.
    Wrapped,
}

/// A word of the text format as a scalar. `expected` is the type of a word without suffix; a word with a suffix has
/// the type that this says.
pub(super) fn parse(word: &[u8], expected: Option<ElemType>, misfits: Misfit) -> Result<Scalar, String> {
    match parse_decimal(word, expected) {
        Some(scalar) => Ok(scalar),
        None => parse_general(word, expected, misfits),
    }
}

fn parse_general(word: &[u8], expected: Option<ElemType>, misfits: Misfit) -> Result<Scalar, String> {
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
    let magnitude = magnitude(&body);
    // An integer that says no type and that nobody expects is an `i32`.
    let Some(ty) = suffix.or(expected).or(magnitude.map(|_| ElemType::I32)) else {
        return parse_scalar(&signed(negative, &body)).ok_or_else(unreadable);
    };
    if ty == ElemType::Bool {
        return Err(format!("`{text}` is not a bool"));
    }
    let looks_whole = !(body.contains('.') || !is_hexadecimal(&body) && body.contains(['e', 'E']));
    if ty.is_int() && !looks_whole {
        return Err(format!("`{text}` is not an integer, but a value of type {ty} is expected"));
    }
    // As in programs, a number in another base than ten spells bits.
    let greatest = if is_based(&body) { ty.mask() } else { ty.reach(negative) };
    let fits = magnitude.is_none_or(|value| value <= greatest.into());
    if ty.is_int() && !fits && misfits == Misfit::Refused {
        return Err(misfit(text, ty));
    }
    parse_scalar(&signed(negative, &format!("{body}{ty}"))).ok_or_else(unreadable)
}

/// What is wrong with an integer that its type does not have.
pub fn misfit(text: &str, ty: ElemType) -> String {
    let least = match ty.reach(true) {
        0 => "0".to_string(),
        below => format!("-{below}"),
    };
    format!("`{text}` does not fit {ty}, which goes from {least} to {}", ty.reach(false))
}

/// The value of an integer's digits, or more than any type has if they are too many.
fn magnitude(body: &str) -> Option<u128> {
    let (radix, digits) = match is_based(body) {
        true if is_hexadecimal(body) => (16, &body[2..]),
        true => (2, &body[2..]),
        false => (10, body),
    };
    let mut value = 0u128;
    for digit in digits.chars().filter(|digit| *digit != '_') {
        value = value.saturating_mul(radix.into()).saturating_add(digit.to_digit(radix)?.into());
    }
    Some(value)
}

fn signed(negative: bool, body: &str) -> String {
    if negative { format!("-{body}") } else { body.to_string() }
}

/// True for hexadecimal and binary numbers.
fn is_based(body: &str) -> bool {
    is_hexadecimal(body) || body.starts_with("0b") || body.starts_with("0B")
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

/// Digits that certainly fit 64 bits.
const MOST_DIGITS: usize = 19;

/// The fast path: decimal digits, possibly a sign, a point, an exponent and a suffix, and `true` and `false`. What is
/// not certain is left to the general path.
#[inline]
fn parse_decimal(word: &[u8], expected: Option<ElemType>) -> Option<Scalar> {
    let negative = word.first() == Some(&b'-');
    let start = negative as usize;
    let mut at = start;
    let mut digits = 0u64;
    let digit_at = |at: usize| word.get(at).map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10);
    while let Some(digit) = digit_at(at) {
        digits = digits.wrapping_mul(10).wrapping_add(u64::from(digit));
        at += 1;
    }
    let whole = at - start;
    if whole == 0 {
        return match word {
            b"true" => Some(Scalar::bool(true)),
            b"false" => Some(Scalar::bool(false)),
            _ => None,
        };
    }
    if word[start] == b'0' && whole > 1 {
        return None;
    }
    let (mut count, mut power, mut is_float) = (whole, 0i32, false);
    if word.get(at) == Some(&b'.') {
        let point = at;
        at += 1;
        while let Some(digit) = digit_at(at) {
            digits = digits.wrapping_mul(10).wrapping_add(u64::from(digit));
            at += 1;
        }
        let fraction = at - point - 1;
        if fraction == 0 {
            return None;
        }
        count += fraction;
        power = -i32::try_from(fraction).ok()?;
        is_float = true;
    }
    if count > MOST_DIGITS {
        return None;
    }
    if let Some(b'e' | b'E') = word.get(at) {
        at += 1;
        let below = word.get(at) == Some(&b'-');
        at += usize::from(matches!(word.get(at), Some(b'-' | b'+')));
        let (mut exponent, first) = (0, at);
        while let Some(digit) = digit_at(at) {
            exponent = exponent * 10 + i32::from(digit);
            at += 1;
            if at - first > 4 {
                return None;
            }
        }
        if at == first {
            return None;
        }
        power += if below { -exponent } else { exponent };
        is_float = true;
    }
    let suffix = match &word[at..] {
        b"" => None,
        b"i32" => Some(ElemType::I32),
        b"f32" => Some(ElemType::F32),
        b"f64" => Some(ElemType::F64),
        rest => Some(ElemType::ALL.into_iter().find(|t| t.name().as_bytes() == rest)?),
    };
    let ty = suffix.or(expected).unwrap_or(if is_float { ElemType::F64 } else { ElemType::I32 });
    if ty.is_int() {
        // The general path says why not.
        if digits > ty.reach(negative) {
            return None;
        }
        let value = if negative { digits.wrapping_neg() } else { digits };
        return (!is_float).then(|| Scalar::new(ty, value));
    }
    let signed = |value: f64| if negative { -value } else { value };
    match ty {
        ElemType::F32 => {
            nearest_f32(digits, power).map(|value| Scalar::f32(if negative { -value } else { value }))
        }
        ElemType::F64 => nearest_f64(digits, power).map(|value| Scalar::f64(signed(value))),
        ElemType::F16 => nearest_f64(digits, power).map(|value| Scalar::from_f64(ty, signed(value))),
        _ => None,
    }
}
