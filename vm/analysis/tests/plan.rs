//! Golden tests of facts and decisions. A file of `tests/golden/plan` is a title and sections: `---- machine`,
//! `---- env` (what was observed), `---- region`, then what follows from them: `---- accesses`, `---- bounds`,
//! `---- work`, `---- plan`. `GALOPVM_ACCEPT=1` writes the sections that follow anew.

use galopvm_analysis::{bounds, decide, index, work};
use galopvm_kir::text::{parse_env, parse_plan, parse_region_in, print_plan};
use galopvm_kir::{Machine, Observed, VerifiedPlan, VerifiedRegion, types, verify};
use std::fs;
use std::path::{Path, PathBuf};

struct Case {
    region: VerifiedRegion,
    observed: Observed,
    machine: Machine,
}

fn golden_files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/plan");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the golden folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    files
}

fn section<'a>(text: &'a str, name: &str) -> &'a str {
    let start = text.find(&format!("---- {name}\n")).unwrap_or_else(|| panic!("section {name}"));
    let rest = &text[start + name.len() + 6..];
    rest.find("---- ").map_or(rest, |end| &rest[..end])
}

fn case(text: &str) -> Case {
    let machine = section(text, "machine").trim().parse().unwrap_or_else(|e| panic!("{e}"));
    let (known, observed) = parse_env(section(text, "env")).unwrap_or_else(|e| panic!("env {e}"));
    let mut region = parse_region_in(known, section(text, "region")).unwrap_or_else(|e| panic!("region {e}"));
    types::infer(&mut region);
    let region = verify(region).unwrap_or_else(|e| panic!("{e:?}"));
    Case { region, observed, machine }
}

#[test]
fn golden() {
    let accept = std::env::var_os("GALOPVM_ACCEPT").is_some();
    let mut failures = Vec::new();
    for file in golden_files() {
        let whole = fs::read_to_string(&file).expect("a golden file");
        let given = whole.find("---- accesses\n").map_or(&whole[..], |at| &whole[..at]);
        let Case { region, observed, machine } = case(given);
        let plan = decide(&region, &observed, &machine);
        let plan_text = print_plan(region.region(), &plan);
        assert_eq!(parse_plan(region.region(), &plan_text).as_ref(), Ok(&plan), "{}", file.display());
        VerifiedPlan::new(plan, region.region()).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let got = format!(
            "{given}---- accesses\n{}---- bounds\n{}---- work\n{}---- plan\n{plan_text}",
            index::table(&region, &observed).report(&region),
            bounds::bounds(&region, &observed).report(&region),
            work::work(&region, &index::table(&region, &observed)).report(&region),
        );
        if accept {
            fs::write(&file, got).expect("the golden file can be written");
        } else if got != whole {
            failures.push(format!("{}:\n{got}", file.display()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
