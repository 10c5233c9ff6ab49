//! The back end as the rest of the machine sees it.

use crate::compiled::Native;
use crate::x86::{CpuMode, Isa};
use galopvm_base::scalar::{Precision, steps_of};
use galopvm_base::{ElemType, ScalarOp};
use galopvm_kir::{Backend, Body, Compiled, Exp, Refusal, Rhs, Unit};
use std::sync::Arc;

/// What can be asked of the back end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// All tiers agree bit for bit on floats: no fused multiply-add, no re-association.
    pub strict_fp: bool,
    /// Kernels that mostly compute library functions which are not done in registers here are left to a back end that does
    /// them for many rows at a time.
    pub leaves_functions: bool,
}

/// Other operations that take about as long as a library function that is computed for one row after the other.
const WORTH_A_FUNCTION: usize = 32;

/// Threads that make up for that.
const MANY_THREADS: usize = 16;

/// Machine code that was placed in memory.
#[derive(Clone, Copy, Debug)]
pub struct Installed<'a> {
    /// The unit that it was made for ([`Unit::name`]).
    pub name: &'a str,
    /// Which of the forms of that it is.
    pub form: &'a str,
    /// Where it begins.
    pub address: usize,
    /// How many bytes it has.
    pub bytes: usize,
}

/// Receives all code that is placed in memory, on whatever thread makes it. Where code was given up, other code may come.
pub type InstalledSink = Arc<dyn Fn(&Installed<'_>) + Send + Sync>;

/// Kernels to x86-64 machine code; on other processors it refuses everything.
#[derive(Clone, Default)]
pub struct X86Backend {
    options: Options,
    installed: Option<InstalledSink>,
}

impl X86Backend {
    /// A back end.
    pub fn new(options: Options) -> X86Backend {
        X86Backend { options, installed: None }
    }

    /// The same, telling of all code that it makes.
    pub fn telling(self, installed: Option<InstalledSink>) -> X86Backend {
        X86Backend { installed, ..self }
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
        if self.options.leaves_functions
            && unit.machine.threads < MANY_THREADS
            && is_mostly_functions(&unit.region.region().body)
        {
            return Err(Refusal::new("it is mostly library functions that are not done in registers here"));
        }
        let target = Box::new(Isa::of(CpuMode::of(unit.machine.vectors)));
        let strict = self.options.strict_fp;
        let told = self.installed.clone().map(|sink| (unit.name.to_string(), sink));
        let compiled = Native::new(unit, target, strict, told)?;
        Ok(Arc::new(compiled))
    }
}

/// Whether an operation on floats takes a call for each row.
fn is_helped(op: ScalarOp, ty: ElemType) -> bool {
    ty.is_float() && op.info().precision == Precision::Library && steps_of(op, ty).is_none()
}

/// Whether library functions that the helper computes are most of what a kernel takes, and rows take their steps together.
fn is_mostly_functions(body: &Body) -> bool {
    let (mut functions, mut others, mut is_alike) = (0, 0, true);
    body.visit_stms(&mut |stm| is_alike &= !matches!(stm.rhs, Rhs::While { .. }));
    body.visit_exps(&mut |exp| {
        exp.visit(&mut |part| match part {
            Exp::Op(op, ty, _) if is_helped(*op, *ty) => functions += 1,
            Exp::Const(_) | Exp::Var(_) => {}
            _ => others += 1,
        });
    });
    is_alike && functions > 0 && functions * WORTH_A_FUNCTION >= others
}
