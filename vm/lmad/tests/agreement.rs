//! Disjointness and injectivity against enumeration, on a million random pairs from a fixed seed.
//!
//! `GALOPVM_ROUNDS=100000000 cargo test -p galopvm-lmad --test agreement` goes through more.

use galopvm_lmad::{Dim, Lmad, Overlap, disjoint};
use galopvm_testkit::{Random, rounds};

fn view(random: &mut Random, scale: i64) -> Lmad {
    let rank = random.below(5);
    let dims: Vec<Dim> = (0..rank)
        .map(|_| {
            let least = i64::from(random.below(30) != 0);
            Dim::new(random.between(least, 5), random.between(-scale, scale))
        })
        .collect();
    Lmad::new(random.between(0, 2 * scale), dims)
}

/// Places as a sorted list, without allocation in between.
fn places(view: &Lmad, into: &mut Vec<i64>) {
    into.clear();
    into.extend(view.places());
    into.sort_unstable();
}

#[test]
fn disjointness_and_injectivity_agree_with_enumeration() {
    let rounds = rounds(1_000_000);
    let mut random = Random::new(2026);
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let (mut apart, mut injective, mut unknown) = (0, 0, 0);
    for _ in 0..rounds {
        let scale = *random.pick(&[3, 10, 40, 200, 1000]);
        let (a, b) = (view(&mut random, scale), view(&mut random, scale));
        places(&a, &mut first);
        places(&b, &mut second);
        let common = |place: &i64| second.binary_search(place).is_ok();
        match disjoint(&a, &b) {
            Overlap::Disjoint => {
                assert!(!first.iter().any(common), "{a} # {b}");
                apart += 1;
            }
            Overlap::Overlap { witness } => {
                assert!(first.binary_search(&witness).is_ok() && common(&witness), "{a} # {b} at {witness}");
            }
            Overlap::Unknown => unknown += 1,
        }
        let repeats = first.windows(2).any(|pair| pair[0] == pair[1]);
        assert_eq!(a.is_injective(), !repeats, "{a}");
        injective += u64::from(!repeats);
    }
    println!("{rounds} pairs: {apart} disjoint, {injective} injective, {unknown} undecided");
    assert_eq!(unknown, 0);
    assert!(apart > rounds / 5 && injective > rounds / 5, "{apart} {injective} of {rounds}");
}
