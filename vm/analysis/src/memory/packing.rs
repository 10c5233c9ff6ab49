//! Offsets for blocks whose lifetimes are intervals of statements.

use std::fmt::{self, Write};

/// A block with the statements that need it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lifetime {
    /// A name for people.
    pub name: String,
    /// Number of elements, or bytes.
    pub size: i64,
    /// The statement that makes it.
    pub from: usize,
    /// The last statement that uses it.
    pub to: usize,
}

impl Lifetime {
    /// Whether some statement needs both.
    pub fn meets(&self, other: &Lifetime) -> bool {
        self.from <= other.to && other.from <= self.to
    }
}

/// The pairs of blocks that some statement needs both of.
pub fn edges(blocks: &[Lifetime]) -> Vec<(usize, usize)> {
    let mut edges = Vec::new();
    for a in 0..blocks.len() {
        edges.extend((a + 1..blocks.len()).filter(|b| blocks[a].meets(&blocks[*b])).map(|b| (a, b)));
    }
    edges
}

/// The blocks and the pairs that need memory at the same time, in text.
pub fn interference_text(blocks: &[Lifetime]) -> String {
    let nodes: Vec<String> =
        blocks.iter().map(|b| format!("{}:[{},{}] {}", b.name, b.from, b.to, b.size)).collect();
    let pairs: Vec<String> =
        edges(blocks).iter().map(|(a, b)| format!("{}-{}", blocks[*a].name, blocks[*b].name)).collect();
    format!("nodes {}\nedges {}\n", nodes.join(" ; "), pairs.join(" ; "))
}

/// The greatest memory that is needed at a time, and the first statement that needs it.
pub fn most_live(blocks: &[Lifetime]) -> (i64, usize) {
    let mut most = (0, 0);
    for at in blocks.iter().map(|block| block.from) {
        let live = blocks.iter().filter(|b| b.from <= at && at <= b.to);
        let size = live.fold(0i64, |sum, block| sum.saturating_add(block.size));
        if size > most.0 || size == most.0 && at < most.1 {
            most = (size, at);
        }
    }
    most
}

/// Blocks by colour: those of one colour share memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Colours {
    /// The colour of each block.
    pub of: Vec<usize>,
    /// The size of each colour: that of its greatest block.
    pub sizes: Vec<i64>,
}

/// The least colour for each block that none of its neighbours before it has: for sizes that are not known.
pub fn colours(blocks: &[Lifetime]) -> Colours {
    let mut colours = Colours { of: Vec::new(), sizes: Vec::new() };
    for (at, block) in blocks.iter().enumerate() {
        let taken: Vec<usize> = (0..at).filter(|k| blocks[*k].meets(block)).map(|k| colours.of[k]).collect();
        let colour = (0..).find(|colour| !taken.contains(colour)).unwrap_or(0);
        if colour == colours.sizes.len() {
            colours.sizes.push(0);
        }
        colours.sizes[colour] = colours.sizes[colour].max(block.size);
        colours.of.push(colour);
    }
    colours
}

impl Colours {
    /// The colours in text.
    pub fn text(&self, blocks: &[Lifetime]) -> String {
        let of: Vec<String> =
            blocks.iter().zip(&self.of).map(|(block, colour)| format!("{} {colour}", block.name)).collect();
        let sizes: Vec<String> =
            self.sizes.iter().enumerate().map(|(colour, size)| format!("{colour}:{size}")).collect();
        let total = self.sizes.iter().fold(0i64, |sum, size| sum.saturating_add(*size));
        format!("{}\ncolour sizes {} ; total {total}\n", of.join(" ; "), sizes.join(" "))
    }
}

/// A block at its offset.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slot {
    /// The position of the block in the list.
    pub block: usize,
    /// Its first place.
    pub offset: i64,
}

/// Offsets for all blocks, in the order in which they were chosen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packing {
    /// One for each block.
    pub slots: Vec<Slot>,
    /// The memory that holds all of them.
    pub total: i64,
    /// No packing takes less.
    pub bound: i64,
    /// The statement that needs that much.
    pub at: usize,
}

/// Packs the greatest blocks first, and, if that takes more than a tenth above what is needed at a time, once more
/// in the order in which they are made. Offsets are multiples of `alignment`.
pub fn pack(blocks: &[Lifetime], alignment: i64) -> Packing {
    let by_size = pack_by_size(blocks, alignment);
    if i128::from(by_size.total) * 10 <= i128::from(by_size.bound) * 11 {
        return by_size;
    }
    let by_start = pack_by_start(blocks, alignment);
    if by_start.total < by_size.total { by_start } else { by_size }
}

