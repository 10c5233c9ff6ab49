//! What was decided in a run of a program, and why: for people, and for tools.
//!
//! - `collect.rs`: what was told of the run (`galopvm_tier::told`), kept (`kept.rs`) until it is over. `document.rs`: all of it as facts;
//!   `regions.rs` and `operators.rs` make them, with names from `names.rs`. `relaid.rs`: arrays that were given in other
//!   layouts. `fused.rs`: operators that run together.
//! - `words.rs`: verdicts in plain words. `text.rs`: the facts for people, `exact.rs` in the words of the analyses, which
//!   `glossary.rs` explains. `json.rs`: the facts for tools.
//! - `test_block.rs`: inputs from the test blocks of a program.
//!
//! Invariant: text and JSON are written from the same facts.
#![forbid(unsafe_code)]

mod collect;
mod document;
mod exact;
mod fused;
mod glossary;
mod json;
mod kept;
mod names;
mod operators;
mod regions;
mod relaid;
mod test_block;
mod text;
mod words;

pub use collect::{Collector, Heading};
pub use document::{
    Access, Applied, ArrayFact, Copying, Decision, Document, FusedFact, FusedPart, Kernel, Lane, LayoutCopy,
    OperatorPart, Part, Placed, PointOperand, Reason, RegionPart, ReuseFact, ReuseResult, Spot, WebEntry,
};
pub use galopvm_analysis::layout::{Costs, Target};
pub use glossary::{GLOSSARY, Words};
pub use relaid::RelaidFact;
pub use test_block::{TestInput, first_input};
pub use words::bytes;
