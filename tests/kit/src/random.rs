//! Seeded random numbers (SplitMix64): a seed gives the same numbers on every machine, for ever.
//!
//! A test writes its seed down, so that a failure happens again. Seeds that follow each other give unlike numbers: rounds are
//! seeded by their own number.

/// A generator of random numbers; a clone goes on alike.
#[derive(Clone)]
pub struct Random(u64);

impl Random {
    /// A generator with this seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 on below `bound`; 0 if there is none.
    pub fn below<N: Number>(&mut self, bound: N) -> N {
        N::from_bits(self.bits() % bound.to_bits().max(1))
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below(high - low + 1)
    }

    /// A real number from `low` on below `high`.
    pub fn real(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.bits() >> 11) as f64 / (1u64 << 53) as f64)
    }

    /// One of these.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// The numbers below `count` in any order.
    pub fn permutation(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for k in (1..count).rev() {
            order.swap(k, self.below(k + 1));
        }
        order
    }
}

/// A type that [`Random::below`] counts in.
pub trait Number: Copy {
    /// The number in 64 bits; one below 0 is 0.
    fn to_bits(self) -> u64;
    /// The number that fits, as it came from a bound of this type.
    fn from_bits(bits: u64) -> Self;
}

macro_rules! numbers {
    ($($ty:ty)*) => {
        $(impl Number for $ty {
            fn to_bits(self) -> u64 {
                u64::try_from(self).unwrap_or(0)
            }

            fn from_bits(bits: u64) -> $ty {
                <$ty>::try_from(bits).expect("a number below one of the same type")
            }
        })*
    };
}

numbers!(u8 u32 u64 usize i32 i64);

/// How many rounds a test goes through: `usual`, or as many as `GALOPVM_ROUNDS` says.
pub fn rounds(usual: u64) -> u64 {
    std::env::var("GALOPVM_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(usual)
}

#[test]
fn numbers_stay_where_they_have_to() {
    let mut random = Random::new(1);
    // The first numbers of the seed, written down: tests elsewhere rely on them.
    assert_eq!([random.bits(), random.bits()], [0x910a_2dec_8902_5cc1, 0xbeeb_8da1_658e_ec67]);
    let mut seen = [false; 7];
    for _ in 0..1000 {
        let number = random.between(-3, 3);
        assert!((-3..=3).contains(&number));
        seen[(number + 3) as usize] = true;
        assert_eq!((random.below(0), random.below(1u8), random.below(-5i64)), (0, 0, 0));
        assert!((1.5..2.5).contains(&random.real(1.5, 2.5)));
        let mut order = random.permutation(5);
        order.sort_unstable();
        assert_eq!(order, [0, 1, 2, 3, 4]);
    }
    assert_eq!(seen, [true; 7]);
}
