//! Random regions (`parts.rs`): each is run plainly and with its arrays where short-circuiting puts them.

use crate::case::region_of;
use crate::oracle::confirm;
use galopvm_analysis::circuit::circuits;
use galopvm_testkit::regions::parts::written;
use galopvm_testkit::rounds;

#[test]
fn random_regions_keep_their_results() {
    let rounds = rounds(700);
    let (mut yes, mut no) = (0, 0);
    for seed in 0..rounds {
        let (env, text) = written(seed);
        let (region, observed) =
            region_of(&env, &text).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        confirm(&region, &observed, 3).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        for entry in circuits(region.region(), &observed).outcomes.iter().flat_map(|outcome| &outcome.entries)
        {
            if entry.outcome.is_ok() { yes += 1 } else { no += 1 }
        }
    }
    println!("{yes} arrays moved, {no} not");
    assert!(rounds < 700 || yes > 1000 && no > 1000, "{yes} arrays moved, {no} not");
}
