//! From the schedule of a region to homes: what is made at which place of the region's block, and what takes blocks in
//! turn.
//!
//! Arrays that results of the region may lie in are not part of its block, so that no small result keeps a large block.

use super::build::flat_blocks;
use super::record::{Comes, Record};
use crate::memory::LINE;
use crate::region::{Recorded, Scope};
use galopvm_analysis::circuit::Circuits;
use galopvm_analysis::memory::{Home, schedule_of};
use galopvm_base::TypedId;
use galopvm_bytecode::{BlockId, Function, Instr, RegId, module::BODY};
use galopvm_kir::VarId;
use std::collections::{HashMap, HashSet};

/// Where blocks of a region are made.
#[derive(Debug, Default)]
pub(super) struct Homes {
    /// Bytes of the region's block.
    pub total: usize,
    /// By block of code, with the number of the instruction: the homes of its results.
    pub made: HashMap<BlockId, Vec<(usize, Homed)>>,
    /// The homes of blocks that something is made in before the instruction that they are for.
    pub early: HashMap<VarId, Homed>,
    /// All of these, by the arrays that blocks are made for.
    pub decided: Vec<(VarId, Place)>,
    /// The last instruction that needs the region's block, if the region comes there once only.
    pub last: Option<(BlockId, usize)>,
}

/// A block with its home.
#[derive(Clone, Copy, Debug)]
pub(super) struct Homed {
    pub place: Place,
    pub bytes: usize,
}

/// Where a block is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// At this byte of the region's block.
    At(usize),
    /// In one of two blocks, which the values of a register take in turn.
    InTurn(RegId),
}

/// The results of what is recorded.
fn results(code: &Function, scope: Scope) -> Vec<RegId> {
    let of_block = |block: BlockId| code.blocks[block].results.iter().map(|operand| operand.reg).collect();
    match scope {
        Scope::Function => of_block(BODY),
        Scope::Round { body } => of_block(body),
        Scope::Loop { block, index } => match &code.blocks[block].code[index] {
            Instr::For { dsts, .. } | Instr::While { dsts, .. } => dsts.iter().map(|dst| dst.0).collect(),
            _ => Vec::new(),
        },
    }
}

impl Homes {
    /// The homes of a region; nothing if there is nothing to gain.
    pub(super) fn new(
        code: &Function,
        scope: Scope,
        recorded: &Recorded,
        circuits: &Circuits,
        record: &Record,
        is_unit: &dyn Fn(BlockId, usize) -> bool,
    ) -> Option<Homes> {
        let flat = flat_blocks(code, is_unit);
        // An array that an instruction of this function makes when it is executed.
        let place = |var: VarId| {
            let maker = recorded.makers.get(var)?;
            let is_lazy = matches!(code.blocks[maker.block].code[maker.index], Instr::Iota { .. });
            let reg = *recorded.registers.get(var)?;
            (!is_lazy && !flat.contains(&maker.block)).then_some((maker.block, maker.index, reg))
        };
        // One that is made in the block of another one has no home of its own.
        let is_elsewhere =
            |reg: RegId| record.resident(reg).is_some_and(|resident| resident.comes == Comes::Moved);
        let can_move = |var: VarId| place(var).is_some_and(|(.., reg)| !is_elsewhere(reg));
        // The last one: a register has several names where sizes had to be carried along.
        let name =
            |of: RegId| recorded.registers.iter().filter(|(_, reg)| **reg == of).last().map(|(var, _)| var);
        let leaving: Vec<VarId> = results(code, scope)
            .into_iter()
            .filter(|reg| !code.regs[*reg].is_scalar())
            .map(name)
            .collect::<Option<_>>()?;
        let region = recorded.region.region();
        let schedule = schedule_of(region, circuits, LINE as i64, &can_move, &leaving);
        #[cfg(test)]
        let schedule = super::spoil::rescheduled(schedule, LINE as i64);
        let next = match scope {
            // What a function gives is what a round of a loop around it carries, or not: then there are no turns.
            Scope::Round { .. } | Scope::Function => lies_alone(&leaving, circuits),
            Scope::Loop { .. } => HashSet::new(),
        };
        let mut homes = Homes { total: usize::try_from(schedule.packing.total).ok()?, ..Homes::default() };
        let (mut entries, mut gain, mut last) = (0, matches!(scope, Scope::Round { .. }), (0, None));
        for (made, home) in &schedule.blocks {
            let Some((block, index, reg)) = place(made.array) else { continue };
            let bytes = usize::try_from(made.lifetime.size).ok()?.checked_mul(made.element_bytes)?;
            let place = match home {
                _ if bytes == 0 => continue,
                Home::Entry { offset } => Place::At(usize::try_from(*offset).ok()?),
                Home::Turns => Place::InTurn(reg),
                Home::Round if next.contains(&made.array) && can_move(made.array) => Place::InTurn(reg),
                Home::Round => continue,
            };
            gain |= made.in_loop || matches!(place, Place::InTurn(_));
            if let Place::At(_) = place {
                entries += 1;
                // In a loop it comes again.
                let number = if made.in_loop { usize::MAX } else { made.span.0 };
                if number >= last.0 {
                    last = (number, (!made.in_loop).then_some((block, index)));
                }
            }
            let homed = Homed { place, bytes };
            homes.decided.push((made.array, place));
            if record.early(made.array).is_some() {
                homes.early.insert(made.array, homed);
            } else {
                homes.made.entry(block).or_default().push((index, homed));
            }
        }
        if !homes.early.is_empty() {
            // What is made in it comes first, wherever that is.
            last.1 = None;
        }
        homes.last = last.1.filter(|_| !matches!(scope, Scope::Round { .. }));
        (entries > 1 || gain && !(homes.made.is_empty() && homes.early.is_empty())).then_some(homes)
    }

    /// About how many words of memory it takes.
    pub(super) fn words(&self) -> usize {
        let made: usize = self.made.values().map(|all| 8 + 5 * all.len()).sum();
        8 + made + 8 * self.early.len() + 3 * self.decided.len()
    }
}

/// The blocks that exactly one result lies in.
fn lies_alone(results: &[VarId], circuits: &Circuits) -> HashSet<VarId> {
    let mut blocks: Vec<VarId> = Vec::new();
    for result in results {
        // One that may lie anywhere could lie in any of them.
        let Some(place) = circuits.places.get(result) else { return HashSet::new() };
        blocks.push(place.block);
    }
    blocks.sort_unstable_by_key(|var| var.index());
    let once = |var: &&VarId| blocks.iter().filter(|other| other == var).count() == 1;
    blocks.iter().filter(once).copied().collect()
}
