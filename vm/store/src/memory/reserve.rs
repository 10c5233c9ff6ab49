//! Storage set aside for blocks that are not in use at the same time, or for blocks that are made again and again.
//!
//! A reserve hands out parts of itself, each as the storage of a block of its own: a block does not know where its bytes
//! are, and is held, counted and written as any other. A part is handed out only while no part that is in use meets it,
//! and comes back when nobody holds its block any more. So whoever is wrong about what is still needed gets no part;
//! never is anything overwritten. The reserve's memory goes back to the pool when neither its owner nor a part is left.
//!
//! Parts are figured as bytes in use, and the reserve itself as kept memory.
#![allow(unsafe_code)]

use super::block::{LINE, Storage};
use super::pool::{Memory, Pool};
use smallvec::SmallVec;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// Of what the budget leaves, the part that a reserve may take.
const PART_OF_BUDGET: u64 = 8;

/// Storage that parts are handed out of.
#[derive(Clone)]
pub struct Reserve(Arc<Whole>);

struct Whole {
    /// The first of `size` bytes of the storage.
    first: NonNull<u8>,
    size: usize,
    /// The parts in use: first byte, and the one past the last.
    used: Mutex<SmallVec<[(usize, usize); 8]>>,
    /// Not touched before it is given back: parts are the ways to its bytes.
    storage: Option<Storage>,
    pool: Arc<Pool>,
}

// SAFETY: the bytes are reached through parts only, each of which has its stretch to itself; the list of these has a lock.
unsafe impl Send for Whole {}
// SAFETY: as above.
unsafe impl Sync for Whole {}

impl Whole {
    fn used(&self) -> std::sync::MutexGuard<'_, SmallVec<[(usize, usize); 8]>> {
        // The list is whole between any two statements, so a panic elsewhere does not spoil it.
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        self.pool.give_back(0, self.storage.take());
    }
}

/// A stretch of a reserve that nobody else has.
pub(super) struct Part {
    whole: Arc<Whole>,
    from: usize,
    to: usize,
}

impl Part {
    /// Number of bytes.
    #[inline]
    pub(super) fn size(&self) -> usize {
        self.to - self.from
    }

    fn first(&self) -> *mut u8 {
        // SAFETY: `from` is at most the size of the storage, which `first` points to.
        unsafe { self.whole.first.as_ptr().add(self.from) }
    }

    /// The bytes.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: the part has this stretch of initialised bytes to itself, and they live as long as the whole.
        unsafe { std::slice::from_raw_parts(self.first(), self.size()) }
    }

    /// The bytes for writing.
    #[inline]
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and the result borrows the part mutably.
        unsafe { std::slice::from_raw_parts_mut(self.first(), self.size()) }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let stretch = (self.from, self.to);
        self.whole.used().retain(|used| *used != stretch);
    }
}

impl Reserve {
    /// Number of bytes that can be handed out at least.
    #[inline]
    pub fn size(&self) -> usize {
        self.0.size
    }

    /// Whether nothing is in use.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.0.used().is_empty()
    }

    /// The bytes from a place on, which is a multiple of a line, unless some of them are in use.
    fn part(&self, from: usize, bytes: usize) -> Option<Part> {
        let to = from.checked_add(bytes.div_ceil(LINE) * LINE).filter(|to| *to <= self.0.size)?;
        if !from.is_multiple_of(LINE) || bytes == 0 {
            return None;
        }
        let mut used = self.0.used();
        let is_free = !used.iter().any(|(start, end)| from < *end && *start < to);
        #[cfg(debug_assertions)]
        let is_free = is_free || in_use::are_given();
        if !is_free {
            return None;
        }
        used.push((from, to));
        Some(Part { whole: self.0.clone(), from, to })
    }
}

/// A stretch of a reserve that the next blocks of this size are to be made of.
struct Offer {
    reserve: Reserve,
    from: usize,
    bytes: usize,
}

/// What blocks are to be made of as long as it is offered.
#[derive(Default)]
pub(super) struct Offers {
    /// Whether there are any: nobody waits for a lock if not.
    are_there: AtomicBool,
    list: Mutex<SmallVec<[Offer; 2]>>,
    /// Blocks that were made of offers.
    taken: AtomicU64,
}

impl Memory {
    /// Sets storage aside, unless that would be much of what the budget leaves, or there is none.
    pub fn reserve(&self, bytes: usize) -> Option<Reserve> {
        let bytes = bytes.div_ceil(LINE) * LINE;
        if bytes == 0 || (bytes as u64).saturating_mul(PART_OF_BUDGET) > self.pool().left() {
            return None;
        }
        let mut storage = self.pool().set_aside(bytes)?;
        let whole = Whole {
            first: NonNull::new(storage.bytes_mut().as_mut_ptr())?,
            size: bytes,
            used: Mutex::default(),
            storage: Some(storage),
            pool: self.pool().clone(),
        };
        Some(Reserve(Arc::new(whole)))
    }

