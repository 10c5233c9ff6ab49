//! From the verdicts of short-circuiting to a plan: which registers are made where.

use super::homes::Homes;
use super::record::{Comes, Record, Resident};
use galopvm_analysis::circuit::{Circuits, Place};
use galopvm_bytecode::{BlockId, Function, Instr, RegId, Scope};
use galopvm_kir::VarId;
use galopvm_lift::region::{Counter, Recorded};
use galopvm_tier::site::rules;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Where arrays are made while a region runs.
#[derive(Debug)]
pub(crate) struct RegionPlan {
    /// Where arrays live that share blocks.
    pub(super) record: Record,
    /// What iteration variables count.
    pub(super) counters: HashMap<VarId, Counter>,
    /// When what has a home is made.
    pub(super) homes: Option<Homes>,
    /// Runs in a row in which nobody asked for any of that.
    idle: AtomicU32,
}

impl RegionPlan {
    /// The plan for a region, with homes if it is known what is recorded; nothing if there is nothing to do.
    pub(super) fn new(
        code: &Function,
        recorded: &Recorded,
        circuits: &Circuits,
        is_unit: &dyn Fn(BlockId, usize) -> bool,
        is_delayed: &dyn Fn(RegId) -> bool,
        merges: Option<Scope>,
        has_loops: bool,
    ) -> Option<RegionPlan> {
        // Flat code wants arrays of its own for what it updates: it would copy them out of any other block.
        let own = carried_by_units(code, is_unit);
        let apart: Vec<_> = circuits
            .places
            .iter()
            .filter(|(var, _)| recorded.registers.get(**var).is_some_and(|reg| own.contains(reg)))
            .map(|(_, place)| place)
            .collect();
        // Of arrays that the program reads where the region does not, nobody knows until when they are needed.
        let unread: HashSet<VarId> =
            recorded.unread.iter().filter_map(|var| Some(circuits.places.get(var)?.block)).collect();
        let maker = |var: VarId| recorded.makers.has(var);
        let register = |var: VarId| recorded.registers.get(var).copied();
        let is_moved = |var: VarId, place: &Place| {
            place.block != var
                && !apart.contains(&place)
                && !unread.contains(&place.block)
                && maker(var)
                && register(var).is_some()
        };
        let moved = circuits.places.iter().filter(|(var, place)| is_moved(**var, place));
        let blocks: HashSet<VarId> = moved.map(|(_, place)| place.block).collect();
        let mut record = Record::default();
        for block in blocks.iter().filter(|block| !recorded.region.region().params.contains(block)) {
            let ty = recorded.region.region().vars[*block].ty.as_ref()?;
            let extent = |exp: &galopvm_kir::Exp| recorded.region.size_with(exp, &|_| None);
            let shape: Option<Vec<i64>> = ty.shape.iter().map(extent).collect();
            if let (Some(reg), Some(shape)) = (register(*block).filter(|_| maker(*block)), shape) {
                debug_assert_eq!(code.regs[reg].elem, ty.elem, "a name has the type of its register");
                record.make_early(*block, ty.elem, shape);
            }
        }
        for (var, place) in circuits.places.iter().filter(|(_, place)| blocks.contains(&place.block)) {
            let Some(reg) = register(*var) else { continue };
            let comes = match maker(*var) {
                false => Comes::Updated,
                true if is_moved(*var, place) => Comes::Moved,
                true if place.block == *var && record.early(*var).is_some() => Comes::Owner,
                true => Comes::Found,
            };
            let resident = Resident { block: place.block, view: place.view.clone(), comes };
            if !record.settle(reg, resident) {
                return None;
            }
        }
        // Rounds have their own plans, if there is nothing to be moved in the whole.
        let merges = merges.filter(|scope| !has_loops || !record.has_no_residents() || is_round(scope));
        let homes = merges
            .and_then(|scope| Homes::new(code, scope, recorded, circuits, &record, is_unit, is_delayed));
        let homes = match homes {
            Some((homes, decided)) => {
                for (block, reg, home) in decided {
                    if !record.move_in(block, reg, home) {
                        return None;
                    }
                }
                Some(homes)
            }
            None => None,
        };
        if record.has_no_residents() && homes.is_none() {
            return None;
        }
        let counters = recorded.counters.iter().map(|(var, counter)| (var, *counter)).collect();
        Some(RegionPlan { record, counters, homes, idle: AtomicU32::new(0) })
    }

    /// A run is over, in which somebody asked for a place or nobody did.
    pub(super) fn count_run(&self, has_helped: bool) {
        let idle = if has_helped { 0 } else { self.idle.load(Relaxed).saturating_add(1) };
        self.idle.store(idle, Relaxed);
    }

    /// Whether it did not help lately.
    pub(super) fn is_idle(&self) -> bool {
        self.idle.load(Relaxed) >= rules::IDLE_RUNS
    }

    /// About how many words of memory it takes.
    pub(super) fn words(&self) -> usize {
        32 + self.record.words() + 4 * self.counters.len() + self.homes.as_ref().map_or(0, Homes::words)
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
