//! The pool that blocks come from: a budget, free lists by size class, and figures of all that happened.
//!
//! A freed block is kept for the next one of its class: a fresh page fault costs more than most kernels.
//! Figures count the bytes asked for. The budget counts all that is held, with what size classes add and what is kept:
//! it is a promise to the host. Kept blocks are given up before a block is refused.

use super::block::{MAP_FROM, Storage};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

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
pub(crate) enum CopyKind {
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
    /// Bytes of all blocks taken.
    pub allocated_bytes: u64,
    /// Bytes in use now.
    pub live_bytes: u64,
    /// Most bytes in use at one time.
    pub peak_bytes: u64,
    /// Bytes held now: in use, kept for reuse, and added by size classes.
    pub held_bytes: u64,
    /// Most bytes held at one time.
    pub peak_held_bytes: u64,
    /// Copies by kind: memcpy, rows, transpose, strided.
    pub copies: [u64; 4],
    /// Bytes copied by kind.
    pub copied_bytes: [u64; 4],
}

impl fmt::Display for MemoryStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "memory: peak {} bytes, live {} bytes, {} blocks taken ({} used before), {} bytes in all",
            self.peak_bytes, self.live_bytes, self.allocations, self.reused, self.allocated_bytes
        )?;
        f.write_str("copies:")?;
        for (k, name) in ["memcpy", "rows", "transpose", "strided"].into_iter().enumerate() {
            let comma = if k == 0 { "" } else { "," };
            write!(f, "{comma} {name} {} ({} bytes)", self.copies[k], self.copied_bytes[k])?;
        }
        Ok(())
    }
}

#[derive(Default)]
struct Counters {
    allocations: AtomicU64,
    reused: AtomicU64,
    allocated_bytes: AtomicU64,
    live_bytes: AtomicU64,
    peak_bytes: AtomicU64,
    held_bytes: AtomicU64,
    peak_held_bytes: AtomicU64,
    copies: [AtomicU64; 4],
    copied_bytes: [AtomicU64; 4],
}

#[derive(Default)]
struct FreeLists {
    by_class: Vec<Vec<Storage>>,
    bytes: u64,
}

pub(super) struct Pool {
    free: Mutex<FreeLists>,
    /// `u64::MAX` is "no limit".
    budget: AtomicU64,
    counters: Counters,
}

impl Pool {
    /// Storage for `bytes`, kept or new; none is needed for no bytes.
    pub(super) fn take(&self, bytes: usize) -> Result<Option<Storage>, OutOfMemory> {
        let counters = &self.counters;
        counters.allocations.fetch_add(1, Relaxed);
        if bytes == 0 {
            return Ok(None);
        }
        let failure = |budget| {
            let live = counters.live_bytes.load(Relaxed);
            OutOfMemory { requested: bytes as u64, live, budget }
        };
        let (class, size) = size_class(bytes).ok_or_else(|| failure(None))?;
        let storage = match self.take_kept(class, size) {
            Some(storage) => {
                counters.reused.fetch_add(1, Relaxed);
                storage
            }
            None => self.take_new(size).map_err(failure)?,
        };
        counters.allocated_bytes.fetch_add(bytes as u64, Relaxed);
        let live = counters.live_bytes.fetch_add(bytes as u64, Relaxed).saturating_add(bytes as u64);
        counters.peak_bytes.fetch_max(live, Relaxed);
        Ok(Some(storage))
    }

    fn lists(&self) -> std::sync::MutexGuard<'_, FreeLists> {
        // The lists are whole between any two statements, so a panic elsewhere does not spoil them.
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A kept block of the class, or of one of the next for blocks whose classes are narrow.
    fn take_kept(&self, class: usize, size: usize) -> Option<Storage> {
        let mut lists = self.lists();
        let last = if size >= MAP_FROM { class + NARROW / 4 } else { class };
        let storage = (class..=last).find_map(|class| lists.by_class.get_mut(class)?.pop())?;
        lists.bytes -= storage.size() as u64;
        Some(storage)
    }

