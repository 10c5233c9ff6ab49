//! Which cases were under way when a signal ended the process.
//!
//! A thread that is at a case tells that one. Other threads work for cases: those tell all that are under way.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// More threads than anybody fuzzes with; those beyond share places.
const THREADS: usize = 64;

/// No case.
const NONE: u64 = u64::MAX;

/// The cases under way, by thread.
static CASES: [AtomicU64; THREADS] = [const { AtomicU64::new(NONE) }; THREADS];
static NEXT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static PLACE: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The thread is at this case now.
pub fn at_case(number: u64) {
    let place = PLACE.get().unwrap_or_else(|| NEXT.fetch_add(1, Relaxed) % THREADS);
    PLACE.set(Some(place));
    CASES[place].store(number, Relaxed);
}

/// From now on a signal that ends the process tells the cases first.
pub fn tell_cases() {
    for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT] {
        // SAFETY: the record is zero but for a handler that calls nothing but `write`, `signal` and `raise`. The stack of
        // the thread serves: where that has overflown, the process ends without a word, as it would have.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = tell as *const () as usize;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

extern "C" fn tell(signal: libc::c_int) {
    match PLACE.try_with(Cell::get).ok().flatten() {
        Some(place) => tell_case(CASES[place].load(Relaxed)),
        None => CASES.iter().map(|case| case.load(Relaxed)).filter(|case| *case != NONE).for_each(tell_case),
    }
    // SAFETY: both may be called where a signal interrupted anything.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

fn tell_case(number: u64) {
    let mut text = *b"case 00000000000000000000 ended the process\n";
    let mut rest = number;
    for digit in text[5..25].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    // SAFETY: it may be called where a signal interrupted anything, and reads the text alone.
    unsafe {
        libc::write(2, text.as_ptr().cast(), text.len());
    }
}
