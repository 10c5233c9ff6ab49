//! The launch record: the words that generated code finds its numbers and addresses in.
//!
//! Fixed words first (the piece of the threaded axis, flags), then each parameter, then each result:
//! a scalar is one word; an array is its address (of index 0, offset included) and, for each dimension, extent and
//! stride in elements; a result is its address, for each dimension its stride, and the distance to its next copy in bytes
//! (0: there is one).

use crate::library::extended;
use crate::rooms::Rooms;
use galopvm_kir::{Argument, Launch, VarId, VerifiedRegion};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::marker::PhantomData;

/// First index of the piece.
pub const LOW: u32 = 0;
/// End of the piece.
pub const HIGH: u32 = 1;
/// Not 0: results are large and aligned, store past the caches.
pub const STREAM: u32 = 2;
/// Work until the host is asked whether to go on; the code counts it down. See `lower/poll.rs` for the units.
pub const ALLOWANCE: u32 = 3;
/// Whom to ask: a [`Stop`].
pub const STOP: u32 = 4;
/// The address of room for what a few iterations of a scatter write, or for what a reduction gives, in the record itself.
pub const NOTES: u32 = 5;
/// The address of values that earlier pieces noted, a word for each.
pub const PARTIALS: u32 = 6;
/// The address of the [`Rooms`] of the piece.
pub const ROOMS: u32 = 7;
const FIXED: u32 = 8;

/// Words of that room for each place or value of an iteration: elements of the largest vectors that are noted at a time.
pub const NOTE: usize = 32;

/// Units of work between two questions: some milliseconds.
pub const WORK: u32 = 1 << 22;

/// Whether the host wants a launch to end.
pub type Stop<'s> = &'s (dyn Fn() -> bool + Sync);

/// Where things are in the record of a region.
pub struct Layout {
    params: HashMap<VarId, u32>,
    /// The same, in the order of the parameters.
    in_order: Vec<u32>,
    results: Vec<u32>,
    /// Where the room for notes begins, and the end.
    notes: usize,
    words: usize,
}

/// The record of one launch; it borrows the launch's blocks.
pub struct Record<'l> {
    words: SmallVec<[u64; 48]>,
    layout: &'l Layout,
    blocks: PhantomData<(&'l mut [u8], Stop<'l>)>,
    rooms: Rooms,
}

impl Layout {
    /// The layout for a region, with room for the notes of so many values.
    pub fn new(region: &VerifiedRegion, noted: usize) -> Layout {
        let mut at = FIXED;
        let (mut params, mut in_order) = (HashMap::new(), Vec::new());
        for &param in &region.region().params {
            params.insert(param, at);
            in_order.push(at);
            let rank = region.type_of(param).rank() as u32;
            at += 1 + 2 * rank;
        }
        let mut results = Vec::new();
        for result in region.results() {
            results.push(at);
            at += 2 + result.rank() as u32;
        }
        let notes = at as usize;
        Layout { params, in_order, results, notes, words: notes + noted * NOTE }
    }

    /// The word of a scalar parameter, or of an array parameter's address.
    pub fn param(&self, var: VarId) -> Option<u32> {
        self.params.get(&var).copied()
    }

    /// The word of an array parameter's extent.
    pub fn extent(&self, var: VarId, dim: usize) -> Option<u32> {
        Some(self.param(var)? + 1 + 2 * dim as u32)
    }

    /// The word of an array parameter's stride.
    pub fn stride(&self, var: VarId, dim: usize) -> Option<u32> {
        Some(self.param(var)? + 2 + 2 * dim as u32)
    }

    /// The word of a result's address.
    pub fn result(&self, k: usize) -> u32 {
        self.results[k]
    }

    /// The word of a result's stride.
    pub fn result_stride(&self, k: usize, dim: usize) -> u32 {
        self.results[k] + 1 + dim as u32
    }

    /// The word of the distance of a result's copies; `rank` is that of the result.
    pub fn result_copy(&self, k: usize, rank: usize) -> u32 {
        self.results[k] + 1 + rank as u32
    }

