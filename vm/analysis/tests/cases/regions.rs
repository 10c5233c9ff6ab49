//! Random regions of every construct, and of loops over triangles (`regions/` of the test kit): each is run plainly and as the analyses say; see `oracle.rs`.

use crate::case::region_of;
use crate::oracle::{Tally, confirm, witnesses};
use galopvm_testkit::regions::constructs::written;
use galopvm_testkit::regions::triangles;
use galopvm_testkit::rounds;

#[test]
fn random_regions_of_every_construct() {
    let rounds = rounds(400);
    let start: u64 = std::env::var("GALOPVM_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let mut tally = Tally::default();
    let (mut with_moves, mut with_reuse) = (0, 0);
    for seed in start..start + rounds {
        let (env, text) = written(seed);
        let (region, observed) =
            region_of(&env, &text).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let found =
            confirm(&region, &observed, 3).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        tally.add(&found);
        with_moves += u64::from(found.moved > 0);
        with_reuse += u64::from(found.reused > 0);
        if seed % 8 == 0 {
            tally.add(&witnesses(&region, &observed).expect("no error"));
        }
    }
    println!("{rounds} regions, {with_moves} with arrays that move, {with_reuse} with reuse; {tally:?}");
    if rounds >= 400 {
        assert!(with_moves > rounds / 2 && with_reuse > rounds / 8, "{with_moves} {with_reuse}");
        assert!(tally.shown > 0 && tally.conflicts_shown > 0, "{tally:?}");
    }
}

/// Parts whose places and sizes follow the counter of the loop around them.
#[test]
fn random_regions_over_triangles() {
    let rounds = rounds(500);
    let start: u64 = std::env::var("GALOPVM_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let mut tally = Tally::default();
    let mut with_moves = 0;
    for seed in start..start + rounds {
        let (env, text) = triangles::written(seed);
        let (region, observed) =
            region_of(&env, &text).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        let found =
            confirm(&region, &observed, 3).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        tally.add(&found);
        with_moves += u64::from(found.moved > 0);
    }
    println!("{rounds} regions, {with_moves} with arrays that move; {tally:?}");
    if rounds >= 500 {
        assert!(with_moves > rounds / 4, "{with_moves}");
    }
}
