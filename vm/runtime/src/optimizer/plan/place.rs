//! The place of an array that is about to be made, and of arrays that are made already.

use super::Active;
use super::record::Comes;
use crate::optimizer::Optimizer;
use crate::optimizer::residence::{Ground, Placing};
use galopvm_base::ElemType;
use galopvm_bytecode::{BlockId, Operand, RegId};
use galopvm_interp::{Outcome, Registers};
use galopvm_kir::VarId;
use galopvm_lift::region::Counter;
use galopvm_lmad::Lmad;
use galopvm_store::array::{Array, Granted, same_places};
use galopvm_tier::Met;
use std::sync::Arc;

impl<'a> Optimizer<'a> {
    /// Places for the results of an instruction that the plan has one for: in the block that they will be copied to, or
    /// in a block of their own that something else is made in. Asked before operands are taken from their registers.
    pub(in crate::optimizer) fn planned(
        &mut self,
        registers: &Registers<'a>,
        results: &[RegId],
        placing: &mut Placing,
    ) -> Outcome<()> {
        let depth = registers.depth;
        let Some(active) = self.holding.active.last_mut().filter(|active| active.depth == depth) else {
            return Ok(());
        };
        // From now on they are made in their turn.
        active.strays.retain(|stray| !results.contains(stray));
        if !results.iter().any(|reg| active.plan.record.is_made_there(*reg)) {
            return Ok(());
        }
        let plan = active.plan.clone();
        for (k, reg) in results.iter().enumerate() {
            let Some(resident) = plan.record.resident(*reg) else { continue };
            let block = resident.block;
            let place = match (resident.comes, plan.record.early(block)) {
                (Comes::Moved, _) => {
                    let here = |var: VarId| {
                        self.plan_here(registers).and_then(|active| value(active, registers, var))
                    };
                    match resident.view.at(&here) {
                        Some(view) => self.in_block(registers, block, registers.elem(*reg), view)?,
                        None => None,
                    }
                }
                (Comes::Owner, Some((elem, shape))) => {
                    self.in_block(registers, block, elem, Lmad::row_major(shape))?
                }
                _ => None,
            };
            if let Some(met) = met(resident.comes, place.is_some()) {
                self.tiers.coverage.met(met);
            }
            if let Some(place) = place {
                placing.settle(k, place, Ground::Planned);
                self.helps();
            }
        }
        Ok(())
    }

    /// The place of the value of one register.
    pub(in crate::optimizer) fn planned_one(
        &mut self,
        registers: &Registers<'a>,
        result: RegId,
    ) -> Outcome<Option<Granted>> {
        if self.plan_here(registers).is_none() {
            return Ok(None);
        }
        let mut placing = Placing::none(1);
        self.planned(registers, &[result], &mut placing)?;
        Ok(placing.take(0))
    }

    fn new_block(&mut self, registers: &Registers<'a>, block: VarId) -> Outcome<Option<Granted>> {
        let Some(plan) = self.plan_here(registers).map(|active| Arc::clone(&active.plan)) else {
            return Ok(None);
        };
        // Of rows that are not there, types may say less than nothing.
        let early = plan.record.early(block).filter(|(_, shape)| shape.iter().all(|extent| *extent >= 0));
        let Some((elem, shape)) = early else { return Ok(None) };
        self.tiers.coverage.met(Met::PlaceNew);
        Ok(Granted::new(self.early_block(registers, &plan, block, elem, shape)?, 1))
    }

    fn in_block(
        &mut self,
        registers: &Registers<'a>,
        block: VarId,
        elem: ElemType,
        view: Lmad,
    ) -> Outcome<Option<Granted>> {
        let Some(active) = self.plan_here(registers) else { return Ok(None) };
        if view.dims.iter().any(|dim| dim.size < 0) {
            return Ok(None);
        }
        let fits =
            |array: &Array| array.elem() == elem && view.fits((array.block().len() / elem.bytes()) as i64);
        if let Some((_, place)) = active.making.iter().rev().find(|(making, _)| *making == block) {
            self.tiers.coverage.met(Met::PlaceRowAround);
            return Ok(fits(place.array()).then(|| place.with_view(view)));
        }
        let plan = Arc::clone(&active.plan);
        let mut found = None;
        // A value that was made before its turn may lie as the plan has it, in a block of its own.
        let in_turn = |reg: &RegId| !active.strays.contains(reg);
        let members = plan.record.members(block).map(|(reg, _)| reg).filter(in_turn);
        for array in members.filter_map(|reg| registers.array_of(reg)) {
            if let Some(holders) = self.holders(registers, block, array) {
                found = Some((array, holders));
                break;
            }
        }
        match found {
            // There is none yet, or what should lie there was made elsewhere.
            None => {
                let place = self.new_block(registers, block)?;
                Ok(place.filter(|place| fits(place.array())).map(|place| place.with_view(view)))
            }
            Some((array, holders)) => {
                // The clone for the place is a holder as well.
                let place = fits(array).then(|| array.with_view(view));
                Ok(place.and_then(|place| Granted::new(place, holders + 1)))
            }
        }
    }

