//! The pool that blocks come from: a budget, free lists by size class, and figures of all that happened.
//!
//! A freed block is kept for the next one of its class: a fresh page fault costs more than most kernels.
//! Figures count the bytes asked for. The budget counts all that is held, with what size classes add and what is kept:
//! it is a promise to the host. Kept blocks are given up before a block is refused.

use super::block::{LINE, MAP_FROM, Storage};
use super::reserve::Offers;
use super::shelf::Shelves;
use super::slab::{Cutter, LARGEST_PIECE, Piece, SLAB};
use super::system;
use crate::stop::Stop;
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Freed bytes that are kept at most.
const KEPT_BYTES: u64 = 512 << 20;

/// There is no memory for a block, or the budget does not allow it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutOfMemory {
    /// Bytes asked for.
    pub requested: u64,
    /// Bytes in use at that time.
    pub live: u64,
    /// The budget, if that was the reason.
    pub budget: Option<u64>,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Out of memory: {} bytes requested with {} bytes in use", self.requested, self.live)?;
        match self.budget {
            Some(budget) => write!(f, ", and the limit is {budget} bytes."),
            None => f.write_str("."),
        }
    }
}

/// Kinds of copy, for the figures.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CopyKind {
    /// One stretch.
    Memcpy,
    /// Several stretches.
    Rows,
    /// A matrix transposed.
    Transpose,
    /// Element by element.
    Strided,
}

/// Figures of a pool since it was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MemoryStats {
    /// Blocks taken.
    pub allocations: u64,
    /// Of those, blocks that had been used before.
    pub reused: u64,
    /// Of those, new blocks that were cut from a slab.
    pub cut: u64,
    /// Slabs taken from the system.
    pub slabs: u64,
    /// Bytes of all blocks taken.
    pub allocated_bytes: u64,
    /// Bytes in use now.
    pub live_bytes: u64,
    /// Most bytes in use at one time.
    pub peak_bytes: u64,
    /// Bytes held now: in use, kept for reuse, and added by size classes and slabs.
    pub held_bytes: u64,
    /// Most bytes held at one time.
    pub peak_held_bytes: u64,
    /// Copies by kind: memcpy, rows, transpose, strided.
    pub copies: [u64; 4],
    /// Bytes copied by kind.
    pub copied_bytes: [u64; 4],
    /// Copies of arrays into the layouts in which they are read; not among the other copies.
    pub layouts: u64,
    /// Bytes of them.
    pub layout_bytes: u64,
    /// How often such a copy was there already.
    pub layout_uses: u64,
    /// Results that were made in the layout in which they are read.
    pub births: u64,
}

impl fmt::Display for MemoryStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "memory: peak {} bytes, live {} bytes, {} blocks taken ({} used before, {} cut from {} slabs), {} bytes \
             in all",
            self.peak_bytes,
            self.live_bytes,
            self.allocations,
            self.reused,
            self.cut,
            self.slabs,
            self.allocated_bytes
        )?;
        f.write_str("copies:")?;
        for (k, name) in ["memcpy", "rows", "transpose", "strided"].into_iter().enumerate() {
            let comma = if k == 0 { "" } else { "," };
            write!(f, "{comma} {name} {} ({} bytes)", self.copies[k], self.copied_bytes[k])?;
        }
        write!(
            f,
            "\nlayouts: {} copies ({} bytes), used again {} times, {} results made in place of a copy",
            self.layouts, self.layout_bytes, self.layout_uses, self.births
        )
    }
}

/// Everything that changes. One lock for all of it costs less than a counter that several threads could change.
#[derive(Default)]
struct State {
    /// `None` is "no limit".
    budget: Option<u64>,
    /// Every block is an allocation of its own, as large as asked for, and nothing is kept.
    keeps_apart: bool,
    /// Kept storage.
    by_class: Vec<Vec<Storage>>,
    /// Bytes of it.
    kept: u64,
    /// Where new small storage comes from.
    cutter: Option<Cutter>,
    figures: MemoryStats,
}

#[derive(Default)]
pub(super) struct Pool {
    state: Mutex<State>,
    /// Where copies in other layouts are. Never locked together with the state.
    pub(super) shelves: Shelves,
    /// How often somebody looked at bytes that a device has lost.
    losses: AtomicU64,
}

