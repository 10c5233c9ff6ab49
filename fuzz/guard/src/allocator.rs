//! An allocator that can put a page without access behind each allocation.
//!
//! Allocations are handed out one after the other from a range of addresses that is used only once: what is freed is never given
//! out again, so that access after the end of a life ends the process as well. When the range is used up, and for allocations that
//! machine code does not see or that are too large, the system's allocator goes on.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

const PAGE: usize = 4096;

/// Addresses that are set aside: more than a process uses up in a slice of fuzzing.
const RANGE: usize = 16 << 40;

/// The alignment of what arrays are made of.
const ALIGNMENT: usize = 64;

/// Other allocations, but for tables that begin as zeros, are mostly those of lists and texts, and very many. Machine code has the
/// addresses of a few: of those with words and of some size one of so many is guarded.
const ONE_OF: usize = 32;
const LEAST_OF_OTHERS: usize = 128;

/// Larger ones are mapped by whoever wants them.
const MOST: usize = 64 << 20;

/// Pages that are in use at a time: each allocation costs the system two entries of a table that has some 65,000.
const MOST_IN_USE: usize = 20_000;

static IS_ON: AtomicBool = AtomicBool::new(false);
static BASE: AtomicUsize = AtomicUsize::new(0);
static NEXT: AtomicUsize = AtomicUsize::new(0);
static IN_USE: AtomicUsize = AtomicUsize::new(0);
static OTHERS: AtomicUsize = AtomicUsize::new(0);

/// From now on allocations have nothing behind them; false if the system gives no addresses for it.
pub fn guard() -> bool {
    // SAFETY: a mapping of its own, at an address that the system chooses, without access.
    let base = unsafe {
        libc::mmap(
            null_mut(),
            RANGE,
            libc::PROT_NONE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    if base == libc::MAP_FAILED {
        return false;
    }
    BASE.store(base as usize, Relaxed);
    IS_ON.store(true, Relaxed);
    true
}

/// Whether allocations have nothing behind them.
pub fn is_on() -> bool {
    IS_ON.load(Relaxed)
}

/// The allocator of a process that may be guarded.
#[derive(Debug)]
pub struct Guarded;

/// Pages for an allocation, without the one behind.
fn pages(layout: Layout) -> usize {
    layout.size().div_ceil(PAGE)
}

fn place(layout: Layout) -> Option<*mut u8> {
    if !is_on() || layout.size() == 0 || layout.size() > MOST || layout.align() > PAGE {
        return None;
    }
    if IN_USE.fetch_add(1, Relaxed) >= MOST_IN_USE {
        IN_USE.fetch_sub(1, Relaxed);
        return None;
    }
    let bytes = pages(layout) * PAGE;
    let at = NEXT.fetch_add(bytes + PAGE, Relaxed);
    let fits = at.checked_add(bytes + PAGE).is_some_and(|end| end <= RANGE);
    let start = BASE.load(Relaxed) + at;
    // SAFETY: whole pages inside the range, which nobody else has been given.
    let is_open =
        fits && unsafe { libc::mprotect(start as *mut _, bytes, libc::PROT_READ | libc::PROT_WRITE) } == 0;
    if !is_open {
        IN_USE.fetch_sub(1, Relaxed);
        return None;
    }
    let first = (start + bytes - layout.size()) & !(layout.align() - 1);
    Some(first as *mut u8)
}

/// Whether an allocation that need not begin as zeros is one that machine code may see.
fn is_seen(layout: Layout) -> bool {
    let is_other = || layout.align() >= 8 && layout.size() >= LEAST_OF_OTHERS;
    layout.align() >= ALIGNMENT
        || is_on() && is_other() && OTHERS.fetch_add(1, Relaxed).is_multiple_of(ONE_OF)
}

fn is_guarded(pointer: *mut u8) -> bool {
    let base = BASE.load(Relaxed);
    base != 0 && (base..base + RANGE).contains(&(pointer as usize))
}

// SAFETY: what is handed out is either the system allocator's, and goes back to it, or memory of the range that is handed
// out once: as large as asked for, aligned, and zero like all new pages.
unsafe impl GlobalAlloc for Guarded {
    // SAFETY: whoever calls keeps the promise of the trait.
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let place = if is_seen(layout) { place(layout) } else { None };
        // SAFETY: the caller keeps the rules of the system's allocator.
        place.unwrap_or_else(|| unsafe { System.alloc(layout) })
    }

    // SAFETY: as for `alloc`.
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        place(layout).unwrap_or_else(|| unsafe { System.alloc_zeroed(layout) })
    }

    // SAFETY: whoever calls keeps the promise of the trait.
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if !is_guarded(pointer) {
            // SAFETY: it came from the system's allocator, with this layout.
            return unsafe { System.dealloc(pointer, layout) };
        }
        IN_USE.fetch_sub(1, Relaxed);
        let bytes = pages(layout) * PAGE;
        let start = (pointer as usize & !(PAGE - 1)) as *mut libc::c_void;
        // SAFETY: these pages were opened for this allocation alone, which has ended. A new mapping in their place has no
        // memory and no access.
        unsafe {
            libc::mmap(
                start,
                bytes,
                libc::PROT_NONE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED,
                -1,
                0,
            );
        }
    }
}
