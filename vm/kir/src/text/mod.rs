//! The text form of regions, plans, observations and machines.
//!
//! A region in text is a header and statements; bodies end with `in`:
//! ```text
//! region row_sums (n : i64, m : i64, A : [n][m]f32)
//! let r : [n]f32 =
//!   kernel i < n do
//!     let s : f32 =
//!       red j < m do
//!         let x : f32 = A[i, j]
//!         in x
//!       by (a : f32 = 0.0f32) (b : f32) do
//!         in a + b
//!     in s
//! in r
//! ```
//! `scatter A i < n do .. in (at, value)` and `hist A i < n do .. in (at, value) by ..` write into `A`, or into `(A, B)`.
//! Without the header, names that nothing defines become parameters without a type; types may be left out
//! anywhere (`types::infer` fills them in); case files use both. Signs bind, loosest first: `||`, `&&`,
//! comparisons (which do not chain), `|`, `^`, `&`, shifts, `+ -`, `* / // % %%`, `**`, then the signs in front
//! `-` and `!`; all others associate to the left. Bounds of axes are written without operators looser than `+`.
//!
//! - `lex.rs`, `parse.rs`, `expression.rs`: reading. `print.rs`: writing. Every printed region parses back to
//!   itself (up to [`Region::renumbered`]).
//! - `env.rs`: what was observed, as case files write it. `plan.rs`, `machine.rs`: decisions and machines. `unit.rs`: all that a back
//!   end is given.

mod env;
mod expression;
mod lex;
mod machine;
mod parse;
mod plan;
mod print;
mod unit;

pub use env::{parse_env, print_observed};
pub use parse::{parse_region, parse_region_in};
pub use plan::{parse_plan, print_decision, print_plan};
pub use print::{print_exp, print_index_exp, print_region, print_statements, print_type};
pub use unit::print_unit;

use crate::ir::ArrayOp;
use galopvm_base::{ElemType, Pos};
use std::fmt;

/// What is wrong with a text, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// The place.
    pub pos: Pos,
    /// What is wrong, in one sentence.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.pos.line, self.pos.column, self.message)
    }
}

impl std::error::Error for ParseError {}

/// Words that are not names.
const WORDS: &[&str] = &[
    "let", "in", "kernel", "red", "scan", "by", "loop", "for", "while", "do", "if", "then", "else", "with",
    "manifest", "scatter", "hist", "region", "true", "false",
];

/// True if `text` can stand as a name in text form.
pub fn is_name(text: &str) -> bool {
    if !text.starts_with(lex::starts_name) || !text.chars().all(lex::continues_name) {
        return false;
    }
    // Words have no digits but those of types.
    if text.ends_with(|c: char| c.is_ascii_digit()) {
        return text.parse::<ElemType>().is_err();
    }
    !WORDS.contains(&text) && text.parse::<ElemType>().is_err() && !ArrayOp::WORDS.contains(&text)
}

/// The name closest to `text`.
pub fn as_name(text: &str) -> String {
    let mut name: String = text.chars().map(|c| if lex::continues_name(c) { c } else { '_' }).collect();
    if !name.starts_with(lex::starts_name) {
        name.insert(0, '_');
    }
    if !is_name(&name) {
        name.push('_');
    }
    name
}
