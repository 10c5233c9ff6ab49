//! Tokens of assembly text.

use galopvm_base::quote::unquote;
use galopvm_base::scalar::parse_scalar;
use galopvm_base::{ElemType, Scalar};
use std::fmt;
use std::str::FromStr;

/// What is wrong with assembly text, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextError {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for TextError {}

/// Reads assembly text from the front.
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Reader<'a> {
        let mut reader = Reader { text, at: 0 };
        reader.skip();
        reader
    }

    /// An error at the current place.
    pub fn error(&self, message: impl Into<String>) -> TextError {
        let before = &self.text[..self.at];
        let line = before.matches('\n').count() + 1;
        let column = before.len() - before.rfind('\n').map_or(0, |i| i + 1) + 1;
        TextError { line, column, message: message.into() }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip(&mut self) {
        loop {
            let trimmed = self.rest().trim_start();
            self.at = self.text.len() - trimmed.len();
            if !trimmed.starts_with(';') {
                return;
            }
            self.at += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    fn advance(&mut self, bytes: usize) {
        self.at += bytes;
        self.skip();
    }

    pub(super) fn at_end(&self) -> bool {
        self.rest().is_empty()
    }

    pub(super) fn found(&self) -> String {
        let word: String = self.rest().chars().take_while(|c| !c.is_whitespace()).take(20).collect();
        if word.is_empty() { "the end".into() } else { format!("`{word}`") }
    }

    /// True if the text goes on with this punctuation.
    pub fn peek_is(&self, punctuation: &str) -> bool {
        self.rest().starts_with(punctuation)
    }

    /// Takes this punctuation if it is next.
    pub fn accept(&mut self, punctuation: &str) -> bool {
        let is_next = self.peek_is(punctuation);
        if is_next {
            self.advance(punctuation.len());
        }
        is_next
    }

    /// Takes this punctuation or fails.
    pub fn expect(&mut self, punctuation: &str) -> Result<(), TextError> {
        if self.accept(punctuation) {
            return Ok(());
        }
        Err(self.error(format!("expected `{punctuation}`, found {}", self.found())))
    }

    fn word_text(&self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        &rest[..end]
    }

    pub(super) fn peek_word(&self, word: &str) -> bool {
        self.word_text() == word
    }

    /// Takes a word of letters, digits and underscores.
    pub fn word(&mut self) -> Result<&'a str, TextError> {
        let word = self.word_text();
        if word.is_empty() {
            return Err(self.error(format!("expected a word, found {}", self.found())));
        }
        self.advance(word.len());
        Ok(word)
    }

    /// Takes a word that a type knows.
    pub fn named<T: FromStr>(&mut self, what: &str) -> Result<T, TextError> {
        let word = self.word_text();
        let value =
            word.parse().map_err(|_| self.error(format!("expected {what}, found {}", self.found())))?;
        self.advance(word.len());
        Ok(value)
    }

    /// True if an id with this prefix is next.
    pub fn peek_id(&self, prefix: &str) -> bool {
        self.rest().strip_prefix(prefix).is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit()))
    }

    /// Takes an id: the prefix and a number.
    pub fn id(&mut self, prefix: &str) -> Result<u32, TextError> {
        if !self.peek_id(prefix) {
            return Err(self.error(format!("expected `{prefix}` and a number, found {}", self.found())));
        }
        self.at += prefix.len();
        self.number()
    }

    /// Takes a number.
    pub fn number(&mut self) -> Result<u32, TextError> {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let number = rest[..end].parse().map_err(|_| self.error("expected a number below 2^32"))?;
        self.advance(end);
        Ok(number)
    }

    /// Takes a scalar constant.
    pub fn scalar(&mut self) -> Result<Scalar, TextError> {
        if self.peek_word("bits") {
            self.word()?;
            let ty: ElemType = self.named("an element type")?;
            let text = self.word()?;
            let bits = text.strip_prefix("0x").and_then(|hex| u64::from_str_radix(hex, 16).ok());
            return match bits {
                Some(bits) if bits & !ty.mask() == 0 => Ok(Scalar { ty, bits }),
                _ => Err(self.error(format!("expected the bits of a {ty} in hexadecimal"))),
            };
        }
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_.+-".contains(c);
        let end = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        let value =
            parse_scalar(&rest[..end]).ok_or_else(|| self.error("expected a constant with its type"))?;
        self.advance(end);
        Ok(value)
    }

    /// Takes a string in double quotes, with Rust's escapes.
    pub fn quoted(&mut self) -> Result<String, TextError> {
        let (value, length) =
            unquote(self.rest()).map_err(|what| self.error(format!("{what}, found {}", self.found())))?;
        self.advance(length);
        Ok(value)
    }

    /// Takes a list in parentheses, separated by commas.
    pub fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, TextError>,
    ) -> Result<Vec<T>, TextError> {
        self.expect("(")?;
        let mut items = Vec::new();
        while !self.accept(")") {
            if !items.is_empty() {
                self.expect(",")?;
            }
            items.push(item(self)?);
        }
        Ok(items)
    }
}
