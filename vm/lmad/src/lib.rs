//! The LMAD algebra: views of arrays, their classification and overlap.
//!
//! A view `o + {(n1:s1),..,(nq:sq)}` is an index function (index `i` reads place `o + sum i_k * s_k` of a block)
//! and, forgetting the order, a set of places. Changing the layout of an array changes only its view; this crate
//! has the changes, the normal forms, and the exact answers asked about views: bounds, density, injectivity,
//! the kind of copy between two of them, and whether two of them meet. `transfer` carries a copy out on bytes.
//!
//! Everything else is a pure function of numbers, counted in elements. Arithmetic saturates instead of wrapping: a
//! non-empty view with a saturated offset, or a saturated stride on an axis of more than one index, [fits](Lmad::fits)
//! in no block; and a change of a view that fits, within its index ranges, never saturates.

mod bitmap;
mod bounds;
mod change;
mod copy;
mod disjoint;
mod equation;
mod injective;
mod iterations;
mod lines;
mod normal;
mod places;
mod polynomial;
mod recognise;
mod reshape;
mod text;
mod transfer;
mod transpose;
mod union;
mod view;

#[cfg(test)]
mod random;

pub use copy::{CopyClass, CopyDim, CopyPlan, copy_class, copy_plan};
pub use disjoint::{Overlap, disjoint};
pub use equation::{Coupling, NODE_BUDGET, Solution, Term, solve, solve_coupled};
pub use iterations::{Iteration, Meeting, Order, meeting};
pub use places::Places;
pub use polynomial::Polynomial;
pub use recognise::{MapTranspose, map_transpose};
pub use text::ParseLmadError;
pub use transfer::{PIECE, transfer};
pub use union::{MOST_MEMBERS, Union};
pub use view::{Dim, Dims, Lmad};
