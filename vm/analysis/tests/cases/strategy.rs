//! Strategies: restriction triples, their combination, the choice in a kernel and over a sequence of kernels.

use crate::case::{Case, Outcome, Section};

/// What this group takes.
pub const LINES: &[(&str, usize)] = &[];

/// Takes nothing yet.
pub fn run(section: &Section, _case: &Case) -> Outcome {
    Outcome::not_mine(section)
}