impl Pool {
    fn state(&self) -> MutexGuard<'_, State> {
        // The state is whole between any two statements, so a panic elsewhere does not spoil it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Storage for `bytes`, kept or new, and whether it is all zero; none is needed for no bytes.
    #[inline]
    pub(super) fn take(&self, bytes: usize) -> Result<(Option<Storage>, bool), OutOfMemory> {
        self.take_storage(bytes, bytes as u64)
    }

    fn take_storage(&self, bytes: usize, in_use: u64) -> Result<(Option<Storage>, bool), OutOfMemory> {
        let mut state = self.state();
        let state = &mut *state;
        state.figures.allocations += 1;
        if bytes == 0 {
            return Ok((None, true));
        }
        let live = state.figures.live_bytes;
        let failure = |budget| OutOfMemory { requested: bytes as u64, live, budget };
        let (class, size) = size_class(bytes).ok_or_else(|| failure(None))?;
        let size = if state.keeps_apart { bytes.next_multiple_of(LINE) } else { size };
        let (storage, is_zero) = match state.take_kept(class, size) {
            Some(storage) => {
                state.figures.reused += 1;
                (storage, false)
            }
            None => (state.take_new(size).map_err(failure)?, true),
        };
        let figures = &mut state.figures;
        figures.allocated_bytes = figures.allocated_bytes.saturating_add(bytes as u64);
        figures.live_bytes += in_use;
        figures.peak_bytes = figures.peak_bytes.max(figures.live_bytes);
        Ok((Some(storage), is_zero))
    }

    /// Storage for a reserve: it counts as kept, and what is made of it as in use. Nothing if there is no memory.
    #[inline]
    pub(super) fn set_aside(&self, bytes: usize) -> Option<Storage> {
        self.take_storage(bytes, 0).ok()?.0
    }

    /// Bytes that the budget leaves; all there are if there is none.
    #[inline]
    pub(super) fn left(&self) -> u64 {
        let state = self.state();
        state.budget.map_or(u64::MAX, |budget| budget.saturating_sub(state.figures.held_bytes))
    }

    /// Somebody looked at bytes that a device has lost.
    #[cold]
    pub(super) fn count_loss(&self) {
        self.losses.fetch_add(1, Relaxed);
    }

    pub(super) fn losses(&self) -> u64 {
        self.losses.load(Relaxed)
    }

    /// A block of so many bytes is made of a reserve.
    #[inline]
    pub(super) fn count_part(&self, bytes: usize) {
        let figures = &mut self.state().figures;
        figures.live_bytes += bytes as u64;
        figures.peak_bytes = figures.peak_bytes.max(figures.live_bytes);
    }

    /// Takes storage back from a block of `bytes`.
    pub(super) fn give_back(&self, bytes: usize, storage: Option<Storage>) {
        let Some(storage) = storage else { return };
        let size = storage.size();
        let mut state = self.state();
        state.figures.live_bytes -= bytes as u64;
        if let Storage::Part(_) = storage {
            // Its reserve may go with it, and tells the pool then.
            drop(state);
            drop(storage);
            return;
        }
        // A smaller budget may have been set meanwhile.
        let is_over = state.budget.is_some_and(|budget| state.figures.held_bytes > budget);
        let fits = state.kept + size as u64 <= KEPT_BYTES;
        // Part of a slab gives nothing back to the system.
        let keeps = matches!(storage, Storage::Piece(_)) || fits && !is_over;
        let Some((class, _)) = size_class(size).filter(|_| keeps && !state.keeps_apart) else {
            state.figures.held_bytes -= size as u64;
            drop(state);
            // Giving a large one back takes the system a while, in which others may go on.
            drop(storage);
            return;
        };
        if state.by_class.len() <= class {
            state.by_class.resize_with(class + 1, Vec::new);
        }
        state.kept += size as u64;
        state.by_class[class].push(storage);
    }
}

