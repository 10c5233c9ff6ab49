//! Golden tests of facts and decisions. A file of `tests/golden/plan` is a title and sections: `---- machine`,
//! `---- env` (what was observed), `---- region`, then what follows from them: `---- accesses`, `---- bounds`,
//! `---- work`, `---- plan`, and `---- rows` where these are left to those who execute their operators by themselves. `GALOPVM_ACCEPT=1` writes the sections that follow anew.

use galopvm_analysis::{bounds, decide, index, rows, work};
use galopvm_kir::text::{parse_env, parse_plan, parse_region_in, print_plan};
use galopvm_kir::{Machine, Observed, VerifiedPlan, VerifiedRegion, types, verify};
use galopvm_testkit::golden::whole;
use galopvm_testkit::{before, section};

struct Case {
    region: VerifiedRegion,
    observed: Observed,
    machine: Machine,
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
    whole("plan", "txt", 20, |path, text| {
        let given = before(text, "accesses");
        let Case { region, observed, machine } = case(given);
        let plan = decide(&region, &observed, &machine);
        let plan_text = print_plan(region.region(), &plan);
        assert_eq!(parse_plan(region.region(), &plan_text).as_ref(), Ok(&plan), "{}", path.display());
        VerifiedPlan::new(plan, region.region()).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let rows = rows::few_long_rows(&region, &observed, &machine);
        let rows = rows.map_or(String::new(), |reason| format!("---- rows\n{reason}\n"));
        format!(
            "{given}---- accesses\n{}---- bounds\n{}---- work\n{}---- plan\n{plan_text}{rows}",
            index::table(&region, &observed).report(&region),
            bounds::bounds(&region, &observed).report(&region),
            work::work(&region, &index::table(&region, &observed)).report(&region),
        )
    });
}
