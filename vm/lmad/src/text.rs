//! The text form of a view, `0 + {(4:6),(6:1)}`, or only the offset at rank 0: printed and parsed.

use std::fmt;
use std::str::FromStr;

use crate::view::{Dim, Dims, Lmad};

impl fmt::Display for Lmad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.offset)?;
        if self.dims.is_empty() {
            return Ok(());
        }
        f.write_str(" + {")?;
        for (k, dim) in self.dims.iter().enumerate() {
            let comma = if k == 0 { "" } else { "," };
            write!(f, "{comma}({}:{})", dim.size, dim.stride)?;
        }
        f.write_str("}")
    }
}

/// Why a text is not a view.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseLmadError {
    /// Byte position in the text where reading stopped.
    pub position: usize,
    /// What was expected there.
    pub expected: &'static str,
}

impl fmt::Display for ParseLmadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a view: expected {} at byte {}", self.expected, self.position)
    }
}

impl std::error::Error for ParseLmadError {}

impl FromStr for Lmad {
    type Err = ParseLmadError;

    /// Reads the printed form; blanks may stand between the signs, and `o + {}` is the rank 0 view too.
    fn from_str(text: &str) -> Result<Lmad, ParseLmadError> {
        let mut reader = Reader { text, position: 0 };
        let offset = reader.number("an offset")?;
        let mut dims = Dims::new();
        if reader.take('+') {
            reader.expect('{', "'{'")?;
            if !reader.take('}') {
                loop {
                    reader.expect('(', "'('")?;
                    let start = reader.position;
                    let size = reader.number("a size")?;
                    if size < 0 {
                        return Err(ParseLmadError { position: start, expected: "a size of at least 0" });
                    }
                    reader.expect(':', "':'")?;
                    let stride = reader.number("a stride")?;
                    reader.expect(')', "')'")?;
                    dims.push(Dim::new(size, stride));
                    if !reader.take(',') {
                        break;
                    }
                }
                reader.expect('}', "',' or '}'")?;
            }
        }
        reader.skip_blanks();
        if reader.position < text.len() {
            return Err(reader.error("the end"));
        }
        Ok(Lmad { offset, dims })
    }
}

/// A position in the text being parsed.
struct Reader<'a> {
    text: &'a str,
    position: usize,
}

impl Reader<'_> {
    fn error(&self, expected: &'static str) -> ParseLmadError {
        ParseLmadError { position: self.position, expected }
    }

    fn rest(&self) -> &str {
        &self.text[self.position..]
    }

    fn skip_blanks(&mut self) {
        self.position = self.text.len() - self.rest().trim_start().len();
    }

    fn take(&mut self, sign: char) -> bool {
        self.skip_blanks();
        let found = self.rest().starts_with(sign);
        if found {
            self.position += sign.len_utf8();
        }
        found
    }

    fn expect(&mut self, sign: char, expected: &'static str) -> Result<(), ParseLmadError> {
        if self.take(sign) { Ok(()) } else { Err(self.error(expected)) }
    }

    fn number(&mut self, expected: &'static str) -> Result<i64, ParseLmadError> {
        self.skip_blanks();
        let rest = self.rest();
        let digits = rest.strip_prefix('-').unwrap_or(rest);
        let length = rest.len() - digits.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let number = rest[..length].parse().map_err(|_| self.error(expected))?;
        self.position += length;
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Random, Views};

    #[test]
    fn prints_and_parses() {
        let mut random = Random::new(4);
        for _ in 0..500 {
            let view = random.view(5, 9, 99);
            assert_eq!(view.to_string().parse(), Ok(view));
        }
        for text in ["7", "-7", "0 + {(4:6),(6:1)}", "23 + {(4:-6),(0:-1)}"] {
            assert_eq!(text.parse::<Lmad>().unwrap().to_string(), text);
        }
        assert_eq!(" 3+{ } ".parse(), Ok(Lmad::scalar(3)));
    }

    #[test]
    fn refuses() {
        let errors = [
            ("", "not a view: expected an offset at byte 0"),
            ("x", "not a view: expected an offset at byte 0"),
            ("3 4", "not a view: expected the end at byte 2"),
            ("3 + (", "not a view: expected '{' at byte 4"),
            ("3 + {(2:1)", "not a view: expected ',' or '}' at byte 10"),
            ("3 + {(2:1),}", "not a view: expected '(' at byte 11"),
            ("3 + {(-2:1)}", "not a view: expected a size of at least 0 at byte 6"),
            ("3 + {(2 1)}", "not a view: expected ':' at byte 8"),
            ("99999999999999999999", "not a view: expected an offset at byte 0"),
            ("1 + {(é:1)}", "not a view: expected a size at byte 6"),
        ];
        for (text, error) in errors {
            assert_eq!(text.parse::<Lmad>().unwrap_err().to_string(), error);
        }
    }
}
