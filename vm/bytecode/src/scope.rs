//! A piece of a function that runs as a whole.

use crate::BlockId;

/// A piece of a function that runs as a whole, from registers that have their values to results.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Scope {
    /// The body of a function whose parameters have their values.
    Function,
    /// A loop whose initial values are in their registers.
    Loop {
        /// The block of the loop's instruction.
        block: BlockId,
        /// The number of the instruction in its block.
        index: usize,
    },
    /// A round of a loop whose counter and carried values are in their registers.
    Round {
        /// The body of the loop.
        body: BlockId,
    },
}
