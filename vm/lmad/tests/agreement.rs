//! Disjointness and injectivity against enumeration, on a million random pairs from a fixed seed.
//!
//! `GALOPVM_ROUNDS=100000000 cargo test -p galopvm-lmad --test agreement` goes through more.

use galopvm_lmad::{Dim, Lmad, Overlap, disjoint};

/// A small reproducible generator (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }

    fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as u64) as i64
    }

    fn view(&mut self, scale: i64) -> Lmad {
        let rank = self.below(5);
        let dims: Vec<Dim> = (0..rank)
            .map(|_| {
                let least = i64::from(self.below(30) != 0);
                Dim::new(self.between(least, 5), self.between(-scale, scale))
            })
            .collect();
        Lmad::new(self.between(0, 2 * scale), dims)
    }
}

/// Places as a sorted list, without allocation in between.
fn places(view: &Lmad, into: &mut Vec<i64>) {
    into.clear();
    into.extend(view.places());
    into.sort_unstable();
}

#[test]
fn disjointness_and_injectivity_agree_with_enumeration() {
    let rounds: u32 = std::env::var("GALOPVM_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000_000);
    let mut random = Random(2026);
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let (mut apart, mut injective, mut unknown) = (0u32, 0u32, 0u32);
    for _ in 0..rounds {
        let scale = [3, 10, 40, 200, 1000][random.below(5) as usize];
        let (a, b) = (random.view(scale), random.view(scale));
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
        injective += u32::from(!repeats);
    }
    println!("{rounds} pairs: {apart} disjoint, {injective} injective, {unknown} undecided");
    assert_eq!(unknown, 0);
    assert!(apart > rounds / 5 && injective > rounds / 5, "{apart} {injective} of {rounds}");
}
