//! A smaller program that is still wrong: calls, statements, parts of tuples and expressions are left out, as long as the rest
//! compiles and is wrong. It is text that is made smaller; what makes no sense is refused.
//!
//! Expressions may become such that end the program, so they stay where it is the error that is wrong.

use super::{Trial, judged};
use crate::case::Outcome;
use crate::reduce::without_lines;
use crate::sources::{groups, tokens};
use std::time::{Duration, Instant};

/// Programs that are tried for one finding, and for how long.
const MOST_TRIES: usize = 6000;
const LONGEST: Duration = Duration::from_secs(120);

/// What stands in the place of an expression.
const SIMPLE: [&str; 7] = ["0", "1", "k", "x", "true", "false", "2"];

/// A smaller trial, and what is wrong about it.
pub fn shrink(trial: &Trial, what: &str) -> (Trial, String) {
    let mut shrinker = Shrinker { trial: trial.clone(), what: what.into(), tries: 0, begin: Instant::now() };
    shrinker.calls();
    // With several places that can end the program another one may end it: that alone is not wrong.
    shrinker.take(Trial { is_strict: false, ..shrinker.trial.clone() });
    loop {
        let before = shrinker.trial.source.len();
        shrinker.statements();
        let source = shrinker.trial.source.clone();
        without_lines(&source, &mut |source| shrinker.take_source(source));
        if !shrinker.trial.is_strict {
            shrinker.expressions();
        }
        if shrinker.trial.source.len() == before || shrinker.is_over() {
            return (shrinker.trial, shrinker.what);
        }
    }
}

struct Shrinker {
    trial: Trial,
    what: String,
    tries: usize,
    begin: Instant,
}

impl Shrinker {
    fn is_over(&self) -> bool {
        self.tries > MOST_TRIES || self.begin.elapsed() > LONGEST
    }

    fn take(&mut self, smaller: Trial) -> bool {
        self.tries += 1;
        if self.is_over() {
            return false;
        }
        match judged(&smaller) {
            Outcome::Wrong(what) => {
                (self.trial, self.what) = (smaller, what);
                true
            }
            _ => false,
        }
    }

    fn take_source(&mut self, source: String) -> bool {
        self.take(Trial { source, ..self.trial.clone() })
    }

    fn calls(&mut self) {
        for k in (0..self.trial.calls.len()).rev() {
            if self.trial.calls.len() > 1 {
                let mut smaller = self.trial.clone();
                smaller.calls.remove(k);
                self.take(smaller);
            }
        }
    }

    /// Leaves out statements, last ones first: a line, and those behind it that stand further in.
    fn statements(&mut self) {
        let indent = |line: &str| line.len() - line.trim_start().len();
        let mut at = self.trial.source.lines().count();
        while at > 0 && !self.is_over() {
            at -= 1;
            let lines: Vec<&str> = self.trial.source.lines().collect();
            let Some(line) = lines.get(at) else { continue };
            let inner = lines[at + 1..].iter().take_while(|inner| indent(inner) > indent(line)).count();
            let source = [&lines[..at], &lines[at + 1 + inner..]].concat().join("\n") + "\n";
            self.take_source(source);
        }
    }

    /// Puts something smaller in the place of each group in brackets, outer ones first.
    fn expressions(&mut self) {
        let mut k = 0;
        loop {
            let source = self.trial.source.clone();
            let all = tokens(&source);
            let mut places = groups(&all);
            places.sort_by_key(|place| (place.start, std::cmp::Reverse(place.end)));
            let Some(place) = places.get(k).cloned() else { return };
            if self.is_over() {
                return;
            }
            let inner = places.iter().filter(|inner| inner.start > place.start && inner.end < place.end);
            let inner = inner.map(|inner| all[inner.clone()].concat());
            let words = all[place.start + 1..place.end - 1].iter().map(|word| word.to_string());
            let words = words.filter(|word| word.starts_with(char::is_alphanumeric));
            let simple = SIMPLE.iter().map(|word| word.to_string());
            let candidates =
                simple.chain(without_parts(&all[place.clone()])).chain(words).chain(inner).take(40);
            let (before, after) = (all[..place.start].concat(), all[place.end..].concat());
            let mut found = false;
            for candidate in candidates {
                if candidate.len() < all[place.clone()].concat().len()
                    && self.take_source(format!("{before}{candidate}{after}"))
                {
                    found = true;
                    break;
                }
            }
            k += usize::from(!found);
        }
    }
}

/// A group with one less of its parts between commas, and without its beginning or end.
fn without_parts(group: &[&str]) -> Vec<String> {
    let mut depth = 0;
    let mut cuts = Vec::new();
    for (at, token) in group.iter().enumerate() {
        match *token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            "," if depth == 1 => cuts.push(at),
            _ => {}
        }
    }
    let mut found = Vec::new();
    let last = group.len() - 1;
    for k in 0..=cuts.len() {
        if cuts.is_empty() {
            break;
        }
        let start = if k == 0 { 1 } else { cuts[k - 1] };
        let end = match cuts.get(k) {
            Some(cut) if k == 0 => cut + 1,
            Some(cut) => *cut,
            None => last,
        };
        found.push([&group[..start], &group[end..]].concat().concat());
    }
    found
}
