//! For tests: small random views from a seeded generator, and the indices of a shape.

use crate::view::{Dim, Lmad};

/// A small reproducible generator (splitmix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as u64) as i64
    }

    /// A view of at most so many axes, sizes and absolute strides; sizes 0 and 1 and strides 0 occur.
    pub fn view(&mut self, max_rank: u64, max_size: i64, max_stride: i64) -> Lmad {
        let rank = self.below(max_rank + 1);
        let dims: Vec<Dim> = (0..rank)
            .map(|_| {
                let size = if self.below(20) == 0 { 0 } else { self.between(1, max_size) };
                Dim::new(size, self.between(-max_stride, max_stride))
            })
            .collect();
        Lmad::new(self.between(-2 * max_stride, 2 * max_stride), dims)
    }

    /// A permutation of `0..rank`.
    pub fn permutation(&mut self, rank: usize) -> Vec<usize> {
        let mut perm: Vec<usize> = (0..rank).collect();
        for k in (1..rank).rev() {
            perm.swap(k, self.below(k as u64 + 1) as usize);
        }
        perm
    }

    /// Sizes whose product is `product`, with unit sizes strewn in.
    pub fn factors(&mut self, product: i64) -> Vec<i64> {
        let mut sizes = Vec::new();
        let mut left = product;
        while left > 1 {
            let divisors: Vec<i64> = (2..=left).filter(|d| left % d == 0).collect();
            let size = divisors[self.below(divisors.len() as u64) as usize];
            sizes.push(size);
            left /= size;
        }
        for _ in 0..self.below(3) {
            sizes.insert(self.below(sizes.len() as u64 + 1) as usize, 1);
        }
        sizes
    }
}

/// All indices of a shape, last axis fastest.
pub fn indices(shape: &[i64]) -> impl Iterator<Item = Vec<i64>> + use<> {
    let shape = shape.to_vec();
    let count: i64 = shape.iter().product();
    (0..count).map(move |mut flat| {
        let mut index = vec![0; shape.len()];
        for (i, size) in index.iter_mut().zip(&shape).rev() {
            *i = flat % size;
            flat /= size;
        }
        index
    })
}
