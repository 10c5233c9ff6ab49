//! Which candidate a launch takes, with the counts and last uses that it sees.

use super::ArrayReuse;
use std::fmt;

/// What a launch knows of an array that the result could be written over.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Holding {
    /// How many hold its block.
    pub references: u32,
    /// The launch is the last use of the array.
    pub last_use: bool,
    /// No two of its indices are one place.
    pub injective: bool,
    /// Its elements are as long as those of the result.
    pub same_element_size: bool,
    /// The embedding program owns the block and did not hand it over.
    pub borrowed: bool,
    /// It is a part of a bigger block.
    pub part_of_block: bool,
}

impl Holding {
    /// An array of its own block, held once and used for the last time.
    pub const SOLE: Holding = Holding {
        references: 1,
        last_use: true,
        injective: true,
        same_element_size: true,
        borrowed: false,
        part_of_block: false,
    };
}

/// Where a result goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Choice {
    /// Over the array.
    InPlace {
        /// The array is a part of its block: places are found through its view.
        through_view: bool,
    },
    /// Into a block of its own.
    Fresh(Fresh),
}

/// Why a result is not written over an array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fresh {
    /// An iteration reads what another one changes, or nothing is copied.
    NotCandidate,
    /// Somebody else holds the block.
    Shared,
    /// The array is still read later.
    NotLastUse,
    /// Two indices of the array are one place.
    NotInjective,
    /// The elements are of another size.
    ElementSize,
    /// The block belongs to the embedding program.
    Borrowed,
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Choice::InPlace { through_view: false } => "in place",
            Choice::InPlace { through_view: true } => "in place, writes through the LMAD of the view",
            Choice::Fresh(Fresh::NotLastUse) => "fresh (the name is still read later)",
            Choice::Fresh(Fresh::Borrowed) => "fresh unless passed as unique",
            Choice::Fresh(_) => "fresh",
        })
    }
}

/// Whether the result is written over an array; `candidate` is the verdict of the analysis.
pub fn decide(candidate: bool, holding: &Holding) -> Choice {
    let reasons = [
        (!candidate, Fresh::NotCandidate),
        (holding.borrowed, Fresh::Borrowed),
        (holding.references != 1, Fresh::Shared),
        (!holding.last_use, Fresh::NotLastUse),
        (!holding.injective, Fresh::NotInjective),
        (!holding.same_element_size, Fresh::ElementSize),
    ];
    match reasons.iter().find(|(applies, _)| *applies) {
        Some((_, reason)) => Choice::Fresh(*reason),
        None => Choice::InPlace { through_view: holding.part_of_block },
    }
}

/// The array of which most is copied; the first of several such.
pub fn choose<'a>(candidates: impl Iterator<Item = &'a ArrayReuse>) -> Option<&'a ArrayReuse> {
    let candidates: Vec<&ArrayReuse> = candidates.collect();
    if let [only] = candidates[..] {
        return Some(only);
    }
    let mut best: Option<(&ArrayReuse, i64)> = None;
    for candidate in candidates {
        let copied = places(&candidate.copied);
        if best.is_none_or(|(_, most)| copied > most) {
            best = Some((candidate, copied));
        }
    }
    best.map(|(candidate, _)| candidate)
}

/// What a decision costs in element moves, in text: `in place, 1 store`, `fresh block, copy 4 elements, 1 store`.
pub fn outcome(reuse: &ArrayReuse, choice: Choice) -> String {
    let stores = places(&reuse.changed);
    let stores = format!("{stores} store{}", if stores == 1 { "" } else { "s" });
    match choice {
        Choice::InPlace { .. } => format!("in place, {stores}"),
        Choice::Fresh(_) => format!("fresh block, copy {} elements, {stores}", places(&reuse.copied)),
    }
}

/// The number of places of a set; of one that repeats places, with the repetitions.
fn places(set: &galopvm_lmad::Union) -> i64 {
    let sum = || set.members().iter().fold(0i64, |sum, member| sum.saturating_add(member.elements()));
    set.count().unwrap_or_else(sum)
}
