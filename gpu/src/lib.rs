//! Kernel and plan to SPIR-V, run through Vulkan.
#![deny(unsafe_code)]

pub mod backend;
pub mod device;
pub mod glsl;
pub mod info;
pub mod lower;
pub mod shader;
pub mod spirv;

pub use backend::{Route, Vulkan, listing};
pub use device::{Buffer, Dispatch, Gpu, Pipeline, Shader, devices};
pub use info::{DeviceChoice, DeviceInfo, DeviceKind, Features, GpuError, Limits};
