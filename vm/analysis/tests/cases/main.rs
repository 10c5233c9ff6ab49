//! The golden cases: each `EXPECT` section is computed and compared, line by line.
//!
//! A file is read into [`Case`], its sections are offered to the groups of [`GROUPS`] in order. A group takes the
//! lines it understands (see [`Outcome`]); what nobody takes is reported. Each group says how many lines of which kind
//! it takes at least, so that a reader that skips lines cannot pass for one that agrees.

mod case;
mod circuit;
mod inplace;
mod kernels;
mod layout;
mod machine;
mod memory;
mod numbers;
mod oracle;
mod prices;
mod programs;
mod regions;
mod reuse;
mod strategy;

use case::{Outcome, region};
use galopvm_testkit::cases::{Case, Section, all};
use std::collections::BTreeMap;

/// A group of section kinds.
struct Group {
    /// Takes the lines it understands of a section.
    run: fn(&Section, &Case) -> Outcome,
    /// Kinds, and how many of their lines it takes at least.
    lines: &'static [(&'static str, usize)],
}

/// Add a file and its line here.
const GROUPS: &[Group] = &[
    Group { run: numbers::run, lines: numbers::LINES },
    Group { run: layout::run, lines: layout::LINES },
    Group { run: prices::run, lines: prices::LINES },
    Group { run: strategy::run, lines: strategy::LINES },
    Group { run: circuit::run, lines: circuit::LINES },
    Group { run: memory::run, lines: memory::LINES },
    Group { run: reuse::run, lines: reuse::LINES },
];

/// Kinds that the tests of another crate take, with that test.
const ELSEWHERE: &[(&str, &str)] = &[
    ("lmad", "vm/lmad/tests/cases.rs"),
    ("disjoint", "vm/lmad/tests/cases.rs"),
    ("verify", "vm/lmad/tests/cases.rs"),
];

/// What became of the lines of one kind.
#[derive(Default)]
struct Tally {
    lines: usize,
    agree: usize,
    failed: usize,
    unread: Vec<String>,
}

#[test]
fn every_line_of_the_cases() {
    let cases = all();
    assert_eq!(cases.len(), 89, "golden cases");
    let mut kinds: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut taken: Vec<BTreeMap<&str, usize>> = GROUPS.iter().map(|_| BTreeMap::new()).collect();
    let mut failures = Vec::new();
    for case in &cases {
        for section in &case.sections {
            let Some(kind) = section.kind() else { continue };
            let tally = kinds.entry(kind).or_default();
            tally.lines += section.lines.len();
            if ELSEWHERE.iter().any(|(elsewhere, _)| *elsewhere == kind) {
                continue;
            }
            let mut rest = section.clone();
            for (group, taken) in GROUPS.iter().zip(&mut taken) {
                if rest.lines.is_empty() {
                    break;
                }
                let outcome = (group.run)(&rest, case);
                let failed = outcome.failures.len();
                tally.agree += outcome.agree;
                tally.failed += failed;
                *taken.entry(kind).or_default() += outcome.agree + failed;
                failures.extend(outcome.failures.iter().map(|failure| format!("{}: {failure}", case.name)));
                rest.lines = outcome.unread;
            }
            tally.unread.extend(rest.lines.iter().map(|line| format!("{}:{}", case.name, line.number)));
        }
    }
    println!("{:22} {:>5} {:>6} {:>6}", "kind", "lines", "agree", "failed");
    for (kind, tally) in &kinds {
        let place = ELSEWHERE.iter().find(|(elsewhere, _)| elsewhere == kind);
        let note = match (place, tally.unread.len()) {
            (Some((_, test)), _) => format!("by {test}"),
            (None, 0) => String::new(),
            (None, count) => format!("{count} executed by nobody: {}", tally.unread.join(" ")),
        };
        println!("{kind:22} {:5} {:6} {:6}  {note}", tally.lines, tally.agree, tally.failed);
    }
    assert!(failures.is_empty(), "{} lines fail:\n{}", failures.len(), failures.join("\n"));
    for (group, taken) in GROUPS.iter().zip(&taken) {
        for (kind, least) in group.lines {
            let count = taken.get(kind).copied().unwrap_or_default();
            assert!(count >= *least, "`{kind}`: {count} lines taken, {least} expected");
        }
    }
}

#[test]
fn every_input_can_be_analysed() {
    let mut failures = Vec::new();
    let mut inputs = 0;
    for case in all() {
        if case.text("INPUT").is_some() {
            inputs += 1;
            if let Err(error) = region(&case) {
                failures.push(format!("{}: {error}", case.name));
            }
        }
    }
    assert_eq!(inputs, 71);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
