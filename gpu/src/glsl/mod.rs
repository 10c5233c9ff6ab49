//! The GLSL route.

#[cfg(feature = "shaderc")]
pub mod compile;
