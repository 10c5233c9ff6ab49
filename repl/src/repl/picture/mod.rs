//! Pictures: points of colour, where they are kept, and how they are written.
//!
//! - `raster.rs`: a picture in memory. `colour.rs`: colours, and numbers as colours. `digits.rs`: numbers as points.
//! - `png.rs`: the file format. `base64.rs`: bytes in texts. `characters.rs`: pictures of characters.

pub mod base64;
pub mod characters;
pub mod colour;
pub mod digits;
pub mod png;
mod raster;

pub use raster::Raster;
