//! Operators that run together (`fused/`): at the place of the first one, all kernels of its group are launched. When it
//! comes to the others, their results are there.
//!
//! Invariant: either every kernel of a group has run, or none of its registers has a value yet. An operator runs with one
//! group at most.

use super::Optimizer;
use galopvm_bytecode::{BlockId, Instr, RegId, field::Fields};
use galopvm_interp::{Outcome, Registers};
use galopvm_store::array::Array;
use galopvm_tier::{Execution, Met};

/// An operator that has run already.
pub(crate) struct Done {
    /// How deep calls were nested.
    depth: usize,
    block: BlockId,
    index: usize,
    /// The site of the earlier one.
    first: u32,
}

impl<'a> Optimizer<'a> {
    /// The site of the operator together with which another one has run already, if it has. What it uses up is given up.
    pub(super) fn ran_with(
        &mut self,
        registers: &mut Registers<'a>,
        (block, index): (BlockId, usize),
        instr: &Instr,
    ) -> Option<u32> {
        let this = |done: &Done| is_here(done, registers, block) && done.index == index;
        let at = self.holding.done.iter().position(this)?;
        registers.drop_all(&Fields::of(instr).operands);
        Some(self.holding.done.swap_remove(at).first)
    }

    /// Whether an execution has happened already, together with an earlier operator; then it is left to be paid for.
    pub(super) fn is_done(
        &mut self,
        registers: &mut Registers<'a>,
        execution: Execution,
        instr: &Instr,
    ) -> bool {
        if self.holding.done.is_empty() {
            return false;
        }
        let Some(first) = self.ran_with(registers, execution.at(), instr) else { return false };
        if self.tiers.explainer.is_some() {
            let form = self.forms.form_of(registers, execution.at(), execution.width);
            self.tiers.tell_covered(execution, first, form);
        }
        self.tiers.ran_in_group(execution, first);
        true
    }

    /// Runs the group that starts with an operator; false if there is none or it cannot run now.
    pub(super) fn run_group(&mut self, registers: &mut Registers<'a>, execution: Execution) -> Outcome<bool> {
        let Execution { block, index, site, .. } = execution;
        let Some(group) = self.tiers.group(site, registers) else { return Ok(false) };
        // Operators that ran with an earlier group do not run again.
        let ran = |done: &Done| is_here(done, registers, block) && group.covered.contains(&done.index);
        if self.holding.done.iter().any(ran) {
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
        self.made_early(registers, &made);
        for (reg, elem, shape) in shapes {
            registers.set_array(reg, Array::unmade(self.memory, elem, &shape));
        }
        let depth = registers.depth;
        let others = group.covered.iter().filter(|other| **other != index);
        self.holding.done.extend(others.map(|index| Done { depth, block, index: *index, first: site }));
        self.tiers.ran_in_group(execution, site);
        registers.drop_all(&Fields::of(&registers.code.blocks[block].code[index]).operands);
        Ok(true)
    }
}

/// Whether an operator belongs to a block of the running call.
fn is_here(done: &Done, registers: &Registers<'_>, block: BlockId) -> bool {
    done.depth == registers.depth && done.block == block
}
