//! GLSL text to SPIR-V words, by shaderc.

use crate::info::{Features, GpuError};
use crate::shader::Shader;
use rspirv::binary::Assemble;
use shaderc::{CompileOptions, Compiler, EnvVersion, OptimizationLevel, ShaderKind, SpirvVersion, TargetEnv};
use std::sync::OnceLock;

/// The words of a shader by way of its GLSL text, with the same execution modes as the direct route.
pub fn words(shader: &Shader, features: &Features) -> Result<Vec<u32>, GpuError> {
    words_of_text(&super::print::text(shader), features)
}

/// The words of a shader in text form, with the same execution modes.
pub fn words_of_text(text: &str, features: &Features) -> Result<Vec<u32>, GpuError> {
    let words = compile(text)?;
    let mut module = rspirv::dr::load_words(&words)
        .map_err(|e| GpuError::Driver { doing: "reading what shaderc made", why: e.to_string() })?;
    crate::spirv::modes::preserve(&mut module, features);
    Ok(module.assemble())
}

/// Compiles a compute shader with entry point `main`. Not optimised: the driver does that, and exact float
/// arithmetic is asked for by `precise` in the text.
pub fn compile(text: &str) -> Result<Vec<u32>, GpuError> {
    let failed = |why: String| GpuError::Driver { doing: "compiling GLSL by shaderc", why };
    // One compiler for the process: making one parses all of GLSL's built-in declarations.
    static COMPILER: OnceLock<Result<Compiler, String>> = OnceLock::new();
    let compiler = COMPILER.get_or_init(|| Compiler::new().map_err(|e| e.to_string()));
    let compiler = compiler.as_ref().map_err(|e| failed(e.clone()))?;
    let mut options = CompileOptions::new().map_err(|e| failed(e.to_string()))?;
    options.set_target_env(TargetEnv::Vulkan, EnvVersion::Vulkan1_1 as u32);
    options.set_target_spirv(SpirvVersion::V1_3);
    options.set_optimization_level(OptimizationLevel::Zero);
    let artifact = compiler
        .compile_into_spirv(text, ShaderKind::Compute, "kernel.comp", "main", Some(&options))
        .map_err(|e| failed(e.to_string()))?;
    Ok(artifact.as_binary().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiles_and_reports() {
        let text = "#version 450\nlayout(local_size_x = 1) in;\nvoid main() {}\n";
        assert_eq!(compile(text).expect("a valid shader")[0], 0x0723_0203);
        let error = compile("#version 450\nvoid main() { x = 1; }\n").expect_err("an invalid shader");
        assert!(error.to_string().contains("kernel.comp:2"), "{error}");
    }
}
