//! Several rounds of a loop in one sweep over the array that it changes.
//!
//! A loop whose rounds go over parts of one array and change it in its place brings all of the array from memory in every round. If
//! an element depends on nothing but itself and on *lines* - places whose index in some dimension is the round's number and a
//! constant - then a block of rounds needs, for most elements, only the lines of the block. Such a loop becomes one over
//! blocks of rounds. In a block the elements are taken in classes, by the dimensions in which they lie among the lines of the block: first
//! those that do in all, last those that do in none. Each class has all rounds of the block before the next one begins,
//! element by element (or slab by slab), so that a value stays where it is computed from round to round.
//!
//! Every element has the same operations in the same order as before: floats keep their bits. Everything that may trap is
//! computed as before, only at another time.
//!
//! - `facts.rs`: what a round does, read by read. `judge.rs`: whether blocks of rounds give the same, and the classes.
//! - `build.rs`: the loop over blocks. `sweep.rs`: the rounds of a block for one class.
//! - `reason.rs`: why not.
//!
//! Invariants:
//! - A class reads, besides its own elements, only lines that lie in classes before it, as they are at the end of the block: no
//!   later round of the block changes them.
//! - Index arithmetic is compared as forms over whole numbers. It is exact, since each part that a round changes is checked to lie
//!   inside the array, in the rounds as they were and in the blocks alike.

mod build;
mod facts;
mod judge;
mod reason;
mod sweep;

pub use reason::Reason;

use galopvm_kir::{Machine, VerifiedRegion, verify};

/// Constants in indices at most; sums of them with extents are exact.
const LARGEST_SHIFT: u64 = 1 << 20;

/// Dimensions of an array at most.
const MOST_DIMENSIONS: usize = 4;

/// Vectors of an element's row that are computed together.
const VECTORS: usize = 4;

/// Rounds of a block at least and at most: with fewer there is little to save, with more the lines themselves are much of the work.
const ROUNDS: (usize, usize) = (8, 64);

/// How many rounds a block should have, and why.
pub fn choose(machine: &Machine) -> (u32, String) {
    let bytes = VECTORS * machine.vectors.bytes();
    let rounds = (machine.l1_bytes / 2 / bytes).clamp(ROUNDS.0, ROUNDS.1);
    let reason = format!(
        "{rounds} lines of {bytes} bytes, which {VECTORS} vectors of a row need, stay in {} bytes of cache",
        machine.l1_bytes
    );
    (rounds as u32, reason)
}

/// A region whose loop does so many rounds in one sweep, or why it stays as it is.
pub fn block(region: &VerifiedRegion, rounds: u32) -> Result<VerifiedRegion, Reason> {
    let round = facts::gather(region)?;
    let blocking = judge::judge(region, &round)?;
    let blocked = build::build(region, &round, &blocking, rounds);
    verify(blocked.renumbered()).map_err(|errors| {
        Reason::Unsayable(errors.first().map_or_else(String::new, |error| error.to_string()))
    })
}
