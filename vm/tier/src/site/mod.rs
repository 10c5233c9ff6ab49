//! What a place of the program remembers, and what it may spend on finding out more.
//!
//! A *site* is a place of the program where a question can be put each time it runs: is there a plan for these numbers, does a
//! copy pay, does a group start here. An answer costs time, holds for equal numbers, and may be of no use. All sites follow one
//! machine, with the limits of a row of [`rules`]:
//!
//! ```text
//!             `cold` runs over       `free` answers made
//!     COLD ───────────────────▶ FREE ───────────────────▶ PAYING ◀─────▶ DEAR
//!                               │  ▲                      │  ▲    the time of answers is within
//!      `fruitless` answers of   │  │ the wait is over     │  │    `part` of the time that they
//!      no use, one after        ▼  │                      ▼  │    served, with two thresholds
//!      the other                WAITING ◀─────────────────┘  │
//!                               │  └─────────────────────────┘
//!                               └ twice as long each time, from `first_wait` to `longest_wait`;
//!                                 an answer that helps makes it start afresh
//!
//!     any ──(`failures` times an answer was wrong, or told so)──▶ GIVEN UP
//! ```
//!
//! In FREE and PAYING the question may be put. Tests put those of [`Answers`] whatever the state is (`Interpreter::eager`).
//!
//! - `asking.rs`: the machine. `rules.rs`: its limits, for each question. `memo.rs`: the answers that are known. `answers.rs`:
//!   both together.
//! - `trust.rs`: whether measurements bear out what was decided. `turnover.rs`: which of a few answers goes for another one.
//! - `script.rs`: all of them, driven by the scripts of `tests/golden/site/`.
//!
//! Invariants: nothing here looks at a clock: time comes in as a number. Time decides only whether something is found out, never
//! what is found out. A memo gives an answer only for the numbers that it was kept with.

mod answers;
mod asking;
mod memo;
pub mod rules;
#[cfg(test)]
mod script;
mod trust;
mod turnover;

pub use answers::{Answers, Found, Made};
pub use asking::Asking;
pub use memo::Memo;
pub use trust::Trust;
pub use turnover::{MOST_VERSIONS, Turnover};

use std::time::Duration;

/// A time as sites count it.
pub fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
