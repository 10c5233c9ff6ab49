//! Files of cases (`tests/golden/cases/`): sections that begin in column 0 with a word in capitals, with indented lines under
//! them. `--` begins a comment.

use crate::{files, read, stem};

/// A line of a section, blanks at its ends removed; comments and empty lines are no lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// In the file, from 1.
    pub number: usize,
    /// What it says.
    pub text: String,
}

/// A section of a case.
#[derive(Clone)]
pub struct Section {
    /// The line that opens it, `EXPECT layout gpu`.
    pub header: String,
    /// What it says.
    pub lines: Vec<Line>,
    /// The lines as they stand, comments included.
    pub body: String,
}

impl Section {
    /// What an `EXPECT` section expects, `layout gpu`.
    pub fn kind(&self) -> Option<&str> {
        self.header.strip_prefix("EXPECT ").map(str::trim)
    }
}

/// A file of cases.
pub struct Case {
    /// The file without its ending.
    pub name: String,
    /// In order.
    pub sections: Vec<Section>,
}

impl Case {
    /// The case of a text.
    pub fn new(name: &str, text: &str) -> Case {
        let mut sections: Vec<Section> = Vec::new();
        for (k, line) in text.lines().enumerate() {
            if line.starts_with(|c: char| c.is_ascii_uppercase()) {
                let header = line.trim_end().into();
                sections.push(Section { header, lines: Vec::new(), body: String::new() });
            } else if let Some(section) = sections.last_mut() {
                section.body.push_str(line);
                section.body.push('\n');
                let text = line.trim();
                if !text.is_empty() && !text.starts_with("--") {
                    section.lines.push(Line { number: k + 1, text: text.into() });
                }
            }
        }
        Case { name: name.into(), sections }
    }

    /// The body of the first section with this header.
    pub fn text(&self, header: &str) -> Option<&str> {
        self.sections.iter().find(|section| section.header == header).map(|section| section.body.as_str())
    }
}

/// Every case, by name.
pub fn all() -> Vec<Case> {
    files("tests/golden/cases", "txt").iter().map(|path| Case::new(&stem(path), &read(path))).collect()
}

#[test]
fn cases_have_sections_with_lines() {
    let case = Case::new("one", "CASE a\nENV\n  size n = 3\n  -- said\n\nEXPECT lmad \n  x\n    y  \n");
    let headers: Vec<&str> = case.sections.iter().map(|section| section.header.as_str()).collect();
    assert_eq!(headers, ["CASE a", "ENV", "EXPECT lmad"]);
    assert_eq!(case.text("ENV"), Some("  size n = 3\n  -- said\n\n"));
    assert_eq!(case.sections[1].lines, [Line { number: 3, text: "size n = 3".into() }]);
    assert_eq!(case.sections[2].kind(), Some("lmad"));
    assert_eq!(case.sections[2].lines[1], Line { number: 8, text: "y".into() });
}
