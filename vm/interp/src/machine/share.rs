//! When the next value of something carried may be computed right where the old value is: no code that still runs in
//! that turn looks at the old one.

use galopvm_bytecode::{BlockId, Function, Instr, RegId, field::Fields, on_arrays};

/// Whether an instruction, or a block in it, mentions a register.
fn mentions(function: &Function, instr: &Instr, reg: RegId) -> bool {
    let fields = Fields::of(instr);
    fields.operands.iter().any(|operand| operand.reg == reg)
        || fields.blocks.iter().any(|block| block_mentions(function, *block, reg))
}

fn block_mentions(function: &Function, block: BlockId, reg: RegId) -> bool {
    let block = &function.blocks[block];
    block.results.iter().any(|operand| operand.reg == reg)
        || block.code.iter().any(|instr| mentions(function, instr, reg))
}

/// The position of the instruction of a block that computes a register into a slot of its own.
pub(super) fn defined_in_place(function: &Function, block: BlockId, reg: RegId) -> Option<usize> {
    let code = &function.blocks[block].code;
    let at = code.iter().position(|instr| Fields::of(instr).defs.iter().any(|def| def.0 == reg))?;
    // Constants and extents have slots that others see too.
    (!matches!(code[at], Instr::Const { .. } | Instr::Dim { .. })).then_some(at)
}

/// Whether result `k` of a block may be computed in the slot of a register that is live when the block starts.
pub(super) fn can_share(function: &Function, id: BlockId, old: RegId, k: usize) -> bool {
    let block = &function.blocks[id];
    let Some(at) = defined_in_place(function, id, block.results[k].reg) else { return false };
    let later = block.code[at + 1..].iter().any(|instr| mentions(function, instr, old));
    if later || block.results.iter().any(|operand| operand.reg == old) {
        return false;
    }
    let instr = &block.code[at];
    let position = |dsts: &[galopvm_bytecode::Def]| dsts.iter().position(|d| d.0 == block.results[k].reg);
    let only_initial = |dsts: &[galopvm_bytecode::Def], init: &[galopvm_bytecode::Operand]| {
        let position = position(dsts);
        let uses = Fields::of(instr).operands.iter().filter(|operand| operand.reg == old).count();
        let initial = position.is_some_and(|p| init[p].reg == old);
        uses == usize::from(initial)
            && Fields::of(instr).blocks.iter().all(|b| !block_mentions(function, *b, old))
    };
    match instr {
        // Results of branches are moved at their ends, or computed in place under the same condition.
        Instr::If { .. } => true,
        Instr::For { dsts, init, .. } | Instr::While { dsts, init, .. } => only_initial(dsts, init),
        Instr::Reduce { dsts, neutral, .. } | Instr::Redomap { dsts, neutral, .. } => {
            only_initial(dsts, neutral)
        }
        // Operands are read before the result is written.
        Instr::Const { .. }
        | Instr::Op1 { .. }
        | Instr::Op2 { .. }
        | Instr::Op3 { .. }
        | Instr::Convert { .. }
        | Instr::Call { .. }
        | Instr::Assert { .. }
        | Instr::Fail { .. }
        | Instr::Trace { .. }
        | Instr::Param { .. }
        | on_arrays!()
        | Instr::Map { .. }
        | Instr::Scan { .. }
        | Instr::Scatter { .. }
        | Instr::Hist { .. }
        | Instr::Filter { .. }
        | Instr::Partition { .. }
        | Instr::Stream { .. }
        | Instr::AccWrite { .. } => true,
    }
}
