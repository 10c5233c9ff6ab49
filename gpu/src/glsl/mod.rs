//! The GLSL route: shader to text, and with the feature `shaderc` text to SPIR-V words.

#[cfg(feature = "shaderc")]
pub mod compile;
pub mod print;
