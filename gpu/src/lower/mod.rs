//! Kernels to shaders.

pub mod convert;
pub mod float;
pub mod half;
pub mod integer;
pub mod math;
pub mod scalar;

#[cfg(test)]
mod tests;
