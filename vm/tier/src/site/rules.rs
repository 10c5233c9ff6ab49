//! The limits of all questions and answers, and the sizes of all memos, side by side.

/// The limits of a question: see the drawing in `site/mod.rs`.
#[derive(Debug)]
pub struct Rules {
    /// Runs of the site before the first question.
    pub cold: u64,
    /// Answers that are made without asking whether they pay.
    pub free: u32,
    /// After those, all answers together take at most this part of the time that they served.
    pub part: u64,
    /// Answers of no use, one after the other, before the site waits.
    pub fruitless: u32,
    /// The runs after the last of them in which the question is put again, at first and at most.
    pub first_wait: u64,
    /// Runs of the longest wait.
    pub longest_wait: u64,
    /// Failures of what was answered before the site is given up.
    pub failures: u32,
}

/// More than is ever counted.
const NEVER: u32 = u32::MAX;

/// A question that may be put in every run.
const ALWAYS: Rules = Rules {
    cold: 0,
    free: NEVER,
    part: 1,
    fruitless: NEVER,
    first_wait: 0,
    longest_wait: 0,
    failures: NEVER,
};

/// Where arrays are made in a function, loop or round that copies some into others.
pub const PLANS: Rules =
    Rules { free: 64, part: 6, fruitless: 8, first_wait: 64, longest_wait: 1 << 20, ..ALWAYS };

/// The same where there is nothing to gain but fewer blocks.
pub const MERGES: Rules = Rules { cold: 2, free: 4, ..PLANS };

/// Layouts for all operators of a function or loop.
pub const ADVICE: Rules = Rules { cold: 2, free: 0, ..PLANS };

/// Layouts for one operator.
pub const LAYOUTS: Rules = Rules { free: 8, part: 8, ..ALWAYS };

/// Whether a result may be written over an array that dies.
pub const REUSE: Rules = Rules { fruitless: 1, first_wait: 2, longest_wait: 1 << 10, ..ALWAYS };

/// Whether the checker proves a decision, where the last ones were too large for a brief check.
pub const CHECKS: Rules = REUSE;

/// Whether an operator starts a group; a failure is a launch of its kernels that did not come off.
pub const GROUPS: Rules = Rules { failures: 3, ..ALWAYS };

/// Whether compiled code runs an operator; a failure is a trap that the interpreter does not confirm.
pub const CODE: Rules = Rules { failures: 3, ..ALWAYS };

/// Runs of a plan in which nobody asked for a place before it is not used any more.
pub const IDLE_RUNS: u32 = 2;

/// Runs of a plan that a limit cut short before it is made once more.
pub const OFTEN: u32 = 16;

/// How much longer that may take.
pub const HARDER: u64 = 10;

/// Words of numbers and places that the plans of one site take at most.
pub const PLAN_WORDS: usize = 1 << 17;

/// Launches of one operator whose version is known.
pub const MOST_LAUNCHES: usize = 4;

/// Kinds of parts of one operator that there are kernels for.
pub const MOST_KINDS: usize = 16;

/// Launches of one operator whose answer about reuse is known.
pub const MOST_REUSE: usize = 1;

/// Numbers of one function or loop that advice is kept for.
pub const MOST_ADVICE: usize = 64;

/// Layouts of its arrays that an operator's wishes are kept for.
pub const MOST_LAYOUTS: usize = 8;
