//! From characters to tokens. A token is a name, a number, or a sign; `--` starts a comment.

use galopvm_base::{ElemType, Pos};

/// A token.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token {
    /// A name or a word.
    Name(String),
    /// A number, or `f32.nan`; without a leading minus.
    Number(String),
    /// A sign.
    Sign(&'static str),
    /// The end of the text.
    End,
}

/// Signs, longer ones before their prefixes.
const SIGNS: &[&str] = &[
    ">>>", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", ":+", "//", "%%", "**", "+", "-", "*", "/", "%",
    "<", ">", "(", ")", "[", "]", "{", "}", ",", "=", ":", "!", "|", "&", "^", "@",
];

/// True for characters that start a name.
pub(super) fn starts_name(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

/// True for characters inside a name.
pub(super) fn continues_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '\''
}

/// All tokens with their places, `End` last; or the place of a character that is not part of any token.
pub(super) fn lex(text: &str) -> Result<Vec<(Token, Pos)>, (Pos, char)> {
    let mut tokens = Vec::new();
    let mut pos = Pos { line: 1, column: 1 };
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let start = pos;
        let length = if c.is_whitespace() {
            c.len_utf8()
        } else if rest.starts_with("--") {
            rest.find('\n').unwrap_or(rest.len())
        } else if starts_name(c) {
            let mut end = rest.find(|c| !continues_name(c)).unwrap_or(rest.len());
            if let Some(special) = odd_float(&rest[..end], &rest[end..]) {
                end += special;
                tokens.push((Token::Number(rest[..end].to_string()), start));
            } else {
                tokens.push((Token::Name(rest[..end].to_string()), start));
            }
            end
        } else if c.is_ascii_digit() {
            let end = number_length(rest);
            tokens.push((Token::Number(rest[..end].to_string()), start));
            end
        } else if let Some(sign) = SIGNS.iter().find(|s| rest.starts_with(**s)) {
            tokens.push((Token::Sign(sign), start));
            sign.len()
        } else {
            return Err((pos, c));
        };
        for c in rest[..length].chars() {
            if c == '\n' {
                pos = Pos { line: pos.line + 1, column: 1 };
            } else {
                pos.column += 1;
            }
        }
        rest = &rest[length..];
    }
    tokens.push((Token::End, pos));
    Ok(tokens)
}

/// The length of `.nan` or `.inf` if it follows the name of a float type.
fn odd_float(word: &str, after: &str) -> Option<usize> {
    let ty: ElemType = word.parse().ok()?;
    let odd = after.starts_with(".nan") || after.starts_with(".inf");
    (ty.is_float() && odd).then_some(4)
}

/// The length of the number at the start of `text`: digits, a fraction, an exponent, a type suffix.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let at = |k: usize| bytes.get(k).copied().unwrap_or(b' ');
    let mut end = 1;
    if at(0) == b'0' && matches!(at(1), b'x' | b'b') {
        while at(end).is_ascii_alphanumeric()
            || at(end) == b'_'
            || (at(end) == b'.' && at(end + 1).is_ascii_hexdigit())
        {
            end += 1;
        }
        return end;
    }
    let digits = |mut k: usize| {
        while at(k).is_ascii_digit() || at(k) == b'_' {
            k += 1;
        }
        k
    };
    end = digits(end);
    if at(end) == b'.' && at(end + 1).is_ascii_digit() {
        end = digits(end + 1);
    }
    if matches!(at(end), b'e' | b'E') {
        let sign = usize::from(matches!(at(end + 1), b'+' | b'-'));
        if at(end + 1 + sign).is_ascii_digit() {
            end = digits(end + 1 + sign);
        }
    }
    while at(end).is_ascii_alphanumeric() {
        end += 1;
    }
    end
}
