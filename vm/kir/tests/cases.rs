//! Every INPUT and ENV of the golden cases parses, and what is printed of it parses back to the same.

use galopvm_kir::text::{
    parse_env, parse_region, parse_region_in, print_observed, print_region, print_statements,
};
use galopvm_kir::types;
use std::path::Path;

/// The text of the first section with this word, if there is one.
fn section<'a>(case: &'a str, word: &str) -> Option<&'a str> {
    let mut found: Option<(usize, usize)> = None;
    let mut at = 0;
    for line in case.split_inclusive('\n') {
        let starts_section = line.starts_with(|c: char| c.is_ascii_uppercase());
        match &mut found {
            Some((_, end)) if !starts_section => *end = at + line.len(),
            Some(_) => break,
            None if starts_section && line.trim_end() == word => {
                found = Some((at + line.len(), at + line.len()))
            }
            None => {}
        }
        at += line.len();
    }
    found.map(|(start, end)| &case[start..end])
}

fn cases() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/cases");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut cases: Vec<(String, String)> = entries
        .map(|entry| {
            let path = entry.expect("an entry of the folder").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
        })
        .collect();
    cases.sort();
    cases
}

fn without_blanks(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[test]
fn every_environment_and_input_round_trips() {
    let (mut envs, mut inputs, mut transforms) = (0, 0, 0);
    for (name, case) in cases() {
        let env = section(&case, "ENV").unwrap_or_default();
        let (params, observed) = parse_env(env).unwrap_or_else(|e| panic!("{name}: ENV:{e}\n{env}"));
        let printed = print_observed(&params, &observed);
        let (_, again) = parse_env(&printed).unwrap_or_else(|e| panic!("{name}: printed ENV:{e}\n{printed}"));
        assert_eq!(again, observed, "{name}: {printed}");
        envs += 1;
        if let Some(text) = section(&case, "EXPECT transform gpu") {
            let region = parse_region(text).unwrap_or_else(|e| panic!("{name}: transform:{e}\n{text}"));
            assert_eq!(without_blanks(&print_statements(&region)), without_blanks(text), "{name}");
            transforms += 1;
        }
        let Some(input) = section(&case, "INPUT") else { continue };
        inputs += 1;
        let mut region =
            parse_region_in(params, input).unwrap_or_else(|e| panic!("{name}: INPUT:{e}\n{input}"));
        assert_eq!(without_blanks(&print_statements(&region)), without_blanks(input), "{name}");
        for _ in 0..2 {
            let printed = print_region(&region);
            let again = parse_region(&printed).unwrap_or_else(|e| panic!("{name}: printed:{e}\n{printed}"));
            assert_eq!(again, region, "{name}:\n{printed}");
            // The second time with all types that can be found.
            types::infer(&mut region);
        }
    }
    assert_eq!(envs, 86);
    assert_eq!(inputs, 68);
    assert_eq!(transforms, 3);
}
