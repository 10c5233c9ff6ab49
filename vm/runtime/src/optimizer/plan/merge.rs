//! Making blocks at home while a region runs: at their place of the region's block, or in turn.
//!
//! Before an instruction that makes arrays, the homes of these are offered to whoever takes blocks of their sizes, and
//! withdrawn afterwards. A home that is still in use is not given (`memory/reserve.rs`), so that a wrong schedule costs
//! a block and nothing else. What a loop has set aside is kept from round to round.

use super::record::{Home, Place};
use crate::optimizer::Optimizer;
use galopvm_analysis::memory::IN_TURN;
use galopvm_base::ElemType;
use galopvm_bytecode::{BlockId, FuncId, RegId, Scope};
use galopvm_interp::{Outcome, Registers};
use galopvm_kir::VarId;
use galopvm_store::array::Array;
use galopvm_store::memory::{LINE, Memory, Reserve};
use galopvm_tier::Met;
use std::sync::Arc;

/// Regions, and registers, that a loop keeps memory for; the oldest are given up for others.
const MOST_KEPT: usize = 16;

/// A region's block that is larger than this is given up for one that is a quarter of it.
const LARGE: usize = 1 << 20;

/// What regions have set aside; those that run in a loop until it ends, so that its next round finds it.
#[derive(Default)]
pub(crate) struct Reserves {
    /// The blocks of regions, each with the function and the scope it is for.
    regions: Vec<((FuncId, Scope), Reserve)>,
    /// Blocks that the values of a function's register take in turn.
    turns: Vec<((FuncId, RegId), Vec<Reserve>)>,
}

impl Reserves {
    /// A region's block.
    fn region(&mut self, memory: &Memory, site: (FuncId, Scope), total: usize) -> Option<Reserve> {
        let at = self.regions.iter().position(|(other, _)| *other == site);
        if let Some(at) = at {
            let reserve = &self.regions[at].1;
            let is_wasteful = reserve.size() > LARGE && reserve.size() / 4 > total && reserve.is_idle();
            if reserve.size() >= total && !is_wasteful {
                return Some(reserve.clone());
            }
            self.regions.swap_remove(at);
        }
        if self.regions.len() >= MOST_KEPT {
            self.regions.remove(0);
        }
        let reserve = memory.reserve(total)?;
        self.regions.push((site, reserve.clone()));
        Some(reserve)
    }

    /// One of the blocks of this size that a register's values take in turn.
    fn in_turn(&mut self, memory: &Memory, of: (FuncId, RegId), bytes: usize) -> Option<Reserve> {
        let at = self.turns.iter().position(|(other, _)| *other == of);
        let at = at.unwrap_or_else(|| {
            if self.turns.len() >= MOST_KEPT {
                self.turns.remove(0);
            }
            self.turns.push((of, Vec::new()));
            self.turns.len() - 1
        });
        let all = &mut self.turns[at].1;
        all.retain(|reserve| reserve.size() == bytes.next_multiple_of(LINE));
        if let Some(idle) = all.iter().find(|reserve| reserve.is_idle()) {
            return Some(idle.clone());
        }
        if all.len() >= IN_TURN {
            #[cfg(all(test, debug_assertions))]
            if galopvm_store::memory::in_use::are_given() {
                // The one that was given first.
                all.rotate_left(1);
                return all.last().cloned();
            }
            return None;
        }
        let reserve = memory.reserve(bytes)?;
        all.push(reserve.clone());
        Some(reserve)
    }
}

impl<'a> Optimizer<'a> {
    /// The homes of what a block makes, if the plan has any.
    #[inline]
    pub(in crate::optimizer) fn homes(
        &self,
        registers: &Registers<'a>,
        block: BlockId,
    ) -> Option<Arc<super::RegionPlan>> {
        let active = self.plan_here(registers)?;
        let homes = active.plan.homes.as_ref()?;
        homes.made.contains_key(&block).then(|| active.plan.clone())
    }

    /// Offers the homes of what an instruction makes. True if there are any.
    pub(in crate::optimizer) fn offer(
        &mut self,
        registers: &Registers<'a>,
        plan: &super::RegionPlan,
        (block, index): (BlockId, usize),
    ) -> bool {
        let Some(homes) = &plan.homes else { return false };
        let all = homes.made.get(&block).map_or(&[][..], Vec::as_slice);
        let mut are_there = false;
        for (_, made) in all.iter().filter(|(at, _)| *at == index) {
            let Some(home) = plan.record.home(*made) else { continue };
            let Some((reserve, from)) = self.home(registers, homes.total, home) else {
                self.tiers.coverage.met(Met::HomeNone);
                continue;
            };
            let is_turn = matches!(home.place, Place::InTurn(_));
            self.tiers.coverage.met(if is_turn { Met::HomeTurn } else { Met::HomeRegion });
            self.memory.offer(&reserve, from, home.bytes);
            are_there = true;
        }
        are_there
    }

    /// Withdraws what was offered for an instruction.
    pub(in crate::optimizer) fn withdraw(
        &mut self,
        plan: &super::RegionPlan,
        (block, index): (BlockId, usize),
    ) {
        self.count_merged();
        let Some(homes) = &plan.homes else { return };
        if homes.last == Some((block, index))
            && let Some(active) = self.holding.active.last_mut()
        {
            // Nothing else is made in it: what is in use keeps it as long as necessary.
            active.reserves.regions.clear();
        }
    }

    /// The memory that a home is in, of a region's block of so many bytes, and where it begins there.
    fn home(&mut self, registers: &Registers<'a>, total: usize, home: Home) -> Option<(Reserve, usize)> {
        let depth = registers.depth;
        let active = self.holding.active.last_mut().filter(|active| active.depth == depth)?;
        let site = active.site;
        match home.place {
            Place::At(offset) => {
                let around =
                    active.loops.checked_sub(1).and_then(|around| self.holding.loops.get_mut(around));
                let reserves = around.unwrap_or(&mut active.reserves);
                Some((reserves.region(self.memory, site, total)?, offset))
            }
            Place::InTurn(reg) => {
                // Without a loop there is nothing to take turns with.
                let around = self.holding.loops.last_mut()?;
                Some((around.in_turn(self.memory, (site.0, reg), home.bytes)?, 0))
            }
        }
    }

    /// A new block for what is made in it before its own instruction: at home if it has one.
    pub(super) fn early_block(
        &mut self,
        registers: &Registers<'a>,
        plan: &super::RegionPlan,
        block: VarId,
        elem: ElemType,
        shape: &[i64],
    ) -> Outcome<Array> {
        if let Some((homes, home)) = plan.homes.as_ref().zip(plan.record.home(block))
            && let Some((reserve, from)) = self.home(registers, homes.total, home)
        {
            self.tiers.coverage.met(Met::HomeEarly);
            self.memory.offer(&reserve, from, home.bytes);
        }
        let array = Array::fresh(self.memory, elem, shape);
        self.count_merged();
        Ok(array?)
    }

    fn count_merged(&mut self) {
        let merged = self.memory.withdraw();
        self.plans.figures.merged += merged;
        if merged > 0 {
            self.helps();
        }
    }
}
