//! The back end as the rest of the machine sees it.

use crate::compiled::Native;
use crate::x86::{CpuMode, Isa};
use galopvm_kir::{Backend, Compiled, Refusal, Unit};
use std::sync::Arc;

/// What can be asked of the back end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// All tiers agree bit for bit on floats: no fused multiply-add, no re-association.
    pub strict_fp: bool,
}

/// Kernels to x86-64 machine code; on other processors it refuses everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct X86Backend {
    options: Options,
}

impl X86Backend {
    /// A back end.
    pub fn new(options: Options) -> X86Backend {
        X86Backend { options }
    }

    /// True if this build can make code for the machine it runs on.
    pub const fn is_available() -> bool {
        cfg!(all(target_arch = "x86_64", unix))
    }

    /// The greatest instruction set that the processor has.
    pub fn greatest_mode() -> CpuMode {
        Isa::of(CpuMode::Avx512).mode
    }
}

impl Backend for X86Backend {
    fn name(&self) -> &'static str {
        "x86"
    }

    fn compile(&self, unit: Unit<'_>) -> Result<Arc<dyn Compiled>, Refusal> {
        if !X86Backend::is_available() {
            return Err(Refusal::new("this processor is not an x86-64"));
        }
        let target = Box::new(Isa::of(CpuMode::of(unit.machine.vectors)));
        let plan = unit.plan.plan();
        let strict = self.options.strict_fp;
        let compiled = Native::new(unit.region, plan, unit.observed, unit.machine, target, strict)?;
        Ok(Arc::new(compiled))
    }
}