/// Packs the greatest blocks first.
pub fn pack_by_size(blocks: &[Lifetime], alignment: i64) -> Packing {
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    order.sort_by_key(|k| (std::cmp::Reverse(blocks[*k].size), blocks[*k].from));
    pack_in_order(blocks, &order, alignment)
}

/// Packs the blocks that are made first, first.
pub fn pack_by_start(blocks: &[Lifetime], alignment: i64) -> Packing {
    let mut order: Vec<usize> = (0..blocks.len()).collect();
    order.sort_by_key(|k| (blocks[*k].from, std::cmp::Reverse(blocks[*k].size)));
    pack_in_order(blocks, &order, alignment)
}

fn pack_in_order(blocks: &[Lifetime], order: &[usize], alignment: i64) -> Packing {
    let mut slots: Vec<Slot> = Vec::new();
    let (bound, at) = most_live(blocks);
    let mut total = 0i64;
    for &block in order {
        let size = blocks[block].size.max(0);
        let mut taken: Vec<(i64, i64)> = slots
            .iter()
            .filter(|slot| blocks[slot.block].meets(&blocks[block]))
            .map(|slot| (slot.offset, slot.offset.saturating_add(blocks[slot.block].size)))
            .collect();
        taken.sort_unstable();
        // The gap that is left with the least room, else what is past all of them.
        let (mut start, mut best): (i64, Option<(i64, i64)>) = (0, None);
        for (from, to) in taken {
            let room = from.saturating_sub(start);
            if room >= size && best.is_none_or(|(least, _)| room < least) {
                best = Some((room, start));
            }
            start = start.max(aligned(to, alignment));
        }
        let offset = best.map_or(start, |(_, offset)| offset);
        total = total.max(offset.saturating_add(size));
        slots.push(Slot { block, offset });
    }
    Packing { slots, total, bound, at }
}

fn aligned(offset: i64, alignment: i64) -> i64 {
    let alignment = alignment.max(1);
    let over = offset.rem_euclid(alignment);
    if over == 0 { offset } else { offset.saturating_add(alignment - over) }
}

impl Packing {
    /// The offset of a block.
    pub fn offset(&self, block: usize) -> Option<i64> {
        self.slots.iter().find(|slot| slot.block == block).map(|slot| slot.offset)
    }

    /// The packing in text.
    pub fn text(&self, blocks: &[Lifetime]) -> String {
        let mut text = String::new();
        for (k, slot) in self.slots.iter().enumerate() {
            let block = &blocks[slot.block];
            let end = slot.offset.saturating_add(block.size);
            let between = if k == 0 { "" } else { " ; " };
            let _ = write!(text, "{between}{} {}..{end}", block.name, slot.offset);
        }
        let _ = writeln!(text, "\n{self}");
        text
    }
}

impl fmt::Display for Packing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Packing { total, bound, at, .. } = self;
        write!(f, "total {total} ; lower bound max-live {bound} at statement {at}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use galopvm_testkit::Random;

    #[test]
    fn nothing_shares_what_is_needed_at_once() {
        let mut random = Random::new(3);
        let (mut all, mut tight) = (0, 0);
        for _ in 0..2000 {
            let blocks: Vec<Lifetime> = (0..random.below(9))
                .map(|k| {
                    let from = random.below(12);
                    let (size, to) = (random.below(50), from + random.below(5));
                    Lifetime { name: format!("b{k}"), size, from, to }
                })
                .collect();
            let alignment = *random.pick(&[1, 8, 64]);
            let packing = pack(&blocks, alignment);
            assert_eq!(packing.slots.len(), blocks.len());
            for a in &packing.slots {
                assert!(a.offset % alignment == 0 && a.offset + blocks[a.block].size <= packing.total);
                for b in packing.slots.iter().filter(|b| b.block != a.block) {
                    let (x, y) = (&blocks[a.block], &blocks[b.block]);
                    let apart = a.offset + x.size <= b.offset || b.offset + y.size <= a.offset;
                    assert!(apart || !x.meets(y) || x.size == 0 || y.size == 0, "{blocks:?} {packing:?}");
                }
            }
            assert!(packing.total >= packing.bound);
            let colours = colours(&blocks);
            for (a, b) in edges(&blocks) {
                assert_ne!(colours.of[a], colours.of[b]);
            }
            if alignment == 1 {
                all += 1;
                tight += i32::from(packing.total * 10 <= packing.bound * 11);
            }
        }
        assert!(tight * 10 > all * 9, "{tight} of {all}");
    }
}
