//! Writing the result of a map over an array that dies with it.
//!
//! The analysis of reuse (`tiers/over.rs`) says that no row reads what another row changes. What is needed besides, and
//! asked here: after the map nobody uses the array or another view of its block, and all holders of the block are
//! registers of this call.

use super::Optimizer;
use super::residence::{Ground, Placing};
use galopvm_bytecode::{Operator, RegId};
use galopvm_interp::Registers;
use galopvm_store::array::Granted;
use galopvm_store::memory::Block;
use galopvm_tier::told::Unasked;
use galopvm_tier::{Choice, Execution, Executor, Met};

/// Estimated operations from which it is worth asking the analysis, which takes about 0.1 ms: as long as the interpreter takes
/// for half of these.
const LEAST_WORK: u64 = 1 << 18;

/// The same for compiled code, which gets through thirty times as many.
const LEAST_COMPILED_WORK: u64 = 1 << 23;

impl<'a> Optimizer<'a> {
    /// Finds places for a map's results over dying arrays.
    pub(super) fn over(
        &mut self,
        registers: &Registers<'a>,
        Execution { block, index, site, work, .. }: Execution,
        operator: &Operator<'_>,
        choice: Choice,
        placing: &mut Placing,
    ) {
        let least = match self.tiers.executor(site, choice) {
            Some(Executor::Compiled) => LEAST_COMPILED_WORK,
            _ => LEAST_WORK,
        };
        let is_worth = work >= least || self.eager;
        if !self.switches.reuse || !is_worth || !operator.is_map() {
            if operator.is_map() {
                let why = if self.switches.reuse { Unasked::LittleWork } else { Unasked::SwitchedOff };
                self.tiers.tell_unasked(site, 0..operator.dsts.len(), why);
            }
            return;
        }
        let dying = registers.prepared.blocks[block].dying(registers.code, block, index);
        let results = operator.dsts.iter().map(|dst| dst.0).enumerate();
        for (k, result) in results.filter(|(_, reg)| registers.is_array(*reg)) {
            if placing.has(k) {
                continue;
            }
            let fits =
                |reg: &RegId| registers.ty(*reg) == registers.ty(result) && is_free(registers, dying, *reg);
            let eligible: Vec<RegId> = dying.iter().copied().filter(fits).collect();
            if eligible.is_empty() {
                self.tiers.tell_unasked(site, k..k + 1, Unasked::NothingDies);
                continue;
            }
            let Some((reg, changes)) = self.tiers.over(site, registers, k, &eligible, self.check_budget())
            else {
                continue;
            };
            let Some(array) = registers.array_of(reg).cloned() else { continue };
            // The clone is a holder as well.
            let holders = dying.iter().filter(|reg| shares(registers, **reg, array.block())).count() + 1;
            if let Some(place) = Granted::new(array, holders) {
                self.tiers.coverage.met(Met::OverGiven);
                placing.settle(k, place, Ground::Over(changes));
                // Two results over one array would need to know of each other.
                return;
            }
        }
    }
}

fn shares(registers: &Registers<'_>, reg: RegId, block: &Block) -> bool {
    registers.array_of(reg).is_some_and(|array| array.block().same(block))
}

/// Whether a register's block may be written: all that hold it die with it.
fn is_free(registers: &Registers<'_>, dying: &[RegId], reg: RegId) -> bool {
    let Some(block) = registers.array_of(reg).map(|array| array.block()) else { return false };
    // What was never made has no place to offer.
    let is_made = registers.array_of(reg).is_some_and(|array| !array.is_unmade());
    is_made
        && block.is_own()
        && dying.iter().filter(|reg| shares(registers, **reg, block)).count() == block.references()
}
