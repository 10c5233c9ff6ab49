//! What debug builds have proved in this process.
//!
//! Tests compile the same code again and again: for other sizes, other element types, other plans. The allocator is
//! deterministic, so that a proof for some code holds whenever that code is compiled for the same target again.

use crate::lir::Code;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

/// Hashes of what was proved. Two codes with one hash would cost a proof, nothing else.
static PROVED: Mutex<Option<HashSet<u64>>> = Mutex::new(None);

/// A proof that is still to be made.
pub struct Unproved(u64);

/// The proof that code for a target needs; none if it was made before.
pub fn wanted(target: &str, code: &Code) -> Option<Unproved> {
    let mut hasher = DefaultHasher::new();
    (target, code.to_string()).hash(&mut hasher);
    let hash = hasher.finish();
    let proved = PROVED.lock().unwrap_or_else(PoisonError::into_inner);
    let is_proved = proved.as_ref().is_some_and(|proved| proved.contains(&hash));
    (!is_proved).then_some(Unproved(hash))
}

impl Unproved {
    /// It was made.
    pub fn done(self) {
        let mut proved = PROVED.lock().unwrap_or_else(PoisonError::into_inner);
        proved.get_or_insert_default().insert(self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lir::parse;

    #[test]
    fn code_is_proved_once_for_each_target() {
        let code = |word: u32| parse(&format!("masks vec\nblock0:\n  %0:int = word.{word}\n  return\n"));
        let [one, other] = [90, 91].map(|word| code(word).expect("it reads"));
        let first = wanted("a", &one).expect("it is new");
        assert!(wanted("a", &one).is_some(), "a proof that was not made is still wanted");
        first.done();
        assert!(wanted("a", &one).is_none());
        assert!(wanted("b", &one).is_some() && wanted("a", &other).is_some());
    }
}
