//! The direct route: SPIR-V words of our own.
//!
//! - `emit.rs`: shader to module. `modes.rs`: what both routes ask of the device's floats.
//! - `text.rs`: the text form, printed and parsed.

pub mod emit;
pub mod modes;
pub mod text;
