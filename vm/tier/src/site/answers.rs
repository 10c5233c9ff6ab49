//! What is known at a site, and whether more may be found out: the answers of a question with its machine.

use super::asking::Asking;
use super::memo::Memo;
use super::rules::Rules;

/// The answers of a question at a site.
#[derive(Debug)]
pub struct Answers<V> {
    known: Memo<V>,
    /// Whether the question is put.
    pub asking: Asking,
}

/// What there is for some numbers.
pub enum Found<V> {
    /// This answer.
    Known(V),
    /// None yet: the question may be put.
    Ask,
    /// None yet, and the question is not to be put now.
    Wait,
}

impl<V> Found<V> {
    /// The same with what is made of a known answer.
    pub fn map<T>(self, with: impl FnOnce(V) -> T) -> Found<T> {
        match self {
            Found::Known(value) => Found::Known(with(value)),
            Found::Ask => Found::Ask,
            Found::Wait => Found::Wait,
        }
    }
}

/// An answer that was made.
pub struct Made<V> {
    /// The answer.
    pub value: V,
    /// What it weighs in the memo.
    pub weight: usize,
    /// The nanoseconds that it took.
    pub nanos: u64,
    /// Whether there is something to do.
    pub is_useful: bool,
}

impl<V> Answers<V> {
    /// A question with these limits, and room for answers of this weight.
    pub fn new(rules: &'static Rules, most: usize) -> Answers<V> {
        Answers { known: Memo::new(most), asking: Asking::new(rules) }
    }

    /// What there is for these numbers in this run; `eager` if the question is put whatever that costs.
    pub fn find(&mut self, numbers: &[u64], eager: bool) -> Found<&mut V> {
        match self.known.find(numbers) {
            Some(known) => Found::Known(known),
            None if eager || self.asking.may_ask() => Found::Ask,
            None => Found::Wait,
        }
    }

    /// Keeps an answer; gives the number of others that had to go for it.
    pub fn keep(&mut self, numbers: &[u64], made: Made<V>) -> u64 {
        self.asking.made(made.nanos);
        if !made.is_useful {
            self.asking.learn(false);
        }
        self.known.keep(numbers, made.value, made.weight)
    }
}