    /// Storage from the system, if the budget allows it; the error is the budget, if that was the reason.
    fn take_new(&self, size: usize) -> Result<Storage, Option<u64>> {
        let budget = self.budget.load(Relaxed);
        if !self.hold(size, budget) {
            self.give_up_kept();
            if !self.hold(size, budget) {
                return Err(Some(budget));
            }
        }
        let storage = Storage::take(size).or_else(|| {
            self.give_up_kept();
            Storage::take(size)
        });
        storage.ok_or_else(|| {
            self.counters.held_bytes.fetch_sub(size as u64, Relaxed);
            None
        })
    }

    /// Counts bytes as held unless the budget is then exceeded.
    fn hold(&self, size: usize, budget: u64) -> bool {
        let held = self.counters.held_bytes.fetch_add(size as u64, Relaxed).saturating_add(size as u64);
        if held > budget {
            self.counters.held_bytes.fetch_sub(size as u64, Relaxed);
            return false;
        }
        self.counters.peak_held_bytes.fetch_max(held, Relaxed);
        true
    }

    /// Gives all kept storage back to the system.
    fn give_up_kept(&self) {
        let kept = std::mem::take(&mut *self.lists());
        self.counters.held_bytes.fetch_sub(kept.bytes, Relaxed);
    }

    /// Takes storage back from a block of `bytes`.
    pub(super) fn give_back(&self, bytes: usize, storage: Option<Storage>) {
        let Some(storage) = storage else { return };
        self.counters.live_bytes.fetch_sub(bytes as u64, Relaxed);
        let size = storage.size();
        let mut lists = self.lists();
        // A smaller budget may have been set meanwhile.
        let too_much = self.counters.held_bytes.load(Relaxed) > self.budget.load(Relaxed);
        let Some((class, _)) =
            size_class(size).filter(|_| !too_much && lists.bytes + size as u64 <= KEPT_BYTES)
        else {
            self.counters.held_bytes.fetch_sub(size as u64, Relaxed);
            return;
        };
        if lists.by_class.len() <= class {
            lists.by_class.resize_with(class + 1, Vec::new);
        }
        lists.bytes += size as u64;
        lists.by_class[class].push(storage);
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
pub struct Memory(Arc<Pool>);

impl Memory {
    /// A pool, with a limit of the bytes in use at one time if one is given.
    pub fn new(budget: Option<u64>) -> Memory {
        Memory(Arc::new(Pool {
            free: Mutex::default(),
            budget: AtomicU64::new(budget.unwrap_or(u64::MAX)),
            counters: Counters::default(),
        }))
    }

    /// Changes the limit; blocks that live already stay.
    pub fn set_budget(&self, budget: Option<u64>) {
        self.0.budget.store(budget.unwrap_or(u64::MAX), Relaxed);
    }

    /// The figures.
    pub fn stats(&self) -> MemoryStats {
        let counters = &self.0.counters;
        let load = |c: &AtomicU64| c.load(Relaxed);
        MemoryStats {
            allocations: load(&counters.allocations),
            reused: load(&counters.reused),
            allocated_bytes: load(&counters.allocated_bytes),
            live_bytes: load(&counters.live_bytes),
            peak_bytes: load(&counters.peak_bytes),
            held_bytes: load(&counters.held_bytes),
            peak_held_bytes: load(&counters.peak_held_bytes),
            copies: std::array::from_fn(|k| load(&counters.copies[k])),
            copied_bytes: std::array::from_fn(|k| load(&counters.copied_bytes[k])),
        }
    }

    pub(crate) fn count_copy(&self, kind: CopyKind, bytes: u64) {
        self.0.counters.copies[kind as usize].fetch_add(1, Relaxed);
        self.0.counters.copied_bytes[kind as usize].fetch_add(bytes, Relaxed);
    }

    pub(super) fn pool(&self) -> &Arc<Pool> {
        &self.0
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