    /// How many of the registers that a plan has in one block hold the memory of an array; nothing if one of them does
    /// not lie there as the plan has it. It was made elsewhere then, and what goes to its block must not go there.
    fn holders(&self, registers: &Registers<'a>, block: VarId, array: &Array) -> Option<usize> {
        let active = self.plan_here(registers)?;
        let mut holders = 0;
        for (reg, moving) in active.plan.record.members(block) {
            let Some(other) = registers.array_of(reg) else { continue };
            if other.block().same(array.block()) {
                let planned = moving.at(&|var| value(active, registers, var))?;
                if !same_places(&planned, other.lmad()) {
                    return None;
                }
                holders += 1;
            }
        }
        Some(holders)
    }

    /// Tells that an operator is making an array in the place that the plan has for it; other arrays may be made in the same
    /// block meanwhile.
    pub(in crate::optimizer) fn making(
        &mut self,
        registers: &Registers<'a>,
        reg: RegId,
        place: &Granted,
    ) -> bool {
        let depth = registers.depth;
        let Some(active) = self.holding.active.last_mut().filter(|active| active.depth == depth) else {
            return false;
        };
        let Some(resident) = active.plan.record.resident(reg) else { return false };
        active.making.push((resident.block, place.clone()));
        true
    }

    /// The operator that said so last is done.
    pub(in crate::optimizer) fn made(&mut self) {
        if let Some(active) = self.holding.active.last_mut() {
            active.making.pop();
        }
    }

    /// Tells that registers got their values before their turn.
    pub(in crate::optimizer) fn made_early(&mut self, registers: &Registers<'a>, early: &[RegId]) {
        let depth = registers.depth;
        if let Some(active) = self.holding.active.last_mut().filter(|active| active.depth == depth) {
            self.tiers.coverage.add(Met::PlaceStray, early.len() as u64);
            for reg in early {
                // Long loops say so again in every round.
                if !active.strays.contains(reg) {
                    active.strays.push(*reg);
                }
            }
        }
    }

    /// Tells at which row an operator is, `None` when it ends.
    pub(in crate::optimizer) fn at_row(
        &mut self,
        registers: &Registers<'a>,
        body: BlockId,
        row: Option<i64>,
    ) {
        let depth = registers.depth;
        let Some(active) = self.holding.active.last_mut().filter(|active| active.depth == depth) else {
            return;
        };
        let at = active.rows.iter().rposition(|(other, _)| *other == body);
        match (at, row) {
            (Some(at), Some(row)) => active.rows[at].1 = row,
            (None, Some(row)) => active.rows.push((body, row)),
            (Some(at), None) => drop(active.rows.remove(at)),
            (None, None) => {}
        }
    }

    /// Whether an array that the plan builds others in is in this register: it has to stay there.
    pub(in crate::optimizer) fn is_planned(&self, registers: &Registers<'_>, reg: RegId) -> bool {
        self.plan_here(registers).is_some_and(|active| active.plan.record.resident(reg).is_some())
    }

    /// The plan was good for something.
    pub(super) fn helps(&mut self) {
        if let Some(active) = self.holding.active.last_mut() {
            active.has_helped = true;
        }
    }

    /// Whether the plan keeps an update where its array lies: then the block may be written although the given number of holders
    /// are the registers that the plan knows, and values on their way. An update that copies its array, since a view of it is
    /// used afterwards, may have another place in the same block.
    pub(in crate::optimizer) fn may_update(
        &self,
        registers: &Registers<'a>,
        result: RegId,
        array: &Array,
    ) -> Option<usize> {
        let active = self.plan_here(registers)?;
        let resident = active.plan.record.resident(result)?;
        let stays = resident.view.at(&|var| value(active, registers, var))?;
        if resident.comes != Comes::Updated || !same_places(&stays, array.lmad()) {
            return None;
        }
        let holders = self.holders(registers, resident.block, array)?;
        self.tiers.coverage.add(Met::PlaceUpdate, (holders == array.block().references()).into());
        (holders == array.block().references()).then_some(holders)
    }
}

/// The value of an iteration variable.
fn value(active: &Active, registers: &Registers<'_>, var: VarId) -> Option<i64> {
    match active.plan.counters.get(&var)? {
        Counter::Loop(reg) => Some(registers.int(Operand::new(*reg))),
        Counter::Rows(body) => active.rows.iter().find(|(block, _)| block == body).map(|(_, row)| *row),
    }
}

/// What it is that a result which a plan has a place for was given it, or was not.
fn met(comes: Comes, is_given: bool) -> Option<Met> {
    match comes {
        Comes::Found | Comes::Updated => None,
        Comes::Moved | Comes::Owner if !is_given => Some(Met::PlaceNone),
        Comes::Moved => Some(Met::PlaceMoved),
        Comes::Owner => Some(Met::PlaceOwn),
    }
}
