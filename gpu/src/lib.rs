//! Kernel and plan to SPIR-V, run through Vulkan.
