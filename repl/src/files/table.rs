//! Rows and cells of a text in which something separates them: a comma, a semicolon or a tab.
//!
//! A line is a row, unless a cell in quotes goes on; lines with nothing in them are none. Cells may stand in `"`, and `""` is
//! one of them there. Lines end with LF or CRLF. The first row is the names of the columns if some cell of it is no number
//! or truth value. Where commas do not separate, they may be points.

use super::columns::room;
use super::{Problem, cell};
use galopvm::{Block, Memory};
use std::borrow::Cow;

/// A byte order mark, which some programs write in front.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Cells of more characters are cut off in messages.
const SHOWN: usize = 60;

/// A cell, and where it begins.
#[derive(Clone, Debug)]
pub struct Cell<'t> {
    /// What it says, without the blanks around it.
    pub text: Cow<'t, str>,
    /// Where.
    pub at: usize,
}

/// A table.
pub struct Table<'t> {
    bytes: &'t [u8],
    separator: u8,
    /// Names of columns, where the first row is these.
    pub header: Option<Vec<String>>,
    /// Cells in each row.
    pub width: usize,
    /// Where the rows begin that are not the header.
    start: usize,
    /// Counts the cells of a row, which lie elsewhere.
    _room: Block,
}

/// What separates cells in a text: what a tab or else a semicolon in its first line says, else commas.
fn separator_of(bytes: &[u8]) -> u8 {
    let mut in_quotes = false;
    let (mut tab, mut semicolon) = (false, false);
    for byte in bytes {
        match byte {
            b'"' => in_quotes = !in_quotes,
            b'\n' if !in_quotes => break,
            b'\t' => tab |= !in_quotes,
            b';' => semicolon |= !in_quotes,
            _ => {}
        }
    }
    match (tab, semicolon) {
        (true, _) => b'\t',
        (false, true) => b';',
        _ => b',',
    }
}

impl<'t> Table<'t> {
    /// The table of these bytes.
    pub fn of(memory: &Memory, bytes: &'t [u8]) -> Result<Table<'t>, Problem> {
        if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) || bytes.contains(&0) {
            let hint = "save the table as UTF-8";
            return Err(Problem::of_file("this is no table in UTF-8: it may be UTF-16, or no text", hint));
        }
        let start = if bytes.starts_with(MARK) { MARK.len() } else { 0 };
        let separator = separator_of(&bytes[start..]);
        let mut rows = Rows { bytes, separator, width: usize::MAX, at: start };
        let width = rows.count()?;
        if width == 0 {
            return Err(Problem::of_file("this table has no rows", ""));
        }
        let _room = room(memory, width.saturating_mul(size_of::<Cell<'_>>()))?;
        let mut table = Table { bytes, separator, header: None, width, start, _room };
        let (mut rows, mut first) = (table.rows(), Vec::new());
        rows.next(&mut first)?;
        let end = rows.at;
        let is_name =
            |cell: &Cell<'_>| !cell.text.is_empty() && !cell::is_value(&cell.text, table.decimal_comma());
        if first.iter().any(is_name) {
            table.header = Some(first.into_iter().map(|cell| cell.text.into_owned()).collect());
            table.start = end;
        }
        Ok(table)
    }

    /// Whether commas in numbers are points.
    pub fn decimal_comma(&self) -> bool {
        self.separator != b','
    }

    /// The rows that are not the header.
    pub fn rows(&self) -> Rows<'t> {
        Rows { bytes: self.bytes, separator: self.separator, width: self.width, at: self.start }
    }

    /// At least as many as there are rows, and not so many that they could not be there.
    pub fn most_rows(&self) -> usize {
        let rest = &self.bytes[self.start..];
        let lines = rest.iter().filter(|byte| **byte == b'\n').count() + 1;
        // A row has as many bytes as it has cells: what separates them, and the end of the line.
        lines.min((rest.len() + 1) / self.width.max(1))
    }

    /// What messages call a column.
    pub fn column_name(&self, column: usize) -> String {
        match self.header.as_ref().and_then(|header| header.get(column)).filter(|name| !name.is_empty()) {
            Some(name) => format!("column {} (`{}`)", column + 1, shortened(name)),
            None => format!("column {}", column + 1),
        }
    }
}

/// A text as messages show it.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text.into(),
    }
}

