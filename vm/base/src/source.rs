//! Source files and places in them.

use crate::define_id;
use crate::id::IdVec;

define_id!(
    /// A source file known to a [`Sources`].
    pub struct FileId, "file"
);

/// A stretch of bytes in one source file, `start..end`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The stretch `start..end` of `file`.
    pub fn new(file: FileId, start: usize, end: usize) -> Span {
        let clip = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Span { file, start: clip(start), end: clip(end) }
    }

    /// The smallest span that covers both (of the same file; otherwise `self`).
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A line and column, both counted from one; columns count characters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Pos {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

struct File {
    name: String,
    text: String,
    line_starts: Vec<u32>,
    /// The characters that begin before each stretch of [`STRETCH`] bytes; none if every byte is one.
    characters: Vec<u32>,
}

/// Bytes between two counts of the characters so far.
const STRETCH: usize = 256;

/// The characters that begin in these bytes.
fn begins(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}

impl File {
    fn new(name: String, text: String) -> File {
        let starts = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i as u32 + 1);
        let line_starts = std::iter::once(0).chain(starts).collect();
        let mut characters = Vec::new();
        if !text.is_ascii() {
            let mut count = 0;
            for stretch in text.as_bytes().chunks(STRETCH) {
                characters.push(count);
                count += begins(stretch) as u32;
            }
        }
        File { name, text, line_starts, characters }
    }

    /// The characters that begin before a byte. A line may be as long as the file, so it is not gone through.
    fn characters_before(&self, byte: usize) -> usize {
        match self.characters.get(byte / STRETCH) {
            Some(count) => *count as usize + begins(&self.text.as_bytes()[byte / STRETCH * STRETCH..byte]),
            None if self.characters.is_empty() => byte,
            None => begins(self.text.as_bytes()),
        }
    }
}

/// What some editors put in front of a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// A text without the byte order mark that may stand in front of it: places are counted behind it.
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// The source files of one compilation.
#[derive(Default)]
pub struct Sources {
    files: IdVec<FileId, File>,
}

impl Sources {
    /// No files yet.
    pub fn new() -> Sources {
        Sources::default()
    }

    /// Adds a file under the name that messages will show. A byte order mark in front is no part of its text.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        let mut text = text.into();
        text.drain(..text.len() - without_mark(&text).len());
        self.files.push(File::new(name.into(), text))
    }

    /// The name of a file.
    pub fn name(&self, file: FileId) -> &str {
        self.files.get(file).map_or("<unknown>", |f| &f.name)
    }

    /// The text of a file.
    pub fn text(&self, file: FileId) -> &str {
        self.files.get(file).map_or("", |f| &f.text)
    }

    /// The text a span covers (empty if the span does not fit the file).
    pub fn snippet(&self, span: Span) -> &str {
        self.text(span.file).get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Line and column of a byte offset.
    pub fn position(&self, file: FileId, offset: u32) -> Pos {
        let Some(f) = self.files.get(file) else { return Pos::default() };
        let line = f.line_starts.partition_point(|&s| s <= offset).max(1);
        let start = f.line_starts[line - 1] as usize;
        let end = (offset as usize).clamp(start, f.text.len());
        let column = f.characters_before(end) - f.characters_before(start);
        Pos { line: line as u32, column: column as u32 + 1 }
    }

    /// First and last position of a span, the last one inclusive.
    pub fn range(&self, span: Span) -> (Pos, Pos) {
        let last = span.end.saturating_sub(1).max(span.start);
        (self.position(span.file, span.start), self.position(span.file, last))
    }

    /// The bytes of the longest line that a span touches.
    pub fn line_length(&self, span: Span) -> usize {
        let Some(f) = self.files.get(span.file) else { return 0 };
        let line = |offset: u32| f.line_starts.partition_point(|s| *s <= offset).max(1);
        let end = |line: usize| f.line_starts.get(line).map_or(f.text.len(), |s| *s as usize);
        let lines = line(span.start)..=line(span.end);
        lines.map(|l| end(l) - f.line_starts[l - 1] as usize).max().unwrap_or(0)
    }

    /// `file:line:col`, as messages print a place.
    pub fn place(&self, span: Span) -> String {
        let at = self.position(span.file, span.start);
        format!("{}:{}:{}", self.name(span.file), at.line, at.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_however_long_the_line_is() {
        for (unit, characters) in [("x", 1), ("é", 1), ("aé ∑", 4), ("𝕏y", 2)] {
            let line = unit.repeat(1000);
            let text = format!("{line}\n{line}");
            let mut sources = Sources::new();
            let file = sources.add("long", text.as_str());
            for k in [0, 1, 63, 64, 255, 256, 257, 999, 1000] {
                let at = sources.position(file, (line.len() + 1 + k * unit.len()) as u32);
                assert_eq!(at, Pos { line: 2, column: (k * characters + 1) as u32 }, "{unit} {k}");
            }
            assert_eq!(sources.position(file, u32::MAX).column, (1000 * characters + 1) as u32);
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_text() {
        let mut sources = Sources::new();
        let file = sources.add("marked", "\u{feff}def");
        assert_eq!((sources.text(file), sources.position(file, 0).column), ("def", 1));
    }
}
