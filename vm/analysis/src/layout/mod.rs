//! Layout analysis at run time: who reads what in which order, and what another layout would be worth.
//!
//! Facts: `table.rs`, `walk.rs`, `view.rs` (the index table), `value.rs` (what an index does when a variable takes a
//! step), `class.rs` (how lanes lie in memory), `order.rs` (what a nest asks for, and what speaks against it).

pub mod class;
pub mod order;
pub mod table;
pub mod value;
mod view;
mod walk;

pub use class::{Class, class, class_in, class_text};
pub use order::{Condition, Target, Wish, order_text, wish, wish_text};
pub use table::{ArrayInfo, Axis, Kind, Role, Row, Table};
pub use value::{Quality, Step, Value};
pub use walk::table;
