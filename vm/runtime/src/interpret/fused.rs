//! Operators that run together (`fused/`): at the place of the first one, all kernels of its group are launched. When it
//! comes to the others, their results are there.
//!
//! Invariant: either every kernel of a group has run, or none of its registers has a value yet. An operator runs with one
//! group at most.

use super::order::Execution;
use super::{Interpreter, Outcome, Registers};
use crate::coverage::Met;
use galopvm_bytecode::{BlockId, Instr, RegId, field::Fields};
use galopvm_store::array::Array;

/// An operator that has run already.
pub(crate) struct Done {
    /// How deep calls were nested.
    depth: usize,
    block: BlockId,
    index: usize,
}

impl<'a> Interpreter<'a> {
    /// Whether an operator has run already, together with an earlier one. What it uses up is given up.
    pub(super) fn is_done(
        &mut self,
        registers: &mut Registers<'a>,
        (block, index): (BlockId, usize),
        instr: &Instr,
    ) -> bool {
        let this = |done: &Done| self.is_here(done, block) && done.index == index;
        let Some(at) = self.done.iter().position(this) else { return false };
        self.done.swap_remove(at);
        registers.drop_all(&Fields::of(instr).operands);
        true
    }

    /// Whether an operator belongs to a block of the running call.
    fn is_here(&self, done: &Done, block: BlockId) -> bool {
        done.depth == self.depth && done.block == block
    }

    /// Runs the group that starts with an operator; false if there is none or it cannot run now.
    pub(super) fn run_group(&mut self, registers: &mut Registers<'a>, execution: Execution) -> Outcome<bool> {
        let Execution { block, index, site, .. } = execution;
        let Some(group) = self.tiers.group(site, registers) else { return Ok(false) };
        // Operators that ran with an earlier group do not run again.
        let ran = |done: &Done| self.is_here(done, block) && group.covered.contains(&done.index);
        if self.done.iter().any(ran) {
            return Ok(false);
        }
        let Some(shapes) = group.shapes(registers).filter(|_| group.admits(registers)) else {
            self.tiers.coverage.met(Met::FusionUnfit);
            return Ok(false);
        };
        if !group.pays(registers) {
            self.tiers.coverage.met(Met::FusionDear);
            return Ok(false);
        }
        let mut made: Vec<RegId> = Vec::new();
        for (k, step) in group.steps.iter().enumerate() {
            let Some(values) = self.tiers.run_step(execution, k, registers, self.memory)? else {
                self.tiers.coverage.met(Met::FusionFailed);
                made.iter().for_each(|reg| registers.forget(*reg));
                return Ok(false);
            };
            for (reg, value) in step.results.iter().zip(values) {
                registers.set_value(*reg, value);
                made.push(*reg);
            }
        }
        self.tiers.coverage.met(Met::FusionRan);
        self.tiers.coverage.add(Met::FusionUnmade, shapes.len() as u64);
        self.made_early(&made);
        for (reg, elem, shape) in shapes {
            registers.set_array(reg, Array::unmade(self.memory, elem, &shape));
        }
        let depth = self.depth;
        let others = group.covered.iter().filter(|other| **other != index);
        self.done.extend(others.map(|index| Done { depth, block, index: *index }));
        registers.drop_all(&Fields::of(&registers.code.blocks[block].code[index]).operands);
        Ok(true)
    }
}
