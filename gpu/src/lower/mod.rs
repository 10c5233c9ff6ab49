//! Verified regions to shaders.
//!
//! - `program.rs`: a region as stages. `stage.rs`: the shapes of stages. `body.rs`: what one invocation does.
//!   `view.rs`: arrays inside a shader.
//! - `scalar.rs`, `integer.rs`, `float.rs`, `half.rs`, `convert.rs`, `math.rs`: scalar operations, exactly as
//!   `galopvm_base::scalar` defines them. `rounding.rs`: quotients and roots where the device's are not exact.
//!
//! Whatever is not lowered is a refusal with its reason.

pub mod body;
pub mod convert;
pub mod float;
pub mod half;
pub mod integer;
pub mod math;
pub mod program;
pub mod rounding;
pub mod scalar;
pub mod stage;
pub mod view;

#[cfg(test)]
mod tests;
