//! What counts as the same element, and which instructions compute their results' elements.

use galopvm_base::scalar::Precision;
use galopvm_base::{Bits, ElemType, Scalar};
use galopvm_bytecode::field::Fields;
use galopvm_bytecode::{Function, Instr, Module, Operator, Role, not_on_arrays, not_on_scalars};
use galopvm_interp::Registers;

/// Floats of operators that may be re-associated, and of library functions, differ by less than this part of the greater one,
/// or of 1.
const TOLERANCE: f64 = 1e-3;

/// Whether two elements are the same: any NaN is every NaN.
pub(super) fn is_same(elem: ElemType, a: Bits, b: Bits) -> bool {
    (a ^ b) & elem.mask() == 0 || elem.is_float() && is_nan(elem, a) && is_nan(elem, b)
}

fn is_nan(elem: ElemType, bits: Bits) -> bool {
    Scalar::new(elem, bits).as_f64().is_nan()
}

/// An element for people.
pub(super) fn text(elem: ElemType, bits: Bits) -> String {
    Scalar::new(elem, bits & elem.mask()).plain()
}

/// Whether an element may be the other one where floats need not be the same bits: those that are close, and whatever a program
/// makes of such floats. `slack` is how far other roundings bring it.
pub(super) fn is_close(elem: ElemType, wanted: Bits, found: Bits, slack: f64) -> bool {
    if !elem.is_float() {
        return true;
    }
    let (a, b) = (Scalar::new(elem, wanted).as_f64(), Scalar::new(elem, found).as_f64());
    let is_near = (a - b).abs() <= slack.max(TOLERANCE * a.abs().max(b.abs()).max(1.0));
    is_near || a.is_nan() != b.is_nan() || a.is_infinite() || b.is_infinite()
}

/// Whether an instruction, or one in its blocks or callees, gives floats that tiers may have other bits for.
pub(super) fn is_inexact(module: &Module, code: &Function, instr: &Instr) -> bool {
    is_inexact_at(module, code, instr, 0)
}

fn is_inexact_at(module: &Module, code: &Function, instr: &Instr, depth: u32) -> bool {
    let is_float = |reg| code.regs[reg].elem.is_float();
    let fields = Fields::of(instr);
    let own = match instr {
        Instr::Op1 { op, ty, .. } | Instr::Op2 { op, ty, .. } | Instr::Op3 { op, ty, .. } => {
            ty.is_float() && op.info().precision == Precision::Library
        }
        Instr::Const { .. } | Instr::Convert { .. } => false,
        not_on_scalars!() => {
            let parts = instr.parts();
            let combines = parts.block(Role::Combine).or(parts.block(Role::Pass)).is_some();
            combines && fields.defs.iter().any(|def| is_float(def.0))
        }
    };
    let inside = |code: &Function, block| {
        code.blocks[block].code.iter().any(|instr| is_inexact_at(module, code, instr, depth + 1))
    };
    // Calls deeper than this are taken for inexact: recursion comes back to the same code.
    own || fields.blocks.iter().any(|block| inside(code, *block))
        || fields.functions.iter().any(|function| {
            let callee = &module.functions[*function];
            depth > 20 || inside(callee, galopvm_bytecode::module::BODY)
        })
}

/// Whether an instruction writes every element of its results, so that all must be right when it is done. What only moves
/// elements may have been left out for those that nobody will look at.
pub(super) fn computes(real: &Registers<'_>, instr: &Instr) -> bool {
    if let Some(operator) = instr.operator().filter(Operator::makes_rows) {
        let results = &real.code.blocks[operator.last_block()].results;
        return results.iter().all(|result| !real.is_array(result.reg));
    }
    match instr {
        Instr::Iota { .. } | Instr::Rotate { .. } | Instr::Filter { .. } | Instr::Partition { .. } => true,
        Instr::Replicate { value, .. } => !real.is_array(value.reg),
        Instr::Array { rank, .. } => *rank == 1,
        Instr::Dim { .. }
        | Instr::Equal { .. }
        | Instr::Index { .. }
        | Instr::Slice { .. }
        | Instr::Update { .. }
        | Instr::Permute { .. }
        | Instr::Reverse { .. }
        | Instr::Reshape { .. }
        | Instr::Concat { .. }
        | Instr::Copy { .. }
        | Instr::Manifest { .. }
        | Instr::FlatIndex { .. }
        | Instr::FlatUpdate { .. }
        | not_on_arrays!() => false,
    }
}
