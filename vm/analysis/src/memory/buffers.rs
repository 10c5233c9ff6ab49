//! The blocks of a loop whose result is made anew in each round and cannot be built in the place of its input.
//!
//! Counts of references and a list of one free block for the loop are enough to use two blocks in turn: at the end of
//! a round nobody holds the old value, so its block is there for the next round but one.

use std::fmt;

/// What a loop takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoopBlocks {
    /// Blocks if every round makes one, the first value's included.
    pub without: u64,
    /// Blocks with a free list of one, if somebody else keeps the first value.
    pub kept: u64,
    /// The same if nobody does.
    pub handed_over: u64,
    /// Which of the loop's own blocks each of the first rounds writes, if somebody keeps the first value.
    pub turns: Vec<usize>,
}

/// The blocks of a loop of so many rounds.
pub fn loop_blocks(rounds: u64) -> LoopBlocks {
    let (kept, turns) = run(rounds, true);
    let (handed_over, _) = run(rounds, false);
    LoopBlocks { without: rounds.saturating_add(1), kept, handed_over, turns }
}

/// Executes the first rounds (after a few, they repeat) with counts and the free list; block 0 is the first value's.
fn run(rounds: u64, kept: bool) -> (u64, Vec<usize>) {
    let mut blocks = 1usize;
    let (mut current, mut free) = (0usize, None);
    let mut turns = Vec::new();
    for _ in 0..rounds.min(64) {
        let next = free.take().unwrap_or_else(|| {
            blocks += 1;
            blocks - 1
        });
        turns.push(next - usize::from(kept));
        // The old value's count falls to 0, unless it is the first one and somebody keeps it.
        if current != 0 || !kept {
            free = Some(current);
        }
        current = next;
    }
    (blocks as u64, turns)
}

impl LoopBlocks {
    /// The number of blocks after which the turns repeat, if each round takes the next one.
    pub fn period(&self) -> Option<usize> {
        let period = self.turns.iter().copied().max()? + 1;
        self.turns.iter().enumerate().all(|(t, block)| *block == t % period).then_some(period)
    }
}

impl fmt::Display for LoopBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "blocks without : {}", self.without)?;
        writeln!(f, "with : {} (x0 kept alive by the caller)", self.kept)?;
        writeln!(f, "with x0 rc 1 and last use : {}", self.handed_over)?;
        if let Some(period) = self.period() {
            writeln!(f, "block of iteration t : t % {period}")?;
        }
        Ok(())
    }
}
