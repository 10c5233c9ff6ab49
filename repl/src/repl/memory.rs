//! `:mem`: the memory of values, of the whole session.

use super::{Repl, print};
use galopvm_explain::bytes;
use std::io;

impl Repl {
    /// Says how much memory values take, and took.
    pub(super) fn memory_in_use(&self) -> io::Result<()> {
        let figures = self.memory.stats();
        let text = |count: u64| bytes(i64::try_from(count).unwrap_or(i64::MAX));
        print(&format!(
            "values take {} now and took {} at most; {} are held for them",
            text(figures.live_bytes),
            text(figures.peak_bytes.max(self.most_memory)),
            text(figures.held_bytes)
        ))
    }

    /// What an evaluation takes is counted from here.
    pub(super) fn count_memory(&mut self) {
        self.most_memory = self.memory.restart_peak().max(self.most_memory);
    }

    /// The most memory of values since then.
    pub(super) fn counted_memory(&self) -> String {
        bytes(i64::try_from(self.memory.stats().peak_bytes).unwrap_or(i64::MAX))
    }
}
