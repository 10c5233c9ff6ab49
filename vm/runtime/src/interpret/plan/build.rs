//! From the verdicts of short-circuiting to a plan: which registers are made where.

use super::homes::Homes;
use crate::region::{Counter, Recorded, Scope};
use galopvm_analysis::circuit::{Circuits, Moving};
use galopvm_base::ElemType;
use galopvm_bytecode::{BlockId, Function, Instr, RegId, field::Fields};
use galopvm_kir::VarId;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Runs in which nobody asked for a place before a plan is not used any more.
const IDLE_RUNS: u32 = 2;

/// Where arrays are made while a region runs.
#[derive(Debug)]
pub(crate) struct RegionPlan {
    /// Registers whose value is not made in a block that the instruction takes for it.
    pub(super) spots: HashMap<RegId, Spot>,
    /// The registers that lie in each block that something is made in, with their views.
    pub(super) members: HashMap<VarId, Vec<(RegId, Moving)>>,
    /// The blocks that have to exist before the instruction they are for: its register, element type, extents.
    pub(super) fresh: HashMap<VarId, (ElemType, Vec<i64>)>,
    /// Updates that stay in their block although a part of it is made already.
    pub(super) in_place: HashMap<RegId, VarId>,
    /// What iteration variables count.
    pub(super) counters: HashMap<VarId, Counter>,
    /// What is made in memory that is set aside.
    pub(super) homes: Option<Homes>,
    /// Runs in a row in which nobody asked for any of that.
    idle: AtomicU32,
}

/// Where the value of a register is made.
#[derive(Debug)]
pub(crate) enum Spot {
    /// In a block that was made for another one.
    Moved(VarId, Moving),
    /// In its own block, which something else is made in before.
    Own(VarId),
}

impl RegionPlan {
    /// The plan for a region, with homes if it is known what is recorded; nothing if there is nothing to do.
    pub(super) fn new(
        code: &Function,
        recorded: &Recorded,
        circuits: &Circuits,
        is_unit: &dyn Fn(BlockId, usize) -> bool,
        merges: Option<Scope>,
        has_loops: bool,
    ) -> Option<RegionPlan> {
        let region = recorded.region.region();
        let mut plan = RegionPlan {
            spots: HashMap::new(),
            members: HashMap::new(),
            fresh: HashMap::new(),
            in_place: HashMap::new(),
            counters: recorded.counters.iter().map(|(var, counter)| (var, *counter)).collect(),
            homes: None,
            idle: AtomicU32::new(0),
        };
        // Flat code wants arrays of its own for what it updates: it would copy them out of any other block.
        let own = carried_by_units(code, is_unit);
        let apart: Vec<_> = circuits
            .places
            .iter()
            .filter(|(var, _)| recorded.registers.get(**var).is_some_and(|reg| own.contains(reg)))
            .map(|(_, place)| place)
            .collect();
        let mut blocks: HashSet<VarId> = HashSet::new();
        for (var, place) in circuits.places.iter() {
            if place.block == *var || apart.contains(&place) {
                continue;
            }
            let Some(reg) = recorded.registers.get(*var).filter(|_| recorded.makers.has(*var)) else {
                continue;
            };
            plan.spots.insert(*reg, Spot::Moved(place.block, place.view.clone()));
            blocks.insert(place.block);
        }
        for (var, place) in circuits.places.iter().filter(|(_, place)| blocks.contains(&place.block)) {
            let Some(reg) = recorded.registers.get(*var) else { continue };
            plan.members.entry(place.block).or_default().push((*reg, place.view.clone()));
            if !recorded.makers.has(*var) {
                plan.in_place.insert(*reg, place.block);
            }
        }
        for block in &blocks {
            if region.params.contains(block) {
                continue;
            }
            let ty = region.vars[*block].ty.as_ref()?;
            let extent = |exp: &galopvm_kir::Exp| recorded.region.size_with(exp, &|_| None);
            let shape: Option<Vec<i64>> = ty.shape.iter().map(extent).collect();
            let reg = recorded.registers.get(*block).filter(|_| recorded.makers.has(*block));
            if let (Some(reg), Some(shape)) = (reg, shape) {
                debug_assert_eq!(code.regs[*reg].elem, ty.elem, "a name has the type of its register");
                plan.spots.insert(*reg, Spot::Own(*block));
                plan.fresh.insert(*block, (ty.elem, shape));
            }
        }
        let homes = |scope| Homes::new(code, scope, recorded, circuits, &plan, is_unit);
        // Rounds have their own plans, if there is nothing to be moved in the whole.
        let merges = merges.filter(|scope| !has_loops || !plan.spots.is_empty() || is_round(scope));
        plan.homes = merges.and_then(homes);
        (!plan.spots.is_empty() || plan.homes.is_some()).then_some(plan)
    }

    /// A run is over, in which somebody asked for a place or nobody did.
    pub(super) fn count_run(&self, has_helped: bool) {
        let idle = if has_helped { 0 } else { self.idle.load(Relaxed).saturating_add(1) };
        self.idle.store(idle, Relaxed);
    }

    /// Whether it did not help lately.
    pub(super) fn is_idle(&self) -> bool {
        self.idle.load(Relaxed) >= IDLE_RUNS
    }

    /// The registers that are made in a block of another one.
    pub(super) fn moved(&self) -> impl Iterator<Item = RegId> {
        let moved = |(reg, spot): (&RegId, &Spot)| matches!(spot, Spot::Moved(..)).then_some(*reg);
        self.spots.iter().filter_map(moved)
    }

    /// About how many words of memory it takes.
    pub(super) fn words(&self) -> usize {
        let view = |spot: &Spot| match spot {
            Spot::Moved(_, moving) => 16 + 8 * moving.rank(),
            Spot::Own(_) => 4,
        };
        let each = |members: &Vec<(RegId, Moving)>| -> usize {
            8 + members.iter().map(|(_, moving)| 16 + 8 * moving.rank()).sum::<usize>()
        };
        let members: usize = self.members.values().map(each).sum();
        let others = 8 * self.fresh.len() + 4 * (self.in_place.len() + self.counters.len());
        let others = others + self.homes.as_ref().map_or(0, Homes::words);
        32 + self.spots.values().map(view).sum::<usize>() + members + others
    }
}

fn is_round(scope: &Scope) -> bool {
    matches!(scope, Scope::Round { .. })
}

/// The arrays that loops carry which run as flat code.
fn carried_by_units(code: &Function, is_unit: &dyn Fn(BlockId, usize) -> bool) -> HashSet<RegId> {
    let mut carried = HashSet::new();
    for (id, block) in code.blocks.iter_ids() {
        for (index, instr) in block.code.iter().enumerate() {
            if let Instr::For { body, .. } | Instr::While { body, .. } = instr
                && is_unit(id, index)
            {
                carried.extend(code.blocks[*body].params.iter().filter(|reg| !code.regs[**reg].is_scalar()));
            }
        }
    }
    carried
}

/// The blocks that run as flat code.
pub(super) fn flat_blocks(code: &Function, is_unit: &dyn Fn(BlockId, usize) -> bool) -> HashSet<BlockId> {
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
