//! Kernel and plan to SPIR-V, run through Vulkan.
#![deny(unsafe_code)]

pub mod backend;
pub mod device;
pub mod glsl;
pub mod info;
pub mod lower;
pub mod memory;
mod residents;
pub mod shader;
pub mod spirv;
pub mod traffic;
mod trial;

pub use backend::{Route, Vulkan, listing};
pub use device::{Dispatch, Gpu, Pipeline, Shader, devices};
pub use info::{DeviceChoice, DeviceInfo, DeviceKind, Features, GpuError, Ieee, Limits};
pub use memory::Buffer;
pub use traffic::Traffic;
