//! Values of the language, as programs outside see them: by type name, taken apart and put together.
//!
//! - `types.rs`: the types that a program's entry points mention, found from the text of their signatures, and of
//!   which values of the machine each consists. `declared.rs`: what the source calls them. `attributes.rs`: the attributes of entry points. `parts.rs`: records, sums and arrays made and read part by part.
//!
//! `random.rs`: random values. `show.rs`: values as text. `read.rs`: values from text.
//!
//! A value of the language is held as a list of values of the machine: an array of records as one array for each field.
//! Nothing here knows of a session.

mod attributes;
mod declared;
pub mod parts;
mod random;
mod read;
mod show;
mod types;

pub use attributes::{Attributes, attributes};
pub use random::Random;
pub use read::{is_whole, whole};
pub use show::{shown, type_text, write};
pub use types::{Constructor, EntryTypes, Shape, Slot, Type, Types, rank_of};
