//! Case files: sections that start in column 0, lines, environments, inputs.

use galopvm_kir::text::{parse_env, parse_region_in};
use galopvm_kir::{CheckedRegion, Observed, VerifyError, check, types};
use std::fs;
use std::path::Path;

/// A line of a section, blanks at its ends removed; comments and empty lines are no lines.
#[derive(Clone)]
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

/// A case file.
pub struct Case {
    /// The file without its ending.
    pub name: String,
    /// In order.
    pub sections: Vec<Section>,
}

impl Case {
    /// The body of the first section with this header.
    pub fn text(&self, header: &str) -> Option<&str> {
        self.sections.iter().find(|section| section.header == header).map(|section| section.body.as_str())
    }

    /// The input, checked, and what was observed of its first parameters.
    pub fn region(&self) -> Result<(CheckedRegion, Observed), String> {
        self.region_with("")
    }

    /// The input after some more statements at its end.
    pub fn region_with(&self, more: &str) -> Result<(CheckedRegion, Observed), String> {
        let (known, observed) =
            parse_env(self.text("ENV").unwrap_or_default()).map_err(|error| format!("ENV: {error}"))?;
        let input = format!("{}{more}", self.text("INPUT").unwrap_or_default());
        let mut region = parse_region_in(known, &input).map_err(|error| format!("INPUT: {error}"))?;
        types::infer(&mut region);
        let region = check(region)
            .map_err(|errors| errors.iter().map(VerifyError::to_string).collect::<Vec<_>>().join("; "))?;
        Ok((region, observed))
    }
}

/// A region that is not a case's own.
pub fn region_of(env: &str, input: &str) -> Result<(CheckedRegion, Observed), String> {
    let (known, observed) = parse_env(env).map_err(|error| error.to_string())?;
    let mut region = parse_region_in(known, input).map_err(|error| format!("{error}\n{input}"))?;
    types::infer(&mut region);
    let region = check(region).map_err(|errors| format!("{}\n{input}", errors[0]))?;
    Ok((region, observed))
}

/// What a group makes of a section.
pub struct Outcome {
    /// Lines that say what was computed.
    pub agree: usize,
    /// Lines that do not, with what was computed.
    pub failures: Vec<String>,
    /// Lines that the group does not understand.
    pub unread: Vec<Line>,
}

impl Outcome {
    /// The section belongs to somebody else.
    pub fn not_mine(section: &Section) -> Outcome {
        Outcome { agree: 0, failures: Vec::new(), unread: section.lines.clone() }
    }

    /// Line by line: `Ok(None)` if the line is not understood, else whether it agrees and what was computed.
    pub fn each(
        section: &Section,
        mut compute: impl FnMut(&str) -> Result<Option<String>, String>,
    ) -> Outcome {
        let mut outcome = Outcome { agree: 0, failures: Vec::new(), unread: Vec::new() };
        for line in &section.lines {
            match compute(&line.text) {
                Ok(None) => outcome.unread.push(line.clone()),
                Ok(Some(found)) if found == line.text => outcome.agree += 1,
                Ok(Some(found)) => outcome.fail(section, line, &found),
                Err(error) => outcome.fail(section, line, &error),
            }
        }
        outcome
    }

    /// The whole section, whose lines should be these, in this order.
    pub fn whole(section: &Section, computed: Result<Vec<String>, String>) -> Outcome {
        let mut outcome = Outcome { agree: 0, failures: Vec::new(), unread: Vec::new() };
        match computed {
            Err(error) => {
                section.lines.iter().for_each(|line| outcome.fail(section, line, &error));
            }
            Ok(computed) => {
                for (k, line) in section.lines.iter().enumerate() {
                    match computed.get(k) {
                        Some(found) if *found == line.text => outcome.agree += 1,
                        Some(found) => outcome.fail(section, line, found),
                        None => outcome.fail(section, line, "nothing"),
                    }
                }
                for found in computed.iter().skip(section.lines.len()) {
                    outcome.failures.push(format!("{}: computed, but not expected: {found}", section.header));
                }
            }
        }
        outcome
    }

    fn fail(&mut self, section: &Section, line: &Line, found: &str) {
        self.failures.push(format!(
            "{}: line {}\n    expected {}\n    computed {found}",
            section.header, line.number, line.text
        ));
    }
}

/// Every case, by name.
pub fn all() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/cases");
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("the golden cases")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    files.sort();
    let read = |path: &std::path::PathBuf| Case {
        name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        sections: sections(&fs::read_to_string(path).expect("a case")),
    };
    files.iter().map(read).collect()
}

fn sections(text: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for (k, line) in text.lines().enumerate() {
        if line.starts_with(|c: char| c.is_ascii_uppercase()) {
            sections.push(Section { header: line.trim_end().into(), lines: Vec::new(), body: String::new() });
        } else if let Some(section) = sections.last_mut() {
            section.body.push_str(line);
            section.body.push('\n');
            let text = line.trim();
            if !text.is_empty() && !text.starts_with("--") {
                section.lines.push(Line { number: k + 1, text: text.into() });
            }
        }
    }
    sections
}
