//! The module language, elaborated away: what is left are definitions and what names mean.
//!
//! Invariants:
//! - A definition is checked when it is reached, in the frame of names it sees.
//! - A parametric module is checked once by itself, over an abstract argument; each application elaborates a fresh
//!   copy of its body, so that its types are new and its code is its own.
//! - What a module type hides is an abstract type: the checker does not look through it, the core does.

mod describe;
mod elaborate;
mod expression;
mod signature;

pub use elaborate::Elaborated;
