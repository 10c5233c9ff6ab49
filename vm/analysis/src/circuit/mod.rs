//! Short-circuiting: building an array in the place it will be copied to, so that nothing is copied.
//!
//! A *point* is a statement that copies an array for the last time: a concatenation, an update of a part, a copy, a
//! change of layout, or the end of a kernel's body, where a row becomes part of the result. The array there and all
//! that share its memory, back to where that is made, form a *web*. The web moves if its new places are known where
//! it is made, if nobody outside holds the block, and if no place it writes is used by another name of the block
//! between that write and the point.
//!
//! - `facts.rs`: where arrays come from, and what statements read and write of them. `arrays.rs`: their numbers, and sets
//!   of them. `part.rs`: what an index reaches. `moving.rs`: views over iteration variables. `position.rs`: what comes
//!   after what. `place.rs`: where arrays lie, who shares memory, last uses. `web.rs`: what moves together.
//!   `scene.rs`: arrays in their places so far. `conflict.rs`: the test of uses against writes. `apart.rs`: that test, dimension by
//!   dimension, where bounds depend on iteration variables. `price.rs`: what it saves and costs. `solve.rs`: every point of a
//!   region. `verdict.rs`: the outcome in text.
//!
//! Invariants: an array is moved only if all tests say yes; what is not known counts as a use of everything. Nothing
//! depends on the contents of arrays.

mod apart;
mod arrays;
mod conflict;
mod facts;
mod moving;
mod part;
mod place;
mod position;
mod price;
mod scene;
mod solve;
mod verdict;
mod web;

pub use arrays::Arrays;
pub use conflict::Witness;
pub use facts::{Array, Change, Event, Facts, Point, PointKind, Source};
pub use moving::{Along, Instance, Moving};
pub use part::{Part, Path, Touched};
pub use place::{Places, may_lie_in};
pub use position::{Axes, Bodies, BodyId, Inside, OUTERMOST, Orders, Position};
pub use solve::{Circuits, circuits, circuits_priced, circuits_within, unmoved};
pub use verdict::{Entry, Operand, Outcome, Overlap, Place, Reason};
