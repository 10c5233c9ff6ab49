//! Golden tests of short-circuiting and memory on regions that were recorded of the example programs. A file of
//! `tests/golden/regions` is a title and sections: `---- env` (what was observed), `---- region`, then what follows:
//! `---- circuits` and `---- schedule`. `GALOPVM_ACCEPT=1` writes the sections that follow anew.

use galopvm_analysis::Effort;
use galopvm_analysis::circuit::{Circuits, Witness, circuits_within};
use galopvm_analysis::memory::schedule;
use galopvm_kir::text::{parse_env, parse_region_in};
use galopvm_kir::{check, types};
use galopvm_testkit::golden::whole;
use galopvm_testkit::{before, section};

fn analysis(given: &str) -> String {
    let (known, observed) = parse_env(section(given, "env")).unwrap_or_else(|error| panic!("env {error}"));
    let mut region = parse_region_in(known, section(given, "region")).unwrap_or_else(|e| panic!("{e}"));
    types::infer(&mut region);
    let region = check(region).unwrap_or_else(|errors| panic!("{}", errors[0]));
    let code = region.region();
    let of = |witness| circuits_within(code, &observed, None, Effort::Quick, witness);
    let places =
        |circuits: &Circuits| circuits.places.iter().map(|(var, place)| (*var, place.clone())).collect();
    // Which place is named changes nothing else.
    let (least, first) = (of(Witness::Least), of(Witness::First));
    let (a, b): (Vec<_>, Vec<_>) = (places(&least), places(&first));
    assert_eq!(a, b);
    let schedule = schedule(code, &least, 64);
    assert_eq!(schedule, galopvm_analysis::memory::schedule(code, &first, 64));
    format!("---- circuits\n{}---- schedule\n{schedule}", least.text(code))
}

#[test]
fn golden() {
    whole("regions", "txt", 12, |_, text| {
        let given = before(text, "circuits");
        format!("{given}{}", analysis(given))
    });
}
