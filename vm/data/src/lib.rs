//! Values, and Futhark's text and binary data formats and numpy's, read and written.
//!
//! - `input.rs`: where bytes come from. `reader.rs`: a sequence of values, all formats mixed; `elements.rs`: the elements
//!   of an array in the making. `writer.rs`: values as text and binary, byte for byte as Futhark's compiled programs
//!   and its `futhark dataset` write them. `npy.rs`: numpy's format. `form.rs`: tuples, records and sums as text.
//! - `value.rs`: a scalar or an array. `number.rs`: scalars from text; `numeral.rs`: scalars as text; `decimal.rs`: digits of floats.
//! - `random.rs`: values as `futhark dataset` makes them. `compare.rs`: values as `futhark datacmp` compares them.
//!
//! Reading can be directed by types, as programs read their arguments (`5` is then whatever is expected), or not, as
//! test blocks are read (`5` is an `i32`, and the first element fixes the type of an array).

#![forbid(unsafe_code)]

mod compare;
mod decimal;
mod elements;
mod form;
mod input;
mod npy;
mod number;
mod numeral;
mod random;
mod reader;
mod value;
mod writer;

pub use compare::{Difference, TOLERANCE, compare};
pub use form::write_form;
pub use input::Input;
pub use npy::write_npy;
pub use number::{Misfit, misfit};
pub use numeral::Style;
pub use random::{Bounds, random_value};
pub use reader::{DataError, Reader, read_values};
pub use value::Value;
pub use writer::{intact, value_text, write_binary, write_text, write_text_in};

#[cfg(test)]
mod tests;
