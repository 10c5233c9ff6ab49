//! Numbers, characters and strings: from the spelling to the value.

use super::super::ast::*;
use super::super::token::{Token, TokenKind};
use super::{Parse, Parser};
use galopvm_base::{Diagnostic, ElemType, Scalar, scalar::parse_scalar};

impl<'a> Parser<'a> {
    /// A number, with or without a type suffix.
    pub(super) fn number(&mut self) -> Parse<&'a Exp<'a>> {
        let negated = self.pos > 0 && self.tokens[self.pos - 1].kind == TokenKind::Minus;
        let token = self.bump();
        let kind = match self.number_kind(token, negated) {
            Ok(kind) => kind,
            Err(message) => {
                let span = self.span(token);
                self.report(Diagnostic::error(span, message));
                ExpKind::Error
            }
        };
        Ok(self.exp_at(token.start, kind))
    }

    fn number_kind(&mut self, token: Token, negated: bool) -> Result<ExpKind<'a>, String> {
        let text = self.slice(token);
        let roman = text.starts_with("0r") || text.starts_with("0R");
        let clean = if roman { text.to_string() } else { text.to_ascii_lowercase() }.replace('_', "");
        if token.kind == TokenKind::Float {
            let scalar = parse_scalar(&clean).ok_or_else(|| format!("`{text}` is not a number"))?;
            let suffixed = ["f16", "f32", "f64"].iter().any(|s| clean.ends_with(s));
            return Ok(if suffixed {
                ExpKind::Literal(scalar)
            } else {
                ExpKind::Number(Number::Float(self.arena.alloc_str(&clean)))
            });
        }
        let suffix = ElemType::ALL.into_iter().find(|t| t.is_int() && clean.ends_with(t.name()));
        let digits = suffix.map_or(clean.as_str(), |t| &clean[..clean.len() - t.name().len()]);
        let value = if roman { roman_value(&digits[2..]) } else { integer_value(digits) }
            .ok_or_else(|| format!("`{text}` is too large for any integer type"))?;
        let Some(ty) = suffix else { return Ok(ExpKind::Number(Number::Int(value))) };
        // Radix literals spell bit patterns.
        let is_based = digits.starts_with("0x") || digits.starts_with("0b");
        let below = negated && ty.is_signed();
        let greatest = u128::from(if is_based { ty.mask() } else { ty.reach(below) });
        let scalar = Scalar::new(ty, value as u64 & ty.mask());
        if value > greatest {
            let span = self.span(token);
            self.report(
                Diagnostic::warning(span, format!("`{text}` is out of range and wraps to {scalar}"))
                    .with_label(format!("{ty} ends at {greatest}")),
            );
        }
        Ok(ExpKind::Literal(scalar))
    }

    /// The UTF-8 bytes of a string literal, and the literal as written.
    pub(super) fn string_bytes(&mut self, token: Token) -> (&'a [u8], &'a str) {
        let text = self.slice(token);
        let (chars, ok) = unescape(&text[1..text.len() - 1]);
        if !ok {
            let span = self.span(token);
            self.report(Diagnostic::error(span, "an escape in this string is not understood"));
        }
        let decoded: String = chars.iter().filter_map(|c| char::from_u32(*c)).collect();
        (self.arena.alloc_slice_copy(decoded.as_bytes()), text)
    }
}

fn integer_value(digits: &str) -> Option<u128> {
    let (radix, body) = match digits.get(..2) {
        Some("0x") => (16, &digits[2..]),
        Some("0b") => (2, &digits[2..]),
        _ => (10, digits),
    };
    u128::from_str_radix(body, radix).ok()
}

fn roman_value(digits: &str) -> Option<u128> {
    let value = |c: char| "IVXLCDM".find(c).map(|i| [1u128, 5, 10, 50, 100, 500, 1000][i]);
    let values: Vec<u128> = digits.chars().map(value).collect::<Option<_>>()?;
    let mut total = 0i128;
    for (i, v) in values.iter().enumerate() {
        let smaller = values.get(i + 1).is_some_and(|next| v < next);
        total += if smaller { -(*v as i128) } else { *v as i128 };
    }
    u128::try_from(total).ok()
}

/// The names of control characters that an escape can use, by code point; 127 stands last.
const CONTROL: [&str; 34] = [
    "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "HT", "LF", "VT", "FF", "CR", "SO", "SI",
    "DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC", "FS", "GS", "RS",
    "US", "SP", "DEL",
];

/// Code points of text with backslash escapes, and whether every escape was understood.
pub(super) fn unescape(text: &str) -> (Vec<u32>, bool) {
    let mut codes = Vec::new();
    let mut ok = true;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c != '\\' {
            codes.push(c as u32);
            continue;
        }
        match escape(rest) {
            Some((code, used)) => {
                ok &= code.is_none_or(|c| char::from_u32(c).is_some());
                codes.extend(code);
                rest = &rest[used..];
            }
            None => {
                ok = false;
                rest = rest.char_indices().nth(1).map_or("", |(i, _)| &rest[i..]);
            }
        }
    }
    (codes, ok)
}

/// What stands behind a backslash: a code point (`\&` is none) and how many bytes it takes.
fn escape(text: &str) -> Option<(Option<u32>, usize)> {
    let number = |from: usize, radix: u32| {
        let digits = text[from..].bytes().take_while(|b| char::from(*b).is_digit(radix)).count();
        let code = u32::from_str_radix(&text[from..from + digits], radix).unwrap_or(u32::MAX);
        (digits > 0).then_some((Some(code), from + digits))
    };
    let code = match text.chars().next()? {
        'n' => 10,
        't' => 9,
        'r' => 13,
        'a' => 7,
        'b' => 8,
        'f' => 12,
        'v' => 11,
        c @ ('\\' | '"' | '\'') => c as u32,
        '&' => return Some((None, 1)),
        'x' => return number(1, 16),
        'o' => return number(1, 8),
        '0'..='9' => return number(0, 10),
        '^' => {
            let c = *text.as_bytes().get(1)?;
            return (b'@'..=b'_').contains(&c).then(|| (Some((c - b'@') as u32), 2));
        }
        _ => {
            let known = CONTROL.iter().enumerate().filter(|(_, name)| text.starts_with(**name));
            let (code, name) = known.max_by_key(|(_, name)| name.len())?;
            return Some((Some(if code == 33 { 127 } else { code as u32 }), name.len()));
        }
    };
    Some((Some(code), 1))
}
