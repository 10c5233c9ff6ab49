//! Where the running program stops for its shadow (`shadow/`), which executes it a second time and compares.
//!
//! Branches, loops and calls that are executed block by block take the shadow along; every other instruction is a step of
//! its own, and whatever runs inside it is not looked at.
//!
//! Where operators of a block run together (`fused.rs`), the later ones have read and written before the code comes to them. While
//! some of them are still ahead, what lies in memory is nothing that the code in between says, and is not compared.

use super::Optimizer;
use crate::shadow::Foreseen;
use galopvm_bytecode::{BlockId, FuncId, Instr, Operand, RegId, module::BODY};
use galopvm_interp::{Outcome, Registers};
use galopvm_store::error::{ErrorKind, Trap};

/// What becomes of an instruction.
#[derive(Default)]
pub(super) enum Beside {
    /// The shadow is not there, or goes along.
    #[default]
    Along,
    /// It has executed it.
    Before(Foreseen),
}

/// The error of a call in which something is wrong with the machine.
fn defect(what: &str) -> Trap {
    Trap::of_kind(ErrorKind::Defect, format!("A defect of galopvm, found by checking: {what}"))
}

impl<'a> Optimizer<'a> {
    fn is_shadowed(&self) -> bool {
        self.shadow.as_ref().is_some_and(|shadow| shadow.is_beside())
    }

    /// Lets the shadow execute an instruction that is about to run, unless it goes along with its blocks.
    pub(super) fn shadow_before(
        &mut self,
        registers: &Registers<'a>,
        (block, index): (BlockId, usize),
        instr: &Instr,
    ) -> Beside {
        if !self.is_shadowed() {
            return Beside::Along;
        }
        let goes_along = match instr {
            Instr::If { .. } => true,
            Instr::For { .. } | Instr::While { .. } => self.forms.unit(registers, block, index).is_none(),
            // A group may have executed it already.
            Instr::Call { .. } => self.holding.done.is_empty(),
            _ => false,
        };
        if goes_along {
            return Beside::Along;
        }
        let (module, is_alone) = (self.module, self.holding.done.is_empty());
        let reorders = self.tiers.has_backends();
        match &mut self.shadow {
            Some(shadow) => {
                let foreseen = shadow.foresees(module, registers, instr, is_alone, reorders);
                shadow.set_inside(true);
                Beside::Before(foreseen)
            }
            None => Beside::Along,
        }
    }

    /// Compares what an instruction did with what the shadow did.
    pub(super) fn shadow_after(
        &mut self,
        registers: &Registers<'a>,
        instr: &Instr,
        beside: Beside,
        outcome: Outcome<()>,
    ) -> Outcome<()> {
        let (Beside::Before(foreseen), Some(shadow)) = (beside, &mut self.shadow) else { return outcome };
        shadow.set_inside(false);
        match outcome {
            Ok(()) => shadow
                .compares(self.module, registers, instr, foreseen, self.holding.done.is_empty())
                .map_err(|what| defect(&what).into()),
            Err(error) if error.kind == ErrorKind::Program => match shadow.fails(foreseen) {
                Some(what) => Err(defect(&format!("{what} ({})", error.message)).into()),
                None => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    /// Registers get the values of operands.
    pub(super) fn shadow_moves(&mut self, from: &[Operand], to: impl IntoIterator<Item = RegId>) {
        if let Some(shadow) = self.shadow.as_mut().filter(|shadow| shadow.is_beside()) {
            shadow.moves(from, to);
        }
    }

    /// A loop's counter gets a number.
    pub(super) fn shadow_counts(&mut self, counter: RegId, number: i64) {
        if let Some(shadow) = self.shadow.as_mut().filter(|shadow| shadow.is_beside()) {
            shadow.counts(counter, number);
        }
    }

    /// A call begins.
    pub(super) fn shadow_enters(&mut self, function: FuncId, args: &[Operand]) {
        if let Some(shadow) = self.shadow.as_mut().filter(|shadow| shadow.is_beside()) {
            shadow.enters(&self.module.functions[function], args);
        }
    }

    /// A call ends.
    pub(super) fn shadow_leaves(&mut self, function: FuncId, to: impl IntoIterator<Item = RegId>) {
        if let Some(shadow) = self.shadow.as_mut().filter(|shadow| shadow.is_beside()) {
            shadow.leaves(&self.module.functions[function].blocks[BODY].results, to);
        }
    }

    /// The call from outside ends with these results.
    pub(super) fn shadow_ends(&mut self, registers: &Registers<'a>) -> Outcome<()> {
        let results = &registers.code.blocks[BODY].results;
        match &mut self.shadow {
            Some(shadow) => shadow.ends(registers, results).map_err(|what| defect(&what).into()),
            None => Ok(()),
        }
    }
}
