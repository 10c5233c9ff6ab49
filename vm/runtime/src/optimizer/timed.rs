//! Which instructions are told as moments (`told/moment.rs` in `vm/tier`): those that may take much longer than telling does.
//!
//! The time of all others belongs to what is around them.

use super::Optimizer;
use galopvm_bytecode::{BlockId, Instr, not_on_arrays, over_rows};
use galopvm_interp::{Registers, Site};
use galopvm_tier::Doing;

impl<'a> Optimizer<'a> {
    /// Tells that an instruction begins, if somebody listens and it may take long; says whether it did.
    pub(super) fn tells_of(
        &self,
        registers: &Registers<'a>,
        (block, index): (BlockId, usize),
        instr: &Instr,
    ) -> bool {
        let is_told = self.tiers.moments.are_heard() && may_take_long(registers, instr);
        if is_told {
            let site = Site { function: registers.function, block, index };
            self.tiers.moments.begins(Doing::Instruction(site));
        }
        is_told
    }
}

fn may_take_long(registers: &Registers<'_>, instr: &Instr) -> bool {
    match instr {
        over_rows!(Instr) | Instr::For { .. } | Instr::While { .. } | Instr::Call { .. } => true,
        Instr::Concat { .. }
        | Instr::Replicate { .. }
        | Instr::Iota { .. }
        | Instr::Copy { .. }
        | Instr::Manifest { .. }
        | Instr::Rotate { .. }
        | Instr::Equal { .. }
        | Instr::FlatUpdate { .. } => true,
        Instr::Update { value, .. } => registers.is_array(value.reg),
        Instr::Dim { .. }
        | Instr::Index { .. }
        | Instr::Slice { .. }
        | Instr::Permute { .. }
        | Instr::Reverse { .. }
        | Instr::Reshape { .. }
        | Instr::Array { .. }
        | Instr::FlatIndex { .. }
        | not_on_arrays!() => false,
    }
}
