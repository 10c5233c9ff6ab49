//! How much stack the calling thread has left, and more of it.
//!
//! Nothing is presumed about the thread that calls: a host may call on one with a few kilobytes. Where the system does
//! not say where a stack ends, none counts as left, and work runs on a stack of its own.
#![allow(unsafe_code)]

use galopvm_base::threads;
use galopvm_store::error::{ErrorKind, Trap};
use std::cell::Cell;

/// Bytes of a fresh stack.
pub(crate) const FRESH: usize = 16 << 20;

/// Bytes that must be left wherever something begins that looks at the stack only at its next beginning: an
/// instruction with all that analyses and back ends do for it.
pub const LEAST: usize = 1 << 20;

thread_local! {
    /// The lowest address of this thread's stack, as soon as somebody asked.
    static LOWEST: Cell<Option<usize>> = const { Cell::new(None) };
}

/// About where the stack is now.
#[inline]
pub(crate) fn position() -> usize {
    let here = 0u8;
    std::ptr::from_ref(&here) as usize
}

/// The position below which less than [`LEAST`] is left; the highest there is if nobody knows.
pub fn floor() -> usize {
    let lowest = LOWEST.get().unwrap_or_else(|| {
        let lowest = lowest().unwrap_or(usize::MAX);
        LOWEST.set(Some(lowest));
        lowest
    });
    lowest.saturating_add(LEAST)
}

/// The same at the beginning of a fresh stack.
pub(crate) fn fresh_floor() -> usize {
    position().saturating_sub(FRESH - LEAST)
}

/// Runs work where at least [`LEAST`] is left: here, or on a thread with a fresh stack. Nothing if there is no memory
/// for one.
pub fn with_room<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    if position() > floor() { Some(work()) } else { on_fresh(work) }
}

/// Runs work on a thread with a fresh stack. Nothing if there is no memory for one.
pub(crate) fn on_fresh<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    let pool = threads::pool();
    let work = || threads::with_pool(pool, work);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(FRESH).spawn_scoped(scope, work).ok()?;
        Some(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

/// The error where there is no memory for a fresh stack.
pub fn no_room() -> Trap {
    Trap::of_kind(ErrorKind::CallDepth, "There is no memory for deeper calls.")
}

/// The lowest address of this thread's stack, if the system says it.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn lowest() -> Option<usize> {
    let mut attributes = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: the thread is this one, which lives; the call fills in the attributes if it gives 0.
    if unsafe { libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) } != 0 {
        return None;
    }
    let (mut address, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: the attributes were filled in above, and are given back once, after the last look at them; the other
    // pointers are to variables of the right types.
    let outcome = unsafe {
        let outcome = libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut address, &raw mut size);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        outcome
    };
    (outcome == 0 && !address.is_null()).then_some(address as usize)
}

#[cfg(target_os = "macos")]
fn lowest() -> Option<usize> {
    // SAFETY: both only look at the calling thread, which lives.
    let (top, size) = unsafe {
        let thread = libc::pthread_self();
        (libc::pthread_get_stackaddr_np(thread) as usize, libc::pthread_get_stacksize_np(thread))
    };
    top.checked_sub(size)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "macos")))]
fn lowest() -> Option<usize> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a thread with a stack of this size says.
    fn on<T: Send>(size: usize, work: impl FnOnce() -> T + Send) -> T {
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(size).spawn_scoped(scope, work);
            thread.expect("a thread").join().expect("no panic")
        })
    }

    #[test]
    fn small_stacks_are_seen() {
        // A thread may be given the stack of one that ended, of up to four times the size.
        for size in [64 << 10, LEAST / 4] {
            assert!(on(size, || position() <= floor()), "{size}");
            let elsewhere = on(size, || {
                let here = std::thread::current().id();
                with_room(move || (std::thread::current().id() != here, position() > floor()))
            });
            assert_eq!(elsewhere, Some((true, cfg!(unix))), "{size}");
        }
        let here = std::thread::current().id();
        let kept = on(8 << 20, move || {
            let own = std::thread::current().id();
            own != here && with_room(move || std::thread::current().id() == own) == Some(true)
        });
        assert_eq!(kept, cfg!(unix));
    }
}
