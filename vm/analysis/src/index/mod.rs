//! Where the accesses of a region go: what every analysis of indices starts from.
//!
//! - `binders.rs`: which statement binds a name. `path.rs`: views as composed indices of the arrays that they are views of.
//!   Both are facts about the text of a region, whatever its numbers are.
//! - `table.rs`: the index table, one row for each access at one launch; `walk.rs` builds it, `nested.rs` adds births of arrays
//!   of rows. `value.rs`: what an index does when a variable takes a step, how reliably, and the range it lies in.

mod binders;
mod nested;
pub mod path;
mod table;
mod value;
mod walk;

pub use binders::Binders;
pub use path::{Path, Paths};
pub use table::{ArrayInfo, Axis, DimIndex, Kind, Role, Row, Table};
pub use value::{Quality, Step, Value};
pub use walk::table;

pub(crate) use value::gcd;