    /// Blocks of exactly this size are made of this stretch of a reserve as long as it is not in use, until all offers are
    /// withdrawn.
    #[inline]
    pub fn offer(&self, reserve: &Reserve, from: usize, bytes: usize) {
        let mut list = self.offers().list.lock().unwrap_or_else(PoisonError::into_inner);
        list.push(Offer { reserve: reserve.clone(), from, bytes });
        self.offers().are_there.store(true, Relaxed);
    }

    /// Takes all offers back; gives the number of blocks that were made of them.
    #[inline]
    pub fn withdraw(&self) -> u64 {
        let offers = self.offers();
        if offers.are_there.swap(false, Relaxed) {
            offers.list.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
        offers.taken.swap(0, Relaxed)
    }

    /// Storage that is offered for a block of this size.
    #[inline]
    pub(super) fn offered(&self, bytes: usize) -> Option<Storage> {
        if !self.offers().are_there.load(Relaxed) {
            return None;
        }
        let list = self.offers().list.lock().unwrap_or_else(PoisonError::into_inner);
        let fitting = list.iter().filter(|offer| offer.bytes == bytes);
        let part = fitting.into_iter().find_map(|offer| offer.reserve.part(offer.from, bytes))?;
        #[cfg(debug_assertions)]
        in_use::taken(list, &part);
        self.offers().taken.fetch_add(1, Relaxed);
        self.pool().count_part(bytes);
        Some(Storage::Part(part))
    }
}

/// Stretches in use, given all the same: what a wrong schedule would do if nobody looked. For tests of the checkers; no build for
/// users has it.
#[cfg(debug_assertions)]
pub mod in_use {
    use super::{Offer, Part, SmallVec};
    use std::cell::Cell;
    use std::sync::MutexGuard;

    thread_local! {
        static GIVEN: Cell<bool> = const { Cell::new(false) };
    }

    /// Whether this thread is given such stretches. Each is offered once then: who takes another block of its size means
    /// another array. Parts share bytes then, which are plain numbers: one thread finds others than it wrote.
    #[inline]
    pub fn give(all: bool) {
        GIVEN.set(all);
    }

    /// Whether it is.
    #[inline]
    pub fn are_given() -> bool {
        GIVEN.get()
    }

    /// An offer was taken.
    #[inline]
    pub(super) fn taken(mut list: MutexGuard<'_, SmallVec<[Offer; 2]>>, part: &Part) {
        if are_given()
            && let Some(at) = list.iter().position(|offer| offer.from == part.from)
        {
            list.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_meet_and_come_back() {
        let memory = Memory::new(None);
        let reserve = memory.reserve(1000).expect("there is no budget");
        assert_eq!((reserve.size(), memory.stats().allocations, memory.stats().live_bytes), (1024, 1, 0));
        memory.offer(&reserve, 64, 200);
        memory.offer(&reserve, 128, 300);
        let mut first = memory.block(200).unwrap();
        first.bytes_mut().expect("nobody else holds it").fill(7);
        assert_eq!((memory.stats().allocations, memory.stats().live_bytes), (1, 200));
        // It meets what is in use, so it is made as always.
        let second = memory.block(300).unwrap();
        assert_eq!((memory.stats().allocations, memory.stats().live_bytes), (2, 500));
        let shared = first.clone();
        drop(first);
        assert!(!reserve.is_idle() && shared.bytes().iter().all(|byte| *byte == 7));
        drop(shared);
        assert!(reserve.is_idle());
        let third = memory.zeros(300).unwrap();
        assert!(third.bytes().iter().all(|byte| *byte == 0) && memory.stats().allocations == 2);
        assert_eq!(memory.withdraw(), 2);
        assert_eq!(memory.block(200).unwrap().len(), 200);
        assert_eq!(memory.stats().allocations, 3);
        drop((second, reserve));
        assert_eq!(third.bytes().len(), 300, "a part keeps the storage");
        drop(third);
        assert_eq!(memory.stats().live_bytes, 0);
    }

    #[test]
    fn a_reserve_is_a_small_part_of_the_budget() {
        let memory = Memory::new(Some(1 << 20));
        assert!(memory.reserve(1 << 18).is_none());
        let reserve = memory.reserve(1 << 15).expect("that is little");
        assert!(reserve.part(0, 1 << 15).is_some() && reserve.part(64, 1 << 15).is_none());
        assert!(reserve.part(1, 64).is_none() && reserve.part(usize::MAX - 63, 64).is_none());
    }
}
