//! The versions of the code of one place, as a machine that steps with each run.

use super::signature::{Guard, Signature};

/// Most versions beside the generic one.
pub const MOST_VERSIONS: usize = 4;

/// Runs in the interpreter before anything is compiled.
const COLD_RUNS: u64 = 2;

/// Element operations from which on compiling never waits.
const LARGE_WORK: u64 = 10_000_000;

/// Misses with one signature before a version is compiled for it.
pub const MISSES: u32 = 8;

/// Runs that the share of misses is taken of.
const WINDOW: usize = 32;

/// Runs without use before a version may be given up.
pub const UNUSED_RUNS: u64 = 64;

/// Runs without a miss after which the site starts afresh with its patience.
pub const QUIET_RUNS: u64 = 256;

/// The work of a run, as far as it is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Work {
    /// Element operations.
    pub operations: u64,
    /// Nanoseconds that compiled code is expected to save in a run.
    pub saved: u64,
    /// Nanoseconds that compiling is expected to take.
    pub compiling: u64,
}

/// What a run does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// It is interpreted and observed.
    Interpret,
    /// A version is compiled and runs; the generic one is compiled with the first.
    Compile {
        /// Its number, from 1.
        version: u32,
    },
    /// A version whose guard holds runs.
    Run {
        /// Its number.
        version: u32,
    },
    /// No guard holds: the generic version runs.
    Generic {
        /// How many runs with this signature missed since a version was last made for one.
        miss: u32,
        /// The version that is compiled after the run.
        compile: Option<u32>,
    },
}

#[derive(Clone, Debug)]
struct Version {
    number: u32,
    guard: Guard,
    used: u64,
}

/// Signatures whose misses are counted; the oldest is forgotten for a new one.
pub const MOST_COUNTED: usize = 64;

/// A place in a program that has compiled code.
#[derive(Clone, Debug)]
pub struct Site {
    runs: u64,
    /// The most specific first; of equally specific ones the older.
    versions: Vec<Version>,
    made: u32,
    misses: Vec<(Signature, u32)>,
    /// The last runs: the signature that missed, if one did.
    window: Vec<Option<Signature>>,
    /// How many misses make a version; doubled when one had to be given up for another.
    patience: u32,
    last_miss: u64,
}

impl Default for Site {
    fn default() -> Site {
        Site {
            runs: 0,
            versions: Vec::new(),
            made: 0,
            misses: Vec::new(),
            window: Vec::new(),
            patience: MISSES,
            last_miss: 0,
        }
    }
}

impl Site {
    /// The numbers and guards of the versions, in the order in which they are tried.
    pub fn versions(&self) -> impl Iterator<Item = (u32, &Guard)> {
        self.versions.iter().map(|version| (version.number, &version.guard))
    }

    /// A run: what it does. `guard` is that of a version compiled for this signature.
    pub fn run(&mut self, signature: &Signature, guard: &Guard, work: Work) -> Step {
        self.runs += 1;
        let run = self.runs;
        if run.saturating_sub(self.last_miss) > QUIET_RUNS {
            self.patience = MISSES;
        }
        if self.versions.is_empty() {
            let pays = work.saved.saturating_mul(8) > work.compiling;
            let large = work.operations >= LARGE_WORK;
            if !large && (run <= COLD_RUNS || !pays) {
                return Step::Interpret;
            }
            let version = self.compile(guard.clone());
            return Step::Compile { version };
        }
        if let Some(version) = self.versions.iter_mut().find(|version| version.guard.holds(signature)) {
            version.used = run;
            let version = version.number;
            self.note(None);
            return Step::Run { version };
        }
        self.note(Some(signature.clone()));
        self.last_miss = run;
        let miss = match self.misses.iter_mut().find(|(known, _)| known == signature) {
            Some((_, count)) => {
                *count = count.saturating_add(1);
                *count
            }
            None => {
                if self.misses.len() == MOST_COUNTED {
                    self.misses.remove(0);
                }
                self.misses.push((signature.clone(), 1));
                1
            }
        };
        let recent = self.window.iter().filter(|missed| missed.as_ref() == Some(signature)).count();
        let often = recent * 4 > WINDOW && miss >= self.patience.min(MISSES);
        let compile = (miss >= self.patience || often).then(|| self.replace(guard.clone())).flatten();
        if compile.is_some() {
            self.misses.retain(|(known, _)| known != signature);
        }
        Step::Generic { miss, compile }
    }

    fn note(&mut self, missed: Option<Signature>) {
        if self.window.len() == WINDOW {
            self.window.remove(0);
        }
        self.window.push(missed);
    }

    /// A new version, if there is room or one that nobody used for long.
    fn replace(&mut self, guard: Guard) -> Option<u32> {
        if self.versions.len() >= MOST_VERSIONS {
            let (at, oldest) = self.versions.iter().enumerate().min_by_key(|(_, version)| version.used)?;
            if self.runs.saturating_sub(oldest.used) <= UNUSED_RUNS {
                return None;
            }
            self.versions.remove(at);
            self.patience = self.patience.saturating_mul(2);
        }
        Some(self.compile(guard))
    }

    fn compile(&mut self, guard: Guard) -> u32 {
        self.made += 1;
        self.versions.push(Version { number: self.made, guard, used: self.runs });
        self.versions.sort_by_key(|version| (std::cmp::Reverse(version.guard.specificity()), version.number));
        self.made
    }
}