    /// The record of a launch that was checked for the region; the fixed words are 0.
    pub fn fill<'l>(&'l self, region: &VerifiedRegion, launch: &'l mut Launch<'_>) -> Record<'l> {
        let (words, rooms) = (SmallVec::new(), Rooms::default());
        let mut record = Record { words, layout: self, blocks: PhantomData, rooms };
        let words = &mut record.words;
        words.resize(self.words, 0);
        let mut addresses: SmallVec<[u64; 8]> = SmallVec::new();
        for buffer in &mut launch.buffers {
            addresses.push(match buffer.bytes_mut() {
                Some(bytes) => bytes.as_mut_ptr() as u64,
                None => buffer.bytes().as_ptr() as u64,
            });
        }
        let params = region.region().params.iter().zip(&self.in_order);
        for ((&param, &at), argument) in params.zip(launch.arguments.iter()) {
            let (ty, at) = (region.type_of(param), at as usize);
            match argument {
                Argument::Scalar(bits) => words[at] = extended(ty.elem, *bits),
                Argument::Array { buffer, lmad } => {
                    words[at] = address(addresses[*buffer], ty.elem.bytes(), lmad);
                    for (k, dim) in lmad.dims.iter().enumerate() {
                        words[at + 1 + 2 * k] = dim.size as u64;
                        words[at + 2 + 2 * k] = dim.stride as u64;
                    }
                }
            }
        }
        for (k, (ty, result)) in region.results().iter().zip(&launch.results).enumerate() {
            let at = self.results[k] as usize;
            words[at] = address(addresses[result.buffer], ty.elem.bytes(), &result.lmad);
            for (dim, word) in result.lmad.dims.iter().zip(&mut words[at + 1..]) {
                *word = dim.stride as u64;
            }
        }
        record
    }
}

/// Index 0 of a view; an empty view has no element, its offset may be anything.
fn address(block: u64, size: usize, lmad: &galopvm_lmad::Lmad) -> u64 {
    let offset = if lmad.is_empty() { 0 } else { lmad.offset };
    block.wrapping_add(offset.wrapping_mul(size as i64) as u64)
}

impl<'l> Record<'l> {
    /// The words, for code that is about to run: it writes to the allowance and to the notes. They stay where they are as long
    /// as they are borrowed.
    pub fn words_mut(&mut self) -> &mut [u64] {
        let notes = self.words.as_mut_ptr().wrapping_add(self.layout.notes);
        self.words[NOTES as usize] = notes as u64;
        self.words[ROOMS as usize] = std::ptr::from_mut(&mut self.rooms) as u64;
        if self.words[PARTIALS as usize] == 0 {
            // The first piece looks there, and does not use what it finds.
            self.words[PARTIALS as usize] = notes as u64;
        }
        &mut self.words
    }

    /// The record for a piece of the threaded axis, which may be stopped.
    pub fn piece<'s>(&self, low: i64, high: i64, stream: bool, stop: &'s Stop<'s>) -> Record<'s>
    where
        'l: 's,
    {
        let (words, rooms) = (self.words.clone(), Rooms::default());
        Record { words, layout: self.layout, blocks: PhantomData, rooms }.into_piece(low, high, stream, stop)
    }

    /// The same where there are no other pieces.
    #[inline]
    pub fn into_piece<'s>(mut self, low: i64, high: i64, stream: bool, stop: &'s Stop<'s>) -> Record<'s>
    where
        'l: 's,
    {
        let words = &mut self.words;
        words[LOW as usize] = low as u64;
        words[HIGH as usize] = high as u64;
        words[STREAM as usize] = u64::from(stream);
        words[ALLOWANCE as usize] = u64::from(WORK);
        words[STOP as usize] = std::ptr::from_ref(stop) as u64;
        Record { words: self.words, layout: self.layout, blocks: PhantomData, rooms: self.rooms }
    }

    /// The same with what earlier pieces noted.
    pub fn with_partials<'s>(mut self, partials: &'s [u64]) -> Record<'s>
    where
        'l: 's,
    {
        self.words[PARTIALS as usize] = partials.as_ptr() as u64;
        Record { words: self.words, layout: self.layout, blocks: PhantomData, rooms: self.rooms }
    }

    /// What code noted when it ran.
    pub fn notes(&self) -> &[u64] {
        &self.words[self.layout.notes..]
    }

    /// The same with results going to row-major blocks of their own, each with so many copies in a row.
    pub fn with_blocks<'s>(
        mut self,
        region: &VerifiedRegion,
        blocks: &'s mut [Vec<u64>],
        copies: usize,
    ) -> Record<'s>
    where
        'l: 's,
    {
        let results = self.layout.results.iter().zip(region.results());
        for ((word, ty), block) in results.zip(blocks) {
            let at = *word as usize;
            self.words[at] = block.as_mut_ptr() as u64;
            // Code that writes copies in turn writes the only one again and again.
            self.words[at + 1 + ty.rank()] = if copies > 1 { (block.len() / copies * 8) as u64 } else { 0 };
        }
        Record { words: self.words, layout: self.layout, blocks: PhantomData, rooms: self.rooms }
    }

    /// Takes the rooms that the thread has left, for code that makes arrays.
    pub fn take_rooms(&mut self) {
        self.rooms = Rooms::taken();
    }

    /// The bytes of an array that there was no room for.
    pub fn lacking(&self) -> Option<u64> {
        self.rooms.refused()
    }

    /// True if all results begin at a multiple of a cache line.
    pub fn results_are_aligned(&self) -> bool {
        self.layout.results.iter().all(|word| self.words[*word as usize].is_multiple_of(64))
    }
}