/// Rows, one after the other.
pub struct Rows<'t> {
    bytes: &'t [u8],
    separator: u8,
    /// Cells that each has to have.
    width: usize,
    at: usize,
}

impl<'t> Rows<'t> {
    /// Puts the cells of the next row in the place of these; false if there is none.
    pub fn next(&mut self, cells: &mut Vec<Cell<'t>>) -> Result<bool, Problem> {
        cells.clear();
        if !self.skip_empty_lines() {
            return Ok(false);
        }
        let start = self.at;
        let hint =
            "each row needs a cell for each column; text with what separates cells in it stands in quotes";
        loop {
            let cell = self.cell()?;
            if cells.len() == self.width {
                let message = format!("this row has more cells than the first one, which has {}", self.width);
                return Err(Problem::at(cell.at, message, hint));
            }
            cells.push(cell);
            if self.is_last() {
                break;
            }
        }
        if cells.len() == self.width {
            return Ok(true);
        }
        let found = if cells.len() == 1 { "1 cell".into() } else { format!("{} cells", cells.len()) };
        Err(Problem::at(start, format!("this row has {found}, the first one has {}", self.width), hint))
    }

    /// How many cells the next row has, which is passed over; 0 if there is none.
    fn count(&mut self) -> Result<usize, Problem> {
        let mut count = 0;
        if self.skip_empty_lines() {
            loop {
                self.cell()?;
                count += 1;
                if self.is_last() {
                    break;
                }
            }
        }
        Ok(count)
    }

    /// Goes past what ends a cell; true if it was the last one of its row.
    fn is_last(&mut self) -> bool {
        let end = self.bytes.get(self.at);
        self.at += usize::from(end.is_some());
        end != Some(&self.separator)
    }

    /// Goes on to a line that has something in it; false if there is none.
    fn skip_empty_lines(&mut self) -> bool {
        loop {
            let rest = &self.bytes[self.at..];
            let blank = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\r')).count();
            match rest.get(blank) {
                None => return false,
                Some(b'\n') => self.at += blank + 1,
                Some(_) => return true,
            }
        }
    }

    /// The cell that begins here; afterwards what separates it comes next, or the end of the line.
    fn cell(&mut self) -> Result<Cell<'t>, Problem> {
        let rest = &self.bytes[self.at..];
        let blank = rest.iter().take_while(|byte| self.is_blank(**byte)).count();
        if rest.get(blank) == Some(&b'"') {
            self.at += blank;
            return self.quoted();
        }
        let ends = |byte: &u8| *byte == self.separator || *byte == b'\n';
        let length = rest.iter().position(ends).unwrap_or(rest.len());
        let text = rest[..length].trim_ascii();
        let at = self.at + if text.is_empty() { 0 } else { blank };
        self.at += length;
        Ok(Cell { text: String::from_utf8_lossy(text), at })
    }

    fn is_blank(&self, byte: u8) -> bool {
        byte != self.separator && matches!(byte, b' ' | b'\t' | b'\r')
    }

    /// `"so ""it"" is"`
    fn quoted(&mut self) -> Result<Cell<'t>, Problem> {
        let start = self.at;
        let mut text: Cow<'t, [u8]> = Cow::Borrowed(&[]);
        let mut from = start + 1;
        loop {
            let rest = &self.bytes[from..];
            let Some(length) = rest.iter().position(|byte| *byte == b'"') else {
                return Err(Problem::at(
                    start,
                    "this quote has no end",
                    "a quote inside quotes is written twice",
                ));
            };
            match &mut text {
                text if text.is_empty() => *text = Cow::Borrowed(&rest[..length]),
                text => text.to_mut().extend_from_slice(&rest[..length]),
            }
            from += length + 1;
            if self.bytes.get(from) != Some(&b'"') {
                break;
            }
            text.to_mut().push(b'"');
            from += 1;
        }
        let after = &self.bytes[from..];
        let blank = after.iter().take_while(|byte| self.is_blank(**byte)).count();
        self.at = from + blank;
        match self.bytes.get(self.at) {
            Some(byte) if *byte != self.separator && *byte != b'\n' => {
                let hint =
                    "a cell is in quotes as a whole, or not at all; a quote inside quotes is written twice";
                Err(Problem::at(self.at, "something follows the end of this quote", hint))
            }
            _ => Ok(Cell { text: text_of(text), at: start }),
        }
    }
}

