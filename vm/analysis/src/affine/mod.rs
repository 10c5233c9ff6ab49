//! Index arithmetic that is affine in iteration variables, and the sets of places it reaches.
//!
//! - `form.rs`: `c0 + c1*i + c2*j`. `atom.rs`: comparisons and congruences of such forms.
//! - `scope.rs`: from expressions to forms, and from conditions to alternatives of atoms, with observed numbers.
//! - `space.rs`: iterations under atoms, and their image as a union of views.
//!
//! Invariant: forms are computed over the whole numbers. An operation whose result may leave its type has no form.

mod atom;
mod form;
mod scope;
mod space;

pub use atom::Atom;
pub(crate) use atom::conjunction_text;
pub use form::Form;
pub(crate) use scope::product;
pub use scope::{Alternative, Piece, Scope};
pub use space::{Image, Range, Space, Steps};

/// Most alternatives that a condition or a path is split into; more than that is an unknown condition.
pub const MOST_PIECES: usize = 64;
