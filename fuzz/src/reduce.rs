//! The smallest script that still goes wrong: calls, lines of the program and settings are left out as long as anything is
//! wrong with the rest.

use crate::sessions::{self, Executor, Script};
use std::time::{Duration, Instant};

/// Scripts that are tried for one finding.
const MOST_TRIES: usize = 3000;

/// After this time no further one is tried.
const LONGEST: Duration = Duration::from_secs(240);

/// A smaller script, and what is wrong about it.
pub fn reduce(script: &Script, what: &str) -> (Script, String) {
    let mut reducer =
        Reducer { script: script.clone(), what: what.to_string(), tries: 0, begin: Instant::now() };
    // Something that was only seen once cannot be made smaller.
    while reducer.calls() | reducer.lines() | reducer.settings() {}
    (reducer.script, reducer.what)
}

struct Reducer {
    script: Script,
    what: String,
    tries: usize,
    begin: Instant,
}

impl Reducer {
    fn is_over(&self) -> bool {
        self.tries > MOST_TRIES || self.begin.elapsed() > LONGEST
    }

    /// Goes on with a script if it is wrong.
    fn take(&mut self, smaller: Script) -> bool {
        self.tries += 1;
        if self.is_over() {
            return false;
        }
        match sessions::replay(&smaller) {
            Some(what) => {
                (self.script, self.what) = (smaller, what);
                true
            }
            None => false,
        }
    }

    fn calls(&mut self) -> bool {
        let mut found = false;
        let mut k = self.script.calls.len();
        while k > 0 && !self.is_over() {
            k -= 1;
            let gives = sessions::results_of_calls(&self.script);
            if let Some(smaller) = self.script.without_call(k, &gives) {
                found |= self.take(smaller);
            }
        }
        found
    }

    fn lines(&mut self) -> bool {
        let source = self.script.source.clone();
        without_lines(&source, &mut |source| self.take(Script { source, ..self.script.clone() }))
    }

    fn settings(&mut self) -> bool {
        let mut found = false;
        let with = |script: &Script, executor| {
            let mut simpler = script.clone();
            simpler.setting.executor = executor;
            simpler
        };
        if self.script.setting.executor != Executor::Interpreter {
            let simpler = with(&self.script, Executor::Interpreter);
            found |= self.take(simpler);
        }
        for k in 0..self.script.calls.len() {
            if !self.script.calls[k].without.is_empty() {
                let mut simpler = self.script.clone();
                simpler.calls[k].without.clear();
                found |= self.take(simpler);
            }
        }
        if !self.script.setting.has_usual_limits() {
            let mut simpler = self.script.clone();
            simpler.setting = simpler.setting.with_usual_limits();
            found |= self.take(simpler);
        }
        if self.script.setting.small_caches {
            let mut simpler = self.script.clone();
            simpler.setting.small_caches = false;
            found |= self.take(simpler);
        }
        if self.script.setting.background {
            let mut simpler = self.script.clone();
            simpler.setting.background = false;
            found |= self.take(simpler);
        }
        for k in (0..self.script.setting.without.len()).rev() {
            let mut simpler = self.script.clone();
            simpler.setting.without.remove(k);
            found |= self.take(simpler);
        }
        found
    }
}

/// Leaves out runs of lines of a text, long ones first, as long as somebody takes the rest; true if some were.
pub fn without_lines(text: &str, take: &mut dyn FnMut(String) -> bool) -> bool {
    let mut lines: Vec<&str> = text.lines().collect();
    let mut found = false;
    let mut run = (lines.len() / 2).max(1);
    loop {
        let mut at = 0;
        while at < lines.len() {
            let end = lines.len().min(at + run);
            let rest = [&lines[..at], &lines[end..]].concat();
            match take(rest.join("\n") + "\n") {
                true => (lines, found) = (rest, true),
                false => at += run,
            }
        }
        if run == 1 {
            return found;
        }
        run /= 2;
    }
}
