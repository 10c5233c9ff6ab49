//! The regions that were recorded of the example programs.

use galopvm_kir::text::{parse_env, parse_region_in};
use galopvm_kir::{CheckedRegion, Observed, check, types};
use galopvm_testkit::{files, read, section, stem};
use std::path::PathBuf;

/// All of them, with their names.
pub fn all() -> Vec<(String, CheckedRegion, Observed)> {
    let read = |file: &PathBuf| {
        let text = read(file);
        let (known, observed) = parse_env(section(&text, "env")).expect("an environment");
        let mut region = parse_region_in(known, section(&text, "region")).expect("a region");
        types::infer(&mut region);
        let region = check(region).unwrap_or_else(|errors| panic!("{}", errors[0]));
        (stem(file), region, observed)
    };
    files("tests/golden/regions", "txt").iter().map(read).collect()
}
