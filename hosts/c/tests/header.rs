//! The header says what the library has: every function with its parameters, every status and element type with its number.

use galopvm::ElemType;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The functions in pieces of text, with the names of their parameters.
fn functions<'a>(
    pieces: impl Iterator<Item = &'a str>,
    name_of: fn(&str) -> Option<&str>,
) -> BTreeMap<String, Vec<String>> {
    let mut found = BTreeMap::new();
    for piece in pieces {
        let Some((before, params)) = piece.split_once('(') else { continue };
        let name = before.rsplit(|c| !is_word(c)).next().unwrap_or_default();
        if !name.starts_with("galopvm_") {
            continue;
        }
        let params = params.split_once(')').map_or("", |(params, _)| params);
        let params = params.split(',').filter_map(|p| name_of(p.trim())).map(str::to_string).collect();
        assert!(found.insert(name.to_string(), params).is_none(), "{name} is there twice");
    }
    found
}

/// A text in C without its comments.
fn without_comments(text: &str) -> String {
    let pieces = text.split("/*").enumerate();
    pieces.map(|(k, piece)| if k == 0 { piece } else { piece.split_once("*/").map_or("", |p| p.1) }).collect()
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[test]
fn functions_are_those_of_the_header() {
    let header = without_comments(&read("include/galopvm.h"));
    let declared = header.split(';').filter(|piece| !piece.contains("typedef"));
    let header = functions(declared, |param| {
        let name = param.rsplit(|c| !is_word(c)).next()?;
        (!name.is_empty() && name != "void").then_some(name)
    });
    let mut sources = String::new();
    for file in ["elements", "engine", "program", "session", "status", "value"] {
        sources += &read(&format!("src/{file}.rs"));
    }
    let mut exported = functions(sources.split("    fn ").skip(1), |param| {
        let name = param.split_once(':')?.0.trim();
        (!name.is_empty()).then_some(name)
    });
    // Those of scalars are made by a table.
    for line in sources.lines().filter(|line| line.contains(", galopvm_value_get_")) {
        let names: Vec<&str> = line.trim().trim_end_matches(';').split(", ").collect();
        exported.insert(names[1].into(), vec!["value".into(), "out".into()]);
        exported.insert(names[2].into(), vec!["value".into(), "out".into()]);
    }
    assert_eq!(header, exported);
    assert!(header.len() > 60);
}

/// What the numbers of the header are called there.
fn numbers(header: &str) -> BTreeMap<String, u32> {
    let lines = header.lines().filter_map(|line| line.trim().strip_prefix("GALOPVM_"));
    let pairs = lines.filter_map(|line| line.split_once(" = "));
    pairs
        .map(|(name, rest)| {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            (name.to_string(), digits.parse().expect("a number"))
        })
        .collect()
}

#[test]
fn numbers_are_those_of_the_header() {
    let mut expected: BTreeMap<String, u32> =
        galopvm_c::STATUSES.iter().map(|(name, number)| (name.to_uppercase(), *number)).collect();
    expected.extend(ElemType::ALL.map(|ty| (ty.to_string().to_uppercase(), ty as u32)));
    assert_eq!(numbers(&read("include/galopvm.h")), expected);
}
