//! Modules whose results the language defines bit for bit, whoever executes them: operations give the same bits everywhere, and
//! rows are combined by an operation that may take them in any order, from its own neutral element.
//!
//! A damaged program may combine rows by anything, which gives results that depend on the order.

use galopvm_bytecode::{BlockId, Function, Instr, Module, Operand, RegId, Role};

/// Whether everybody has to compute the same.
pub fn is_defined(module: &Module) -> bool {
    module.functions.iter().all(|function| {
        function.blocks.iter().flat_map(|block| &block.code).all(|instr| is_fixed(function, instr))
    })
}

fn is_fixed(function: &Function, instr: &Instr) -> bool {
    let is_exact = match instr {
        Instr::Op1 { op, ty, .. } | Instr::Op2 { op, ty, .. } | Instr::Op3 { op, ty, .. } => op.is_exact(*ty),
        _ => true,
    };
    let parts = instr.parts();
    let mut blocks = parts.blocks.iter();
    is_exact
        && blocks
            .all(|(role, block)| role != Role::Combine || takes_any_order(function, block, parts.neutral))
}

/// Whether a block combines two scalars by one operation whose neutral element the operand is.
fn takes_any_order(function: &Function, block: BlockId, neutral: &[Operand]) -> bool {
    let block = &function.blocks[block];
    let ([Instr::Op2 { dst, op, ty, a, b }], [acc, item], [result], [neutral]) =
        (&block.code[..], &block.params[..], &block.results[..], neutral)
    else {
        return false;
    };
    let combines_both = [(a.reg, b.reg), (b.reg, a.reg)].contains(&(*acc, *item));
    let identity = op.info().identity.map(|identity| identity.of(*ty));
    let is_neutral = identity.is_some() && identity == constant(function, neutral.reg);
    result.reg == dst.0 && combines_both && op.order_free(*ty) && is_neutral
}

/// The value of a register that a constant defines.
fn constant(function: &Function, reg: RegId) -> Option<galopvm_base::Scalar> {
    let mut instrs = function.blocks.iter().flat_map(|block| &block.code);
    instrs.find_map(|instr| match instr {
        Instr::Const { dst, value } if dst.0 == reg => Some(*value),
        _ => None,
    })
}
