//! Lifting a parallel operator of the bytecode, or a loop, to a region of kernel IR.
//!
//! A lift looks at code only, never at values: its result holds for every launch. It is a symbolic execution of
//! the operator's block. Scalars become statements; arrays stay formulas (`value.rs`) whose elements are spelled
//! out where they are used (`element.rs`), so views, `iota`, `replicate` and literals vanish. Operators become statements
//! (`operator.rs`), and so do writes at computed places (`scatter.rs`). An operator inside that feeds another one is put into
//! it by the fusion of regions (`vm/analysis/src/fusion/`), as it is between operators of a block. Whatever cannot be said in
//! the IR is refused with its name.
//!
//! Invariants:
//! - Whatever traps in the bytecode traps in the region: by a checked read, or by a division by zero where no
//!   read asks the same question. A region may trap more often (a strict check); the interpreter, run again, decides.
//! - Conditions on sizes are not asked inside: equal extents share a parameter (a launch checks shapes), the others
//!   are guards of the launch. A launch that they refuse is the interpreter's.

mod block;
mod build;
mod element;
mod literal;
mod operator;
mod scatter;
mod sequence;
mod tidy;
mod uses;
mod value;

pub use sequence::{Sequence, lift_sequence};

use build::Lifter;
use galopvm_base::Scalar;
use galopvm_bytecode::{BlockId, Def, FuncId, Instr, RegId, Role, VerifiedModule};
use galopvm_kir::types::scalar_value;
use galopvm_kir::{Exp, VarId, VerifiedRegion};
use std::fmt;
use value::Value;

/// What a parameter of a lifted region is given at launch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Binding {
    /// The value of a scalar register.
    Scalar(RegId),
    /// An extent of the array in a register, as `i64`.
    Extent {
        /// The register of the array.
        array: RegId,
        /// Which dimension.
        dim: u32,
    },
    /// The array in a register.
    Array(RegId),
}

/// A lifted operator.
#[derive(Clone, Debug)]
pub struct Lifted {
    /// The code. Its results are the instruction's results, in order; where rows are chosen, what the block answers for each.
    pub region: VerifiedRegion,
    /// One for each parameter of the region.
    pub bindings: Vec<Binding>,
    /// Conditions over the region's parameters. A launch that breaks one is not the region's: some check of the
    /// bytecode fails there, or may fail. See [`Lifted::admits`].
    pub guards: Vec<Exp>,
}

impl Lifted {
    /// True if a launch with these scalars satisfies the guards. (Shapes are checked by `Launch::check`.)
    pub fn admits(&self, scalar: &dyn Fn(VarId) -> Option<Scalar>) -> bool {
        self.guards.iter().all(|guard| scalar_value(guard, scalar) == Some(Scalar::bool(true)))
    }
}

/// Why an instruction has no region.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LiftRefusal {
    /// The construct that stands in the way.
    pub reason: String,
}

impl LiftRefusal {
    /// A refusal for this reason.
    pub fn new(reason: impl Into<String>) -> LiftRefusal {
        LiftRefusal { reason: reason.into() }
    }
}

impl fmt::Display for LiftRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

fn refuse<T>(reason: impl Into<String>) -> Result<T, LiftRefusal> {
    Err(LiftRefusal::new(reason))
}

/// Lifts the parallel operator or the loop at one place of a module.
pub fn lift(
    module: &VerifiedModule,
    function: FuncId,
    block: BlockId,
    index: usize,
) -> Result<Lifted, LiftRefusal> {
    let module = module.module();
    let code = module.functions.get(function).and_then(|f| f.blocks.get(block));
    let instr =
        code.and_then(|b| b.code.get(index)).ok_or_else(|| LiftRefusal::new("no instruction there"))?;
    let mut lifter = Lifter::new(module, function);
    lifter.burn()?;
    let is_loop = matches!(instr, Instr::For { .. } | Instr::While { .. });
    if !instr.has_kernel() && !is_loop {
        return refuse(format!("`{}` is neither a parallel operator nor a loop", instr.row().mnemonic));
    }
    let dsts = instr.parts().dsts;
    let made: Vec<Value> = match instr.gives() {
        Some(Role::Chosen) => lifter.lift_answers(instr)?.into_iter().map(Value::Array).collect(),
        _ => {
            lifter.lift_instr(instr)?;
            let of = |dst: &Def| lifter.env.get(&dst.0).cloned();
            let made: Option<_> = dsts.iter().map(of).collect();
            made.ok_or_else(|| LiftRefusal::new("a result that nothing defines"))?
        }
    };
    let mut results = Vec::new();
    for value in made {
        results.push(match value {
            Value::Scalar(exp) => exp,
            Value::Array(array) => match array.as_name() {
                Some(var) => Exp::Var(var),
                None => return refuse("a result without a name"),
            },
        });
    }
    let name = format!("{}_{}", instr.row().mnemonic, dsts.first().map_or(0, |d| d.0.0));
    let lifted = lifter.finish(name, results)?;
    if is_loop { lifted.with_cells() } else { Ok(lifted) }
}
