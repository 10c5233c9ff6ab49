//! The programs of `docs/language.md` and `docs/derivatives.md` are right.

use galopvm_base::Sources;
use std::path::Path;

#[test]
fn programs_in_the_language_page_check() {
    programs_check("language.md");
}

#[test]
fn programs_in_the_page_about_derivatives_check() {
    programs_check("derivatives.md");
}

fn programs_check(name: &str) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name);
    let page = std::fs::read_to_string(page).expect("the page is there");
    let blocks: Vec<&str> =
        page.split("```futhark\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() >= 3, "the page has programs");
    for block in blocks {
        let mut sources = Sources::new();
        let file = sources.add(name, block);
        if let Some(diagnostic) = galopvm_frontend::check(&mut sources, file).diagnostics.first() {
            panic!("{}", diagnostic.render(&sources, false));
        }
    }
}