fn text_of(bytes: Cow<'_, [u8]>) -> Cow<'_, str> {
    match bytes {
        Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes.trim_ascii()),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(bytes.trim_ascii()).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row = Vec<String>;

    fn shown(text: &str) -> Result<(Option<Row>, Vec<Row>), Problem> {
        let memory = Memory::default();
        let table = Table::of(&memory, text.as_bytes())?;
        let (mut rows, mut cells, mut all) = (table.rows(), Vec::new(), Vec::new());
        while rows.next(&mut cells)? {
            all.push(cells.iter().map(|cell| cell.text.to_string()).collect());
        }
        assert!(all.len() <= table.most_rows(), "{text:?}");
        Ok((table.header, all))
    }

    fn rows(text: &str) -> Vec<Row> {
        shown(text).expect("a right table").1
    }

    #[test]
    fn cells_are_separated_by_what_the_first_line_says() {
        assert_eq!(rows("1,2\n3,4\n"), [["1", "2"], ["3", "4"]]);
        assert_eq!(rows("1;2,5\r\n3;4\r\n"), [["1", "2,5"], ["3", "4"]]);
        assert_eq!(rows("1\t2\n\n3;0\t 4 "), [["1", "2"], ["3;0", "4"]]);
        assert_eq!(rows("\u{feff}7"), [["7"]]);
        assert_eq!(rows("1,\n,2\n,"), [["1", ""], ["", "2"], ["", ""]]);
    }

    #[test]
    fn quotes_hold_whatever_separates() {
        let (header, rows) = shown("\"a,\"\"b\"\"\", \"c\nd\" ,\n1,\"2\", 3 \n").expect("a right table");
        assert_eq!(header.expect("names"), ["a,\"b\"", "c\nd", ""]);
        assert_eq!(rows, [["1", "2", "3"]]);
        assert_eq!(shown("\"\"\"\",x\n").expect("a right table").0.expect("names"), ["\"", "x"]);
        assert_eq!(shown("1\n\"2").expect_err("no end").at, Some(2));
        assert_eq!(shown("1\n\"2\"3").expect_err("a rest").at, Some(5));
    }

    #[test]
    fn rows_have_the_same_number_of_cells() {
        let problem = shown("1,2\n3\n").expect_err("ragged");
        assert_eq!(
            (problem.at, problem.message.as_str()),
            (Some(4), "this row has 1 cell, the first one has 2")
        );
        assert_eq!(shown("1,2\n3,4,5\n").expect_err("ragged").at, Some(8));
        assert!(shown(" \n\r\n").is_err());
        assert!(shown("\u{feff}").is_err());
    }

    #[test]
    fn names_are_what_is_no_number() {
        assert_eq!(shown("1,nan,true\n").expect("a right table").0, None);
        assert_eq!(shown("1,,2\n").expect("a right table").0, None);
        assert_eq!(shown(",a\n1,2\n").expect("a right table").0.expect("names"), ["", "a"]);
    }
}
