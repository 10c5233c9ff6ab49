//! What types do not say: who may be an entry point, and what is accepted but deserves a warning.
//!
//! - `entry.rs`: restrictions of entry points.
//! - `warnings.rs`: one walk over each definition that was accepted; `parts.rs` takes expressions apart for it.
//!
//! Invariant: nothing here changes what a program means; entry points add errors, all else adds warnings.

mod entry;
mod parts;
mod warnings;

pub use warnings::warnings;