impl State {
    /// A kept block of the class, or of one of the next for blocks whose classes are narrow.
    fn take_kept(&mut self, class: usize, size: usize) -> Option<Storage> {
        let last = if size >= MAP_FROM { class + NARROW / 4 } else { class };
        let storage = (class..=last).find_map(|class| self.by_class.get_mut(class)?.pop())?;
        self.kept -= storage.size() as u64;
        Some(storage)
    }

    /// Storage from the system, if the budget allows it; the error is the budget, if that was the reason.
    fn take_new(&mut self, size: usize) -> Result<Storage, Option<u64>> {
        if size <= LARGEST_PIECE
            && !self.keeps_apart
            && let Some(piece) = self.cut(size)
        {
            self.figures.cut += 1;
            return Ok(Storage::Piece(piece));
        }
        if !self.hold(size) {
            self.give_up_kept();
            if !self.hold(size) {
                return Err(self.budget);
            }
        }
        let new = if self.keeps_apart { Storage::allocated } else { Storage::take };
        let take = || if system::has(size) { new(size) } else { None };
        let storage = take().or_else(|| {
            self.give_up_kept();
            take()
        });
        storage.ok_or_else(|| {
            self.figures.held_bytes -= size as u64;
            None
        })
    }

    /// Small storage from a slab, unless a further one would be too much.
    fn cut(&mut self, size: usize) -> Option<Piece> {
        if let Some(piece) = self.cutter.as_mut().and_then(|cutter| cutter.cut(size)) {
            return Some(piece);
        }
        if !self.hold(SLAB) {
            return None;
        }
        let Some(cutter) = Cutter::new() else {
            self.figures.held_bytes -= SLAB as u64;
            return None;
        };
        self.figures.slabs += 1;
        // What is left of the last one is less than a piece.
        let before = self.cutter.replace(cutter);
        if before.is_some_and(|cutter| cutter.is_unused()) {
            self.figures.held_bytes -= SLAB as u64;
        }
        self.cutter.as_mut()?.cut(size)
    }

    /// Counts bytes as held unless the budget is then exceeded.
    fn hold(&mut self, size: usize) -> bool {
        let held = self.figures.held_bytes.saturating_add(size as u64);
        if self.budget.is_some_and(|budget| held > budget) {
            return false;
        }
        self.figures.held_bytes = held;
        self.figures.peak_held_bytes = self.figures.peak_held_bytes.max(held);
        true
    }

    /// Gives kept storage back to the system: all but pieces of slabs of which other pieces are in use.
    fn give_up_kept(&mut self) {
        // How many of each slab's holders are kept pieces, or the cutter.
        let mut kept: HashMap<usize, usize> = HashMap::new();
        for storage in self.by_class.iter().flatten() {
            if let Storage::Piece(piece) = storage {
                *kept.entry(piece.slab().0).or_default() += 1;
            }
        }
        if let Some(cutter) = &self.cutter {
            *kept.entry(cutter.slab()).or_default() += 1;
        }
        let mut given = 0;
        let is_idle = |piece: &Piece| {
            let (slab, holders) = piece.slab();
            kept.get(&slab).is_some_and(|kept| *kept == holders)
        };
        let mut idle: Vec<Piece> = Vec::new();
        for storages in &mut self.by_class {
            for storage in std::mem::take(storages) {
                match storage {
                    Storage::Piece(piece) if is_idle(&piece) => idle.push(piece),
                    Storage::Piece(piece) => storages.push(Storage::Piece(piece)),
                    whole => given += whole.size(),
                }
            }
        }
        self.kept = self.by_class.iter().flatten().map(|storage| storage.size() as u64).sum();
        let ends =
            |cutter: &mut Cutter| cutter.is_unused() || idle.iter().any(|p| p.slab().0 == cutter.slab());
        if let Some(cutter) = self.cutter.take_if(ends)
            && cutter.is_unused()
        {
            given += SLAB;
        }
        for piece in idle {
            given += if piece.is_last() { SLAB } else { 0 };
        }
        self.figures.held_bytes -= given as u64;
    }
}

/// Classes of large blocks for each power of two.
const NARROW: usize = 32;

