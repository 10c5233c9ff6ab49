//! The regions that were recorded of the example programs.

use galopvm_kir::text::{parse_env, parse_region_in};
use galopvm_kir::{CheckedRegion, Observed, check, types};
use std::fs;
use std::path::Path;

fn section<'a>(text: &'a str, name: &str) -> &'a str {
    let (_, rest) = text.split_once(&format!("---- {name}\n")).unwrap_or_else(|| panic!("section {name}"));
    rest.split("---- ").next().unwrap_or(rest)
}

/// All of them, with their names.
pub fn all() -> Vec<(String, CheckedRegion, Observed)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/regions");
    let entries = fs::read_dir(folder).expect("the golden folder");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    let read = |file: &std::path::PathBuf| {
        let text = fs::read_to_string(file).expect("a golden file");
        let (known, observed) = parse_env(section(&text, "env")).expect("an environment");
        let mut region = parse_region_in(known, section(&text, "region")).expect("a region");
        types::infer(&mut region);
        let region = check(region).unwrap_or_else(|errors| panic!("{}", errors[0]));
        (file.file_stem().unwrap_or_default().to_string_lossy().into_owned(), region, observed)
    };
    files.iter().map(read).collect()
}
