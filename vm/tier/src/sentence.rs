//! Sentences about registers: a register stays one until somebody reads the sentence, who may have a name for it.

use galopvm_bytecode::RegId;
use std::fmt;

/// A sentence about registers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sentence(Vec<Word>);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Word {
    Text(String),
    Register(RegId),
}

impl Sentence {
    /// Goes on with a text.
    pub fn text(mut self, text: &str) -> Sentence {
        match self.0.last_mut() {
            Some(Word::Text(before)) => before.push_str(text),
            _ => self.0.push(Word::Text(text.into())),
        }
        self
    }

    /// Goes on with a register.
    pub fn register(mut self, register: RegId) -> Sentence {
        self.0.push(Word::Register(register));
        self
    }

    /// The sentence with names for registers.
    pub fn named(&self, name: impl Fn(RegId) -> String) -> String {
        let word = |word: &Word| match word {
            Word::Text(text) => text.clone(),
            Word::Register(register) => name(*register),
        };
        self.0.iter().map(word).collect()
    }
}

/// Registers by their numbers.
impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|word| match word {
            Word::Text(text) => f.write_str(text),
            Word::Register(register) => write!(f, "{register}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_get_the_names_of_the_reader() {
        let reads = Sentence::default().register(RegId(7)).text(" is computed ").text("where r9 reads ");
        let reads = reads.register(RegId(12));
        assert_eq!(reads.to_string(), "r7 is computed where r9 reads r12");
        let name = |register| if register == RegId(7) { "cells".into() } else { format!("{register}") };
        assert_eq!(reads.named(name), "cells is computed where r9 reads r12");
    }
}
