//! Answers that are known, by the numbers that they depend on.
//!
//! Two questions with equal numbers have equal answers; what the numbers are is up to the question. A memo holds answers up to a
//! weight, and gives up those that nobody asked for longest. Asking for the newest one again costs a comparison.

use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Known answers.
#[derive(Debug)]
pub struct Memo<V> {
    /// What the answers weigh at most, and what they do.
    most: usize,
    weight: usize,
    /// Requests so far, by which answers are old or new.
    requests: u64,
    answers: Vec<Answer<V>>,
    positions: FxHashMap<Arc<[u64]>, usize>,
    /// The position of the answer that was asked for or kept last.
    newest: usize,
}

#[derive(Debug)]
struct Answer<V> {
    numbers: Arc<[u64]>,
    value: V,
    weight: usize,
    /// The request that it was given for last.
    last: u64,
}

impl<V> Memo<V> {
    /// A memo for answers up to a weight.
    pub fn new(most: usize) -> Memo<V> {
        let (answers, positions) = (Vec::new(), FxHashMap::default());
        Memo { most, weight: 0, requests: 0, answers, positions, newest: 0 }
    }

    /// The answer for these numbers, if it is known.
    pub fn find(&mut self, numbers: &[u64]) -> Option<&mut V> {
        self.requests += 1;
        let is_newest = self.answers.get(self.newest).is_some_and(|newest| *newest.numbers == *numbers);
        if !is_newest {
            self.newest = *self.positions.get(numbers)?;
        }
        let answer = self.answers.get_mut(self.newest)?;
        answer.last = self.requests;
        Some(&mut answer.value)
    }

    /// Keeps an answer in the place of the one that was known; gives the number of others that had to go for it.
    pub fn keep(&mut self, numbers: &[u64], value: V, weight: usize) -> u64 {
        if let Some(at) = self.positions.get(numbers) {
            self.forget(*at);
        }
        let before = self.answers.len();
        while self.weight.saturating_add(weight) > self.most {
            let ages = self.answers.iter().enumerate();
            let Some((oldest, _)) = ages.min_by_key(|(_, answer)| answer.last) else { break };
            self.forget(oldest);
        }
        let dropped = before - self.answers.len();
        self.requests += 1;
        self.weight += weight;
        self.newest = self.answers.len();
        let numbers: Arc<[u64]> = numbers.into();
        self.positions.insert(numbers.clone(), self.newest);
        self.answers.push(Answer { numbers, value, weight, last: self.requests });
        dropped as u64
    }

    /// Gives up all answers.
    pub fn clear(&mut self) {
        self.answers.clear();
        self.positions.clear();
        self.weight = 0;
    }

    fn forget(&mut self, at: usize) {
        let gone = self.answers.swap_remove(at);
        self.weight -= gone.weight;
        self.positions.remove(&gone.numbers);
        if let Some(moved) = self.answers.get(at) {
            self.positions.insert(moved.numbers.clone(), at);
        }
    }
}
