//! From the schedule of a region to homes: what is made at which place of the region's block, and what takes blocks in
//! turn. Where they are goes into the record; when they are needed is kept here.
//!
//! Arrays that results of the region may lie in are not part of its block, so that no small result keeps a large block.

use super::record::{Home, Place, Record};
use galopvm_analysis::circuit::Circuits;
use galopvm_analysis::memory::{Home as Scheduled, schedule_of};
use galopvm_base::TypedId;
use galopvm_bytecode::{BlockId, Function, Instr, RegId, Scope, field::Fields, module::BODY};
use galopvm_kir::VarId;
use galopvm_lift::region::Recorded;
use galopvm_store::memory::LINE;
use std::collections::{HashMap, HashSet};

/// When the homes of a region are offered; which they are is in its record.
#[derive(Debug, Default)]
pub(super) struct Homes {
    /// Bytes of the region's block.
    pub total: usize,
    /// By block of code, with the number of the instruction: what is made there and has a home.
    pub made: HashMap<BlockId, Vec<(usize, VarId)>>,
    /// The last instruction that needs the region's block, if the region comes there once only.
    pub last: Option<(BlockId, usize)>,
}

/// A block, the register whose array it is made for, and where its memory is.
pub(super) type Decided = (VarId, RegId, Home);

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
    /// The homes of a region, with the registers that they are for; nothing if there is nothing to gain.
    pub(super) fn new(
        code: &Function,
        scope: Scope,
        recorded: &Recorded,
        circuits: &Circuits,
        record: &Record,
        is_unit: &dyn Fn(BlockId, usize) -> bool,
        is_delayed: &dyn Fn(RegId) -> bool,
    ) -> Option<(Homes, Vec<Decided>)> {
        let flat = flat_blocks(code, is_unit);
        // An array that an instruction of this function makes when it is executed.
        let place = |var: VarId| {
            let maker = recorded.makers.get(var)?;
            let reg = *recorded.registers.get(var)?;
            let is_range = matches!(code.blocks[maker.block].code[maker.index], Instr::Iota { .. });
            let is_lazy = is_range || is_delayed(reg);
            (!is_lazy && !flat.contains(&maker.block)).then_some((maker.block, maker.index, reg))
        };
        // One that is made in the block of another one has no home of its own.
        let elsewhere: HashSet<RegId> = record.moved().collect();
        let can_move = |var: VarId| place(var).is_some_and(|(.., reg)| !elsewhere.contains(&reg));
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
        #[cfg(all(test, debug_assertions))]
        let schedule = super::spoil::rescheduled(schedule, LINE as i64);
        let next = match scope {
            // What a function gives is what a round of a loop around it carries, or not: then there are no turns.
            Scope::Round { .. } | Scope::Function => lies_alone(&leaving, circuits),
            Scope::Loop { .. } => HashSet::new(),
        };
        let mut homes = Homes { total: usize::try_from(schedule.packing.total).ok()?, ..Homes::default() };
        let mut has_early = false;
        let mut decided = Vec::new();
        let (mut entries, mut gain, mut last) = (0, matches!(scope, Scope::Round { .. }), (0, None));
        for (made, home) in &schedule.blocks {
            let Some((block, index, reg)) = place(made.array) else { continue };
            let bytes = usize::try_from(made.lifetime.size).ok()?.checked_mul(made.element_bytes)?;
            let place = match home {
                _ if bytes == 0 => continue,
                Scheduled::Entry { offset } => Place::At(usize::try_from(*offset).ok()?),
                Scheduled::Turns => Place::InTurn(reg),
                Scheduled::Round if next.contains(&made.array) && can_move(made.array) => Place::InTurn(reg),
                Scheduled::Round => continue,
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
            decided.push((made.array, reg, Home { place, bytes }));
            match record.early(made.array) {
                Some(_) => has_early = true,
                None => homes.made.entry(block).or_default().push((index, made.array)),
            }
        }
        if has_early {
            // What is made in it comes first, wherever that is.
            last.1 = None;
        }
        homes.last = last.1.filter(|_| !matches!(scope, Scope::Round { .. }));
        (entries > 1 || gain && !decided.is_empty()).then_some((homes, decided))
    }

    /// About how many words of memory it takes.
    pub(super) fn words(&self) -> usize {
        8 + self.made.values().map(|all| 8 + 2 * all.len()).sum::<usize>()
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

/// The blocks that run as flat code.
fn flat_blocks(code: &Function, is_unit: &dyn Fn(BlockId, usize) -> bool) -> HashSet<BlockId> {
    let mut flat = HashSet::new();
    for (id, block) in code.blocks.iter_ids() {
        for (index, instr) in block.code.iter().enumerate() {
            if matches!(instr, Instr::For { .. } | Instr::While { .. }) && is_unit(id, index) {
                within(code, instr, &mut flat);
            }
        }
    }
    flat
}

fn within(code: &Function, instr: &Instr, all: &mut HashSet<BlockId>) {
    for block in Fields::of(instr).blocks {
        all.insert(block);
        code.blocks[block].code.iter().for_each(|instr| within(code, instr, all));
    }
}