/// Number and size of the class of blocks of so many bytes: four classes for each power of two, so that at most
/// a fifth is wasted, and 32 for large blocks, so that at most 3 % are; multiples of 64 bytes at the small end.
/// Nothing for sizes that no machine has.
fn size_class(bytes: usize) -> Option<(usize, usize)> {
    const LEAST: usize = 256;
    const LARGE: usize = MAP_FROM.ilog2() as usize;
    if bytes > isize::MAX as usize / 2 {
        return None;
    }
    if bytes <= LEAST {
        let lines = bytes.div_ceil(64);
        return Some((lines, lines * 64));
    }
    let power = (bytes - 1).ilog2() as usize;
    let parts = if power < LARGE { 4 } else { NARROW };
    let step = (1usize << power) / parts;
    let size = bytes.div_ceil(step) * step;
    let part = size / step - parts;
    let below = if power < LARGE { 4 * (power - 7) } else { 4 * (LARGE - 7) + NARROW * (power - LARGE) };
    Some((below + part, size))
}

/// The door to a pool; clones share it.
#[derive(Clone)]
pub struct Memory {
    pool: Arc<Pool>,
    /// Ends bulk work on behalf of a call.
    stop: Stop,
    /// How many threads bulk work may be divided among.
    threads: usize,
    /// What the blocks of a call are to be made of.
    offers: Arc<Offers>,
}

impl Memory {
    /// A pool, with a limit of the bytes in use at one time if one is given.
    #[inline]
    pub fn new(budget: Option<u64>) -> Memory {
        let (pool, stop, offers) = (Arc::default(), Stop::default(), Arc::default());
        let memory = Memory { pool, stop, threads: 1, offers };
        memory.set_budget(budget);
        memory
    }

    /// The same memory for a call that may have to end, and whose bulk work is divided among so many threads.
    #[inline]
    pub fn for_call(&self, stop: &Stop, threads: usize) -> Memory {
        Memory { pool: self.pool.clone(), stop: stop.clone(), threads, offers: Arc::default() }
    }

    /// How many threads bulk work may be divided among.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    #[inline]
    pub(super) fn offers(&self) -> &Offers {
        &self.offers
    }

    /// What ends bulk work.
    #[inline]
    pub(crate) fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Changes the limit; blocks that live already stay.
    #[inline]
    pub fn set_budget(&self, budget: Option<u64>) {
        self.pool.state().budget = budget;
    }

    /// From now on every block is an allocation of its own, as large as asked for, and goes back when it ends: an allocator that
    /// watches accesses sees what leaves a block. For tests; it costs much.
    pub fn keep_apart(&self) {
        let mut state = self.pool.state();
        state.give_up_kept();
        state.keeps_apart = true;
    }

    /// The figures.
    #[inline]
    pub fn stats(&self) -> MemoryStats {
        self.pool.state().figures
    }

    /// The most bytes in use until now; from now on those count that are in use now and later.
    pub fn restart_peak(&self) -> u64 {
        let figures = &mut self.pool.state().figures;
        std::mem::replace(&mut figures.peak_bytes, figures.live_bytes)
    }

    /// Counts a copy.
    #[inline]
    pub fn count_copy(&self, kind: CopyKind, bytes: u64) {
        let figures = &mut self.pool.state().figures;
        figures.copies[kind as usize] += 1;
        figures.copied_bytes[kind as usize] = figures.copied_bytes[kind as usize].saturating_add(bytes);
    }

    /// Counts a copy into another layout, which was there already or not.
    #[inline]
    pub fn count_layout(&self, made: Option<u64>) {
        let figures = &mut self.pool.state().figures;
        match made {
            Some(bytes) => {
                figures.layouts += 1;
                figures.layout_bytes = figures.layout_bytes.saturating_add(bytes);
            }
            None => figures.layout_uses += 1,
        }
    }

    /// Counts a result that is made in another layout.
    #[inline]
    pub fn count_birth(&self) {
        self.pool.state().figures.births += 1;
    }

    /// The bytes that may still be held, if there is a limit.
    #[inline]
    pub fn room(&self) -> Option<u64> {
        let state = self.pool.state();
        let held = state.figures.held_bytes - state.kept;
        state.budget.map(|budget| budget.saturating_sub(held))
    }

    #[inline]
    pub(super) fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }
}

