//! Copies from view to view against copies element by element.

use galopvm_lmad::{Dim, Lmad, transfer};
use galopvm_testkit::Random;

/// Bytes that are all different from their neighbours.
fn bytes(count: usize, salt: u64) -> Vec<u8> {
    (0..count as u64).map(|i| ((i + salt).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect()
}

/// The bytes that a block has for a view that reaches from 0 on.
fn room(view: &Lmad) -> i64 {
    view.places().max().map_or(0, |last| last + 1)
}

/// How an array of a shape may lie: in any order of dimensions, apart, in a larger one, backwards.
fn layout(random: &mut Random, shape: &[i64]) -> Lmad {
    let perm = random.permutation(shape.len());
    let mut stride = if random.below(4) == 0 { 1 + random.below(3) } else { 1 };
    let mut dims = vec![Dim::new(1, 0); shape.len()];
    let mut offset = random.below(2) * random.below(70);
    for k in perm {
        let backwards = random.below(6) == 0;
        dims[k] = Dim::new(shape[k], if backwards { -stride } else { stride });
        if backwards {
            offset += stride * (shape[k] - 1).max(0);
        }
        let more = match random.below(4) {
            0 => random.below(40),
            _ => 0,
        };
        stride *= shape[k].max(1) + more;
    }
    Lmad::new(offset, dims)
}

/// What a copy makes of a target, element by element.
fn copied(target: &mut [u8], to: &Lmad, source: &[u8], from: &Lmad, width: usize) {
    for (place, element) in to.places().zip(from.places()) {
        let (place, element) = (place as usize * width, element as usize * width);
        target[place..place + width].copy_from_slice(&source[element..element + width]);
    }
}

fn check(to: &Lmad, from: &Lmad, width: usize, shift: usize) {
    let source = bytes(shift + room(from) as usize * width, 1);
    let before = bytes(shift + room(to) as usize * width, 2);
    let (mut found, mut wanted) = (before.clone(), before);
    let mut told = 0;
    let class = transfer(&mut found[shift..], to, &source[shift..], from, width, &mut |bytes| {
        told += bytes;
        Ok::<(), ()>(())
    });
    copied(&mut wanted[shift..], to, &source[shift..], from, width);
    assert!(found == wanted, "{to} <- {from}, {width} bytes, shifted by {shift}: {class:?}");
    assert!(told >= to.elements() as usize * width, "{to} <- {from}: {told} bytes told");
}

#[test]
fn random_views() {
    let mut random = Random::new(77);
    for _ in 0..4000 {
        let rank = random.below(5) as usize;
        let most = [0, 3000, 90, 20, 9][rank];
        let shape: Vec<i64> = (0..rank)
            .map(|_| match random.below(12) {
                0 => random.below(2),
                _ => 1 + random.below(most),
            })
            .collect();
        let (to, mut from) = (layout(&mut random, &shape), layout(&mut random, &shape));
        // The source may show a place several times.
        if rank > 0 && random.below(8) == 0 {
            from.dims[random.below(rank as i64) as usize].stride = 0;
        }
        let width = [1, 2, 4, 8][random.below(4) as usize];
        check(&to, &from, width, random.below(3) as usize * random.below(9) as usize);
    }
}

#[test]
fn matrices_turned_around_squares_of_lines() {
    let mut random = Random::new(5);
    for width in [1, 2, 4, 8] {
        let side = (64 / width) as i64;
        for _ in 0..40 {
            let near = |random: &mut Random| (random.below(4) * side + random.below(5) - 2).max(1);
            let (rows, cols) = (near(&mut random), near(&mut random));
            let (more, other) = (random.below(2) * side, random.below(3));
            let to = Lmad::new(random.below(2) * 3, [Dim::new(rows, cols + more), Dim::new(cols, 1)]);
            let from = Lmad::new(random.below(2) * 5, [Dim::new(rows, 1), Dim::new(cols, rows + other)]);
            check(&to, &from, width, width * random.below(3) as usize);
        }
    }
}

#[test]
fn large_targets_go_past_the_caches() {
    for (width, rows, cols) in
        [(1, 2500, 2301), (2, 1700, 1537), (4, 1100, 1216), (4, 1201, 1101), (8, 770, 801)]
    {
        let to = Lmad::row_major(&[rows, cols]);
        let from = Lmad::row_major(&[cols, rows]).transpose();
        check(&to, &from, width, 0);
        // In a larger matrix, whose rows begin where lines do.
        let to = Lmad::new(3, [Dim::new(rows, (cols / 64 + 2) * 64), Dim::new(cols, 1)]);
        check(&to, &from, width, 0);
    }
    let to = Lmad::row_major(&[9, 300, 600]);
    check(&to, &Lmad::row_major(&[9, 600, 300]).permute(&[0, 2, 1]), 4, 0);
}
