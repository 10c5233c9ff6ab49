//! Pieces of a scan by several threads, in a chain: what the rows of a piece come to is found first, then the piece waits until
//! those before it have said what they came to, hands on what that and its own rows combine to, and makes its results.
//!
//! A piece is small enough to be in a cache when it is read for the second time. Pieces are taken in order, so the one that
//! is waited for runs already: nobody waits for ever, whatever the number of threads.

use galopvm_base::threads::divided;
use rayon::prelude::*;
use std::sync::{Condvar, Mutex, PoisonError};

/// What a chain does with its pieces. Each says whether it went well.
pub trait Links: Sync {
    /// What the rows of a piece come to.
    fn total(&self, piece: usize) -> Option<Vec<u64>>;

    /// What two values in a row combine to.
    fn joined(&self, before: &[u64], total: &[u64]) -> Option<Vec<u64>>;

    /// Makes the results of a piece, given what all pieces before it came to; there is none before the first.
    fn results(&self, piece: usize, before: &[u64]) -> bool;
}

/// How far a chain is.
struct State {
    /// The piece that is taken next.
    next: usize,
    /// The first piece whose predecessors have not handed on yet.
    known: usize,
    /// What is handed to that one.
    before: Vec<u64>,
    /// Something went wrong: nobody goes on.
    is_broken: bool,
}

struct Chain<'l, L> {
    links: &'l L,
    count: usize,
    state: Mutex<State>,
    handed_on: Condvar,
}

/// Runs a chain of pieces by so many threads; false if one of them did not go well.
pub fn run(links: &impl Links, count: usize, threads: usize) -> bool {
    let state = State { next: 0, known: 0, before: Vec::new(), is_broken: false };
    let chain = Chain { links, count, state: Mutex::new(state), handed_on: Condvar::new() };
    divided(|| (0..threads).into_par_iter().with_max_len(1).for_each(|_| chain.work()));
    let state = chain.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    !state.is_broken
}

impl<L: Links> Chain<'_, L> {
    fn work(&self) {
        while let Some(piece) = self.take() {
            let well = self.hand_on(piece).is_some_and(|before| self.links.results(piece, &before));
            if !well {
                self.lock().is_broken = true;
                self.handed_on.notify_all();
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Option<usize> {
        let mut state = self.lock();
        state.next += 1;
        (state.next <= self.count && !state.is_broken).then(|| state.next - 1)
    }

    /// What a piece is handed, after it has handed on its own.
    fn hand_on(&self, piece: usize) -> Option<Vec<u64>> {
        // Nobody comes after the last one.
        let is_last = piece + 1 == self.count;
        let total = if is_last { Vec::new() } else { self.links.total(piece)? };
        let mut state = self.lock();
        while state.known < piece && !state.is_broken {
            state = self.handed_on.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.is_broken {
            return None;
        }
        let next = match piece {
            _ if is_last => Vec::new(),
            0 => total,
            _ => self.links.joined(&state.before, &total)?,
        };
        state.known = piece + 1;
        let before = std::mem::replace(&mut state.before, next);
        drop(state);
        self.handed_on.notify_all();
        Some(before)
    }
}

#[cfg(test)]
mod tests {
    use super::{Links, run};
    use std::sync::Mutex;

    /// Words in a row; a piece is a letter.
    struct Letters {
        made: Mutex<Vec<Vec<u64>>>,
        fails: Option<usize>,
    }

    impl Links for Letters {
        fn total(&self, piece: usize) -> Option<Vec<u64>> {
            (self.fails != Some(piece)).then(|| vec![piece as u64])
        }

        fn joined(&self, before: &[u64], total: &[u64]) -> Option<Vec<u64>> {
            Some([before, total].concat())
        }

        fn results(&self, piece: usize, before: &[u64]) -> bool {
            self.made.lock().expect("nobody panics")[piece] = before.to_vec();
            true
        }
    }

    #[test]
    fn every_piece_is_handed_all_before_it_in_order() {
        for (count, threads) in [(1, 1), (1, 3), (50, 1), (50, 2), (50, 7)] {
            let letters = Letters { made: Mutex::new(vec![Vec::new(); count]), fails: None };
            assert!(run(&letters, count, threads));
            let made = letters.made.into_inner().expect("nobody panics");
            let expected: Vec<Vec<u64>> = (0..count as u64).map(|piece| (0..piece).collect()).collect();
            assert_eq!(made, expected);
        }
    }

    #[test]
    fn one_that_fails_ends_all() {
        for threads in [1, 2, 5] {
            let letters = Letters { made: Mutex::new(vec![Vec::new(); 50]), fails: Some(20) };
            assert!(!run(&letters, 50, threads));
            assert!(letters.made.into_inner().expect("nobody panics")[21..].iter().all(Vec::is_empty));
        }
    }
}