impl Default for Memory {
    fn default() -> Memory {
        Memory::new(None)
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Memory({:?})", self.stats())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_rise_and_hold_what_they_should() {
        let mut last = (0, 0);
        for bytes in (1..70_000).chain([1 << 20, (1 << 20) + 1, 1 << 40]) {
            let (class, size) = size_class(bytes).unwrap();
            assert!(size >= bytes && size <= bytes + (bytes / 4).max(63), "{bytes} in {size}");
            assert!(
                class > last.0 && size > last.1 || (class, size) == last,
                "{bytes}: {class} {size} after {last:?}"
            );
            last = (class, size);
        }
        assert_eq!(size_class(usize::MAX), None);
        for bytes in (1 << 20..1 << 23).step_by(4099) {
            let (class, size) = size_class(bytes).unwrap();
            assert!(
                size <= bytes + bytes / 32 && size_class(size) == Some((class, size)),
                "{bytes} in {size}"
            );
        }
    }

    #[test]
    fn freed_blocks_are_used_again_and_counted() {
        let memory = Memory::new(None);
        let mut block = memory.block(1000).unwrap();
        assert_eq!(block.bytes().as_ptr() as usize % 64, 0);
        block.bytes_mut().unwrap()[999] = 7;
        let other = block.clone();
        assert!(block.bytes_mut().is_none() && !block.is_unique());
        drop(other);
        assert!(block.bytes_mut().is_some());
        drop(block);
        assert_eq!(memory.stats().live_bytes, 0);
        let again = memory.block(1001).unwrap();
        assert_eq!((memory.stats().reused, memory.stats().live_bytes), (1, 1001));
        drop(again);
        // A large block takes the place of a somewhat larger one.
        drop(memory.block((5 << 20) + 500_000).unwrap());
        let large = memory.block(5 << 20).unwrap();
        assert_eq!(large.bytes().as_ptr() as usize % 64, 0);
        assert_eq!((memory.stats().reused, memory.stats().live_bytes), (2, 5 << 20));
    }

    #[test]
    fn slabs_go_back_whole() {
        let memory = Memory::new(Some(1 << 20));
        let blocks: Vec<_> = (0..1000).map(|k| memory.block(100 + k % 300).unwrap()).collect();
        let stats = memory.stats();
        assert_eq!((stats.cut, stats.reused), (1000, 0));
        assert!(stats.slabs <= 2 && stats.held_bytes == stats.slabs * SLAB as u64, "{stats:?}");
        let few: Vec<_> = blocks.into_iter().take(1).collect();
        let again: Vec<_> = (0..500).map(|_| memory.block(100).unwrap()).collect();
        assert!(memory.stats().reused > 0);
        drop(again);
        // Only whole slabs are given up, and those in use are not.
        assert!(memory.block(900 << 10).is_err());
        assert_eq!(memory.stats().held_bytes, SLAB as u64);
        assert!(memory.block(700 << 10).is_ok());
        drop(few);
        let large = memory.block(900 << 10).unwrap();
        assert!(memory.stats().held_bytes <= 1 << 20);
        drop(large);
        assert_eq!(memory.stats().live_bytes, 0);
    }

    #[test]
    fn zeros_are_zero() {
        let memory = Memory::new(None);
        for bytes in [1, 100, 5000, 3 << 20] {
            let mut block = memory.block(bytes).unwrap();
            block.bytes_mut().unwrap().fill(7);
            drop(block);
            let block = memory.zeros(bytes).unwrap();
            assert!(block.bytes().iter().all(|byte| *byte == 0), "{bytes}");
        }
    }

    #[test]
    fn the_budget_is_kept_and_impossible_sizes_are_errors() {
        let memory = Memory::new(Some(4096));
        let block = memory.block(4000).unwrap();
        let error = memory.block(100).unwrap_err();
        assert_eq!((error.requested, error.live, error.budget), (100, 4000, Some(4096)));
        drop(block);
        // What was kept is given up for it.
        assert!(memory.block(100).is_ok());
        assert!(memory.stats().peak_held_bytes <= 4096);
        assert!(Memory::new(None).block(usize::MAX / 4).is_err());
        assert!(Memory::new(None).block(usize::MAX).is_err());
    }
}
