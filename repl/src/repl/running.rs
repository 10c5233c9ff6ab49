//! What an evaluation is at: the outermost operator or loop that runs, and how often it has come past the same place inside.
//!
//! The engine tells what begins and ends on the thread of the call; somebody else asks a few times a second. Telling must cost
//! next to nothing, so that only the two outermost levels are looked at.

use galopvm::{Doing, Moment, Site};
use galopvm_bytecode::{Instr, Module};
use galopvm_profile::Spot;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// What is known while the call runs.
#[derive(Default)]
pub struct Running {
    depth: AtomicU32,
    outermost: Mutex<Option<Site>>,
    /// The first thing that began inside of it, and how often it did.
    inside: AtomicU64,
    rounds: AtomicU64,
}

/// A site as one number, which is not 0.
fn packed(site: Site) -> u64 {
    let [function, block] = [site.function.0, site.block.0].map(u64::from);
    (function << 40 ^ block << 20 ^ site.index as u64) + 1
}

impl Running {
    /// Takes what the engine tells.
    pub fn hear(&self, moment: Moment) {
        match moment {
            Moment::Begins(doing) => match (self.depth.fetch_add(1, Relaxed), doing) {
                (0, Doing::Instruction(site)) => {
                    *self.outermost.lock().unwrap_or_else(PoisonError::into_inner) = Some(site);
                    self.inside.store(0, Relaxed);
                    self.rounds.store(0, Relaxed);
                }
                (1, Doing::Instruction(site)) => {
                    let site = packed(site);
                    let known = self.inside.compare_exchange(0, site, Relaxed, Relaxed);
                    if known.is_ok() || known == Err(site) {
                        self.rounds.fetch_add(1, Relaxed);
                    }
                }
                _ => {}
            },
            Moment::Ends => {
                self.depth.fetch_sub(1, Relaxed);
            }
            Moment::Interprets(_) => {}
        }
    }

    /// Forgets what an earlier call was at.
    pub fn begin(&self) {
        self.depth.store(0, Relaxed);
        *self.outermost.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// What a call of this program is at, in words; nothing if it has told of nothing.
    pub fn words(&self, module: &Module) -> Option<String> {
        let site = (*self.outermost.lock().unwrap_or_else(PoisonError::into_inner))?;
        let spot = Spot::of(module, site);
        let place = spot.place.as_ref().map_or_else(String::new, |place| format!(" at {place}"));
        let text = format!("{}{place}", spot.word);
        // The round that has begun is not done.
        let done = self.rounds.load(Relaxed).saturating_sub(1);
        Some(match turns(module, site) {
            Some(turns) if turns > 0 && done > 0 => {
                let share = 100 * done.min(turns) / turns;
                format!("{text}, turn {done} of {turns} ({share} %)")
            }
            _ if done > 0 => format!("{text}, turn {done}"),
            _ => text,
        })
    }
}

/// How many turns a loop takes or rows an operator goes over, if the program says it as a number.
fn turns(module: &Module, site: Site) -> Option<u64> {
    let function = module.functions.get(site.function)?;
    let instr = function.blocks.get(site.block)?.code.get(site.index)?;
    let wanted = match instr {
        Instr::For { bound, .. } => bound.reg,
        other => other.operator()?.width.reg,
    };
    let all = function.blocks.iter().flat_map(|block| &block.code);
    all.into_iter().find_map(|instr| match instr {
        Instr::Const { dst, value } if dst.0 == wanted => u64::try_from(value.as_i64()).ok(),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use galopvm::{BackendChoice, Engine, Program};
    use std::sync::Arc;

    #[test]
    fn turns_of_the_outermost_loop_are_counted() {
        let text = "entry main: []i64 = loop xs = iota 100 for i < 40 do filter (>= i) (scan (+) 0 xs)";
        let program = Program::from_source("turns.fut", text).expect(text);
        let running = Arc::new(Running::default());
        let listener = running.clone();
        let engine = Engine::builder().backend(BackendChoice::Interp);
        let engine = engine.moments(Arc::new(move |moment| listener.hear(moment))).build();
        let mut session = engine.session(&program);
        assert_eq!(running.words(program.module().module()), None);
        session.call_values("main", Vec::new()).expect("it runs");
        // As it was when the last turn had begun.
        let words = running.words(program.module().module());
        assert_eq!(words.as_deref(), Some("loop at turns.fut:1:21, turn 39 of 40 (97 %)"));
    }
}
