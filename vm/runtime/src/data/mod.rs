//! Futhark's text and binary data formats, read and written.
//!
//! - `reader.rs`: a sequence of values, text and binary mixed. `number.rs`: scalars as text, both ways.
//!   `writer.rs`: values as text and binary, byte for byte as Futhark's compiled programs write them.
//!
//! Reading can be directed by types, as programs read their arguments (`5` is then whatever is expected), or not, as
//! test blocks are read (`5` is an `i32`, and the first element fixes the type of an array).

mod number;
mod reader;
mod writer;

pub use reader::{DataError, Reader, read_values};
pub use writer::{value_text, write_binary, write_text};

#[cfg(test)]
mod tests;
