//! The kernel IR: what the analyses, the reference evaluator and both back ends share.
//!
//! - `ir.rs`: regions, statements, expressions. `walk.rs`: visiting them. `algebra.rs`: building expressions. `view.rs`: where
//!   indices go through views.
//! - `text/`: the text form (a superset of the grammar of the case files), printing and parsing.
//! - `types.rs`: filling in types that a text left out. `verify.rs`: what a back end may rely on.
//! - `observed.rs`, `machine.rs`: the numbers a decision is made with. `plan.rs`: the decision, as data. `kernel.rs`: what
//!   a decision and its execution have to see alike. `commute.rs`: whether the operands of an operator may be exchanged.
//!   `turns.rs`: loops whose turns can be computed side by side. `linear.rs`: how far two indices are apart. `borders.rs`: where
//!   rows differ from their neighbours. `sink.rs`: moving statements to where they are needed.
//! - `evaluate/`: slow, obvious execution that defines the meaning. `backend.rs`: the one door to code generators.
//!   `passed.rs`: the launch that was checked last.
//!
//! Invariants:
//! - Back ends are given [`VerifiedRegion`] and [`VerifiedPlan`] only, analyses [`CheckedRegion`]; all can be made in
//!   one way, by checking.
//! - A read outside its array and a division by zero are *traps*: a back end reports that one happened, the
//!   interpreter, run again, says which. Kernels are pure, so running again is always possible.
//! - Names are unique in a region; every variable is defined once, before its uses.
#![forbid(unsafe_code)]

pub mod algebra;
pub mod backend;
pub mod borders;
pub mod commute;
pub mod evaluate;
pub mod ir;
pub mod kernel;
pub mod linear;
pub mod machine;
pub mod name;
pub mod observed;
pub mod passed;
pub mod plan;
pub mod sink;
pub mod text;
pub mod turns;
pub mod types;
pub mod verify;
pub mod view;
pub mod walk;

pub use backend::{
    Argument, Backend, Buffer, CheckedLaunch, Compiled, Launch, LaunchError, Listing, Refusal, ResultView,
    RunError, Unit,
};
pub use evaluate::Reference;
pub use ir::*;
pub use machine::{Machine, Vectors};
pub use name::Name;
pub use observed::{Observed, ObservedParam};
pub use passed::{Kept, Passed};
pub use plan::{Claim, Decision, Plan, PlanLine, VerifiedPlan};
pub use text::ParseError;
pub use verify::{CheckedRegion, VerifiedRegion, VerifyError, check, verified_from_text, verify};
