//! Regions of cases, and what is made of their sections.

use galopvm_kir::text::{parse_env, parse_region_in};
use galopvm_kir::{CheckedRegion, Observed, VerifyError, check, types};
use galopvm_testkit::cases::{Case, Line, Section};

/// The input of a case after some more statements at its end, checked, and what was observed of its first parameters.
pub fn region_with(case: &Case, more: &str) -> Result<(CheckedRegion, Observed), String> {
    let input = format!("{}{more}", case.text("INPUT").unwrap_or_default());
    region_of(case.text("ENV").unwrap_or_default(), &input)
}

/// The input of a case.
pub fn region(case: &Case) -> Result<(CheckedRegion, Observed), String> {
    region_with(case, "")
}

/// A region that is not a case's own.
pub fn region_of(env: &str, input: &str) -> Result<(CheckedRegion, Observed), String> {
    let (known, observed) = parse_env(env).map_err(|error| format!("ENV: {error}"))?;
    let mut region = parse_region_in(known, input).map_err(|error| format!("INPUT: {error}\n{input}"))?;
    types::infer(&mut region);
    let region = check(region).map_err(|errors| {
        let errors: Vec<String> = errors.iter().map(VerifyError::to_string).collect();
        format!("{}\n{input}", errors.join("; "))
    })?;
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
