//! Golden tests of layout analysis. A file of `tests/golden/layout` is a title and sections: `---- env` (what was
//! observed), `---- region`, then what follows: the index table with deltas, the analysis on both targets, the
//! choice over all kernels. `GALOPVM_ACCEPT=1` writes the sections that follow anew.

use galopvm_analysis::index::table;
use galopvm_analysis::layout::{Costs, Means, Pricing, Profile, Target, plain_text, transform};
use galopvm_analysis::strategy::decide;
use galopvm_kir::text::{parse_env, parse_region, parse_region_in};
use galopvm_kir::{Exp, Observed, VarId, check, types};
use galopvm_testkit::golden::whole;
use galopvm_testkit::{before, files, find_section, read, section};

fn analysis(given: &str) -> String {
    let (known, observed) = parse_env(section(given, "env")).unwrap_or_else(|e| panic!("env {e}"));
    let mut region =
        parse_region_in(known, section(given, "region")).unwrap_or_else(|e| panic!("region {e}"));
    types::infer(&mut region);
    let region = check(region).unwrap_or_else(|e| panic!("{e:?}"));
    let code = region.region();
    let facts = table(&region, &observed);
    let (costs, profile) = (Costs::default(), Profile::default());
    let mut text = format!("---- table\n{}", facts.report(&region));
    for row in facts.writes() {
        text.push_str(&format!("write {}\n", row.text(&facts, &region)));
    }
    let results: Vec<VarId> = code
        .body
        .results
        .iter()
        .filter_map(|exp| if let Exp::Var(var) = exp { Some(*var) } else { None })
        .collect();
    for target in Target::ALL {
        let pricing = Pricing { table: &facts, costs: &costs, target, profile: &profile, sharing: 1 };
        text.push_str(&format!("---- {}\n{}", target.name(), pricing.explain(&region, &Means::default())));
        let choice = decide(&pricing, &results, &Means::default());
        text.push_str(&format!("---- {} region\n{}", target.name(), choice.text(code, &pricing)));
        let copies: Vec<_> = choice.copies.iter().collect();
        if !copies.is_empty() {
            let changed = transform(code, &facts, &copies, &profile);
            text.push_str(&format!("---- {} changed\n{}", target.name(), plain_text(&changed)));
        }
    }
    text
}

/// What is not known is left open, whatever the region.
#[test]
fn nothing_observed_is_no_reason_to_fail() {
    let mut count = 0;
    for (folder, ending) in [("kir", "kir"), ("plan", "txt"), ("layout", "txt")] {
        for path in files(&format!("tests/golden/{folder}"), ending) {
            let text = read(&path);
            // Somebody may be writing it anew.
            if ending == "txt" && find_section(&text, "region").is_none() {
                continue;
            }
            let parsed = match ending {
                "kir" => parse_region(text.split("\n== ").next().unwrap_or_default()),
                _ => {
                    let (known, _) = parse_env(section(&text, "env")).unwrap_or_else(|e| panic!("env {e}"));
                    parse_region_in(known, section(&text, "region"))
                }
            };
            let Ok(mut region) = parsed else { continue };
            types::infer(&mut region);
            let Ok(region) = check(region) else { continue };
            count += 1;
            let facts = table(&region, &Observed::default());
            let (costs, profile) = (Costs::default(), Profile::default());
            for target in Target::ALL {
                let pricing = Pricing { table: &facts, costs: &costs, target, profile: &profile, sharing: 1 };
                let text = pricing.explain(&region, &Means::default());
                assert!(!text.contains(" ; manifest A"), "a copy of unknown size: {text}");
                assert!(!decide(&pricing, &[], &Means::default()).bounded, "{}", path.display());
            }
        }
    }
    assert!(count >= 30, "{count} regions");
}

#[test]
fn golden() {
    whole("layout", "txt", 6, |_, text| {
        let given = before(text, "table");
        format!("{given}{}", analysis(given))
    });
}
