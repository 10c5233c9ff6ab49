//! The decision: lane axis, threads axis, what follows from the lane (`vectors.rs`), the order of a reduction (`stretches.rs`), what is fetched
//! ahead (`ahead.rs`), loops
//! whose turns run in lanes (`turns.rs`), reads without checks, where results go.
//!
//! The lane axis is the one with the least estimated cost, counted in vector operations: a body inside the lane
//! axis runs once for each vector, bodies outside run element by element; an access that steps by one element (or
//! by none) along the lane is one operation, any other is one for each lane. Threads take the outermost axis if
//! there is enough to do. Where lanes would change arrays of their own, each at another place, iterations may be cheaper one by one.

mod ahead;
mod stretches;
mod turns;
mod vectors;

pub use vectors::complete;

use crate::bounds::{Bounds, bounds};
use crate::index::{Quality, Role, Row, Table, table};
use crate::layout::{Class, CpuCosts, class};
use crate::numbers::Numbers;
use crate::work::{Work, work};
use galopvm_base::TypedId;
use galopvm_kir::borders::turns;
use galopvm_kir::kernel::{Spread, spread};
use galopvm_kir::linear::{Definitions, growth};
use galopvm_kir::{
    Axis, Body, CheckedRegion, Decision, DimIndex, Exp, Index, Machine, Observed, Plan, ReadId, Rhs, Stm,
    VarId,
};
use std::fmt::Write;

/// Fewest lanes that decisions are made for: neighbours in memory matter even where there are no vectors.
const FEWEST_LANES: u64 = 4;
/// What a lane does at a place of its own in an array that all lanes have one of, in operations: what it stores there is not on
/// hand for the gather of the next round, and the arrays of all lanes take so many times the memory of one.
const OWN_PLACE: u64 = 8;
/// What a vector costs more whose lanes all read one element, if that lies in another cache line in every turn of the innermost
/// loop: nothing else of the line is read before the next ones.
const FAR_SAME: u64 = 1;
/// Reads that a reason tells in full.
const TOLD: usize = 4;

/// Decides how a region is to be executed for what was observed.
pub fn decide(region: &CheckedRegion, observed: &Observed, machine: &Machine) -> Plan {
    let table = table(region, observed);
    let work = work(region, &table);
    let facts = Facts { region, machine, numbers: Numbers::new(region, observed), work, table };
    let mut plan = Plan::default();
    let main = facts.main_statement();
    if let Some(main) = main {
        facts.choose_threads(main, &mut plan);
        facts.choose_lane(main, &mut plan);
        facts.choose_columns(main, &mut plan);
    }
    complete(region, machine, &mut plan);
    facts.choose_turns(&mut plan);
    if let Some(main) = main {
        facts.choose_packed(main, &mut plan);
        facts.choose_ahead(main, &mut plan);
    }
    let bounds = bounds(region, observed);
    choose_unchecked(region, &bounds, &mut plan);
    choose_contained(region, &bounds, &mut plan);
    facts.choose_blocks(&mut plan);
    plan
}

struct Facts<'a> {
    region: &'a CheckedRegion,
    machine: &'a Machine,
    numbers: Numbers<'a>,
    work: Work,
    table: Table,
}

/// What a lane axis would cost.
struct Choice {
    axis: VarId,
    cost: u128,
    /// Accesses by class: steps of one element, none, anything else.
    unit: u32,
    same: u32,
    far: u32,
    /// Those anywhere that are copied first, once for many rows.
    packed: u32,
    /// Those anywhere in arrays that each lane has one of and changes there.
    own: u32,
}

impl Facts<'_> {
    /// The statement that most of the work is in; plans choose axes for one.
    fn main_statement(&self) -> Option<&Stm> {
        let parallel = |stm: &&Stm| !stm.rhs.parallel_axes().is_empty();
        let stms = self.region.region().body.stms.iter().filter(parallel);
        // The first of equals, so that the choice is the same whatever the order of comparisons.
        stms.fold(None, |best: Option<(&Stm, u64)>, stm| {
            let inside = stm.rhs.parallel_axes().first().map_or(0, |axis| self.work.inside(axis.var));
            match best {
                Some((_, most)) if most >= inside => best,
                _ => Some((stm, inside)),
            }
        })
        .map(|(stm, _)| stm)
    }

    fn trips(&self, axis: VarId) -> u64 {
        self.work.trips[axis.index()]
    }

    fn choose_threads(&self, main: &Stm, plan: &mut Plan) {
        let axes = match &main.rhs {
            Rhs::Kernel { axes, .. } | Rhs::Reduce { axes, .. } => axes.as_slice(),
            Rhs::Scan { axis, .. } => std::slice::from_ref(axis),
            Rhs::Scatter { .. }
            | Rhs::Exps(_)
            | Rhs::For { .. }
            | Rhs::While { .. }
            | Rhs::If { .. }
            | Rhs::Update { .. }
            | Rhs::Manifest { .. }
            | Rhs::Array { .. } => return,
        };
        let threads = self.machine.threads as u64;
        let Some(outermost) = axes.first() else { return };
        let operations = self.work.inside(outermost.var);
        if threads < 2 || operations < self.machine.thread_grain {
            return;
        }
        let enough = axes.iter().find(|axis| self.trips(axis.var) >= threads);
        if let Some(axis) = enough {
            let which = if axis.var == outermost.var {
                "outermost axis"
            } else {
                "first axis with enough iterations"
            };
            let reason = format!(
                "{which}, {} iterations, {operations} element operations (worth it from {}), {threads} threads",
                self.trips(axis.var),
                self.machine.thread_grain,
            );
            plan.decide(Decision::Threads(axis.var), reason);
        }
    }

    fn choose_lane(&self, main: &Stm, plan: &mut Plan) {
        let lanes = self.lanes();
        let choices: Vec<Choice> =
            self.lane_axes(main).into_iter().map(|axis| self.price(main, axis, lanes)).collect();
        let Some(best) = choices.iter().reduce(|a, b| if b.cost < a.cost { b } else { a }) else { return };
        let name = |axis: VarId| self.region.region().name_of(axis);
        if let Rhs::Kernel { axes, body } = &main.rhs
            && let (Some(outermost), true) = (axes.first(), best.own > 0)
        {
            let single = self.price_singly(axes, body);
            if single < best.cost {
                let reason = format!(
                    "{} accesses would go to places of their own in arrays of each lane along {}; cost {single} one by one, \
                     {} with {lanes} lanes",
                    best.own,
                    name(best.axis),
                    best.cost
                );
                return plan.decide(Decision::Singly(outermost.var), reason);
            }
        }
        let total = best.unit + best.same + best.far + best.own + best.packed;
        let mut reason = format!("unit stride in {} of {total} accesses", best.unit);
        if best.same > 0 {
            let _ = write!(reason, ", {} the same for all lanes", best.same);
        }
        if best.far > 0 {
            let _ = write!(reason, ", {} gathered", best.far);
        }
        if best.own > 0 {
            let _ = write!(reason, ", {} at places of their own in arrays of each lane", best.own);
        }
        if best.packed > 0 {
            let _ = write!(reason, ", {} packed for all rows", best.packed);
        }
        let _ = write!(reason, "; cost {} with {lanes} lanes", best.cost);
        for other in choices.iter().filter(|c| c.axis != best.axis) {
            let _ = write!(reason, ", along {} {}", name(other.axis), other.cost);
        }
        if choices.len() == 1 {
            reason += ", the only axis";
        }
        plan.decide(Decision::Lane(best.axis), reason);
    }

    /// Axes that may become the lane axis, the preferred one of equals first: the axes of the kernel from the
    /// inside, then reductions in it that may be computed in any order.
    fn lane_axes(&self, main: &Stm) -> Vec<VarId> {
        match &main.rhs {
            Rhs::Kernel { axes, body } => {
                let mut found: Vec<VarId> = axes.iter().rev().map(|axis| axis.var).collect();
                found.extend(body.stms.iter().filter_map(|stm| self.reduction_axis(&stm.rhs)));
                found
            }
            rhs => self.reduction_axis(rhs).into_iter().collect(),
        }
    }

    /// The innermost axis of a reduction that may be computed in any order and has nothing parallel inside.
    fn reduction_axis(&self, rhs: &Rhs) -> Option<VarId> {
        match rhs {
            Rhs::Reduce { axes, body, combine } => {
                let spread = spread(self.region.region(), axes, body, combine);
                let is_free = matches!(spread, Some(Spread::Neighbours | Spread::Numbers)) && is_flat(body);
                axes.last().map(|axis| axis.var).filter(|_| is_free)
            }
            Rhs::Kernel { .. }
            | Rhs::Scan { .. }
            | Rhs::Scatter { .. }
            | Rhs::Exps(_)
            | Rhs::For { .. }
            | Rhs::While { .. }
            | Rhs::If { .. }
            | Rhs::Update { .. }
            | Rhs::Manifest { .. }
            | Rhs::Array { .. } => None,
        }
    }

    /// Elements of a vector, by the widest element that is read or written.
    fn lanes(&self) -> u64 {
        let rows = self.table.reads().chain(&self.table.slices);
        let read = rows.map(|row| self.region.type_of(row.array).elem.bytes());
        let written = self.region.results().iter().map(|ty| ty.elem.bytes());
        let widest = read.chain(written).max().unwrap_or(8);
        ((self.machine.vectors.bytes() / widest) as u64).max(FEWEST_LANES)
    }

    fn price(&self, main: &Stm, axis: VarId, lanes: u64) -> Choice {
        let mut choice = Choice { axis, cost: 0, unit: 0, same: 0, far: 0, packed: 0, own: 0 };
        let trips = self.trips(axis).max(1);
        let vectors = |runs: u64| u128::from(runs / trips) * u128::from(trips.div_ceil(lanes));
        for piece in &self.work.pieces {
            let inside = piece.axes.contains(&axis);
            let runs = if inside { vectors(piece.runs) } else { piece.runs.into() };
            let mut each = u128::from(piece.operations);
            for changed in &piece.changed {
                each += u128::from(if inside && self.is_scattered(*changed, axis) {
                    choice.own += 1;
                    OWN_PLACE * lanes
                } else {
                    1
                });
            }
            for read in &piece.reads {
                let class = if inside { self.class(*read, axis) } else { Class::Broadcast };
                let is_far = matches!(class, Class::Gather(_) | Class::Tile(_));
                each += u128::from(match self.would_be_packed(main, *read, axis).filter(|_| is_far) {
                    Some(rows) => {
                        choice.packed += 1;
                        1 + lanes / rows
                    }
                    None if class == Class::Data && self.is_changed_anywhere(*read, axis) => {
                        choice.own += 1;
                        OWN_PLACE * lanes
                    }
                    None if inside && class == Class::Broadcast && self.skips_lines(*read, axis) => {
                        FAR_SAME + choice.count(class, lanes)
                    }
                    None => choice.count(class, lanes),
                });
            }
            choice.cost += runs * each;
        }
        if let Rhs::Kernel { axes, body } = &main.rhs {
            let runs: u64 = axes.iter().fold(1, |runs, a| runs.saturating_mul(self.trips(a.var)));
            for _ in &body.results {
                // Results are written row by row: the last axis is the one with neighbours in memory.
                let last = axes.last().is_some_and(|a| a.var == axis);
                let around = axes.iter().any(|a| a.var == axis);
                let class = match (last, around) {
                    (true, _) => Class::Unit,
                    (false, true) => Class::Data,
                    (false, false) => Class::Broadcast,
                };
                let each = u128::from(choice.count(class, lanes));
                choice.cost += each * if around { vectors(runs) } else { u128::from(runs) };
            }
            if axes.iter().all(|a| a.var != axis) {
                // The lanes of a reduction are combined at its end, each time.
                choice.cost += u128::from(runs) * u128::from(2 * lanes.ilog2());
            }
        }
        choice
    }

    /// What a kernel costs whose iterations run one by one.
    fn price_singly(&self, axes: &[Axis], body: &Body) -> u128 {
        let runs: u64 = axes.iter().fold(1, |runs, a| runs.saturating_mul(self.trips(a.var)));
        let pieces = self.work.pieces.iter().map(|piece| {
            let accesses = (piece.reads.len() + piece.changed.len()) as u64;
            u128::from(piece.runs) * u128::from(piece.operations + accesses)
        });
        pieces.sum::<u128>() + u128::from(runs) * body.results.len() as u128
    }

    /// Whether what an update or scatter changes inside an axis is an array that each of its lanes has one of, and its place
    /// there differs between them in no regular way.
    fn is_scattered(&self, changed: VarId, axis: VarId) -> bool {
        let row = self.table.writes().find(|row| row.role == Role::Update && row.statement == Some(changed));
        row.is_none_or(|row| self.is_own_place(row, axis))
    }

    /// Whether a read inside an axis goes to an array that each of its lanes has one of and changes at places of its own.
    fn is_changed_anywhere(&self, read: ReadId, axis: VarId) -> bool {
        let Some(read) = self.table.read(read) else { return false };
        let changes = |row: &&Row| row.role == Role::Update && row.array == read.array;
        self.table.writes().filter(changes).any(|row| self.is_own_place(row, axis))
    }

    /// Whether a read takes another cache line in every turn of the innermost loop around it, which is not that of the lanes.
    fn skips_lines(&self, read: ReadId, lane: VarId) -> bool {
        let inner = self.table.read(read).map(|row| self.table.inner(row)).unwrap_or_default();
        let innermost = inner.last().filter(|axis| **axis != lane);
        let line = CpuCosts::default().line_bytes;
        innermost.and_then(|axis| self.bytes_apart(read, *axis)).is_some_and(|bytes| bytes >= line)
    }

    fn is_own_place(&self, update: &Row, axis: VarId) -> bool {
        update.dims.iter().any(|dim| dim.value.step(axis).quality == Quality::Data)
    }

    fn class(&self, read: ReadId, axis: VarId) -> Class {
        let Some(row) = self.table.read(read) else { return Class::Data };
        let rough = |dim: &crate::index::DimIndex| dim.value.step(axis).quality == Quality::Piecewise;
        if row.dims.iter().any(rough) && !self.turns(read, axis) {
            return Class::Data;
        }
        class(&self.table, row, axis)
    }

    /// Whether neighbours along an axis read neighbours, but for one place where an index begins anew.
    fn turns(&self, read: ReadId, axis: VarId) -> bool {
        let region = self.region.region();
        let definitions = Definitions::of(&region.body);
        let Some(read) = region.all_reads().into_iter().find(|known| known.id == read) else { return false };
        let Index::Dims(dims) = &read.index else { return false };
        let mut moving = dims.iter().filter(|dim| match dim {
            DimIndex::At(at) => growth(at, axis, &definitions) != Some(0),
            DimIndex::Slice { .. } => true,
        });
        match (moving.next(), moving.next()) {
            (Some(DimIndex::At(at)), None) => turns(at, axis, &definitions),
            _ => false,
        }
    }

    fn choose_blocks(&self, plan: &mut Plan) {
        let code = self.region.region();
        let mut done: Vec<VarId> = Vec::new();
        for (exp, ty) in code.body.results.iter().zip(self.region.results()) {
            let Exp::Var(var) = exp else { continue };
            if done.contains(var) {
                continue;
            }
            done.push(*var);
            let sizes: Option<Vec<i64>> = ty.shape.iter().map(|extent| self.numbers.size(extent)).collect();
            let reason = match sizes {
                Some(sizes) => {
                    let elements = sizes.iter().fold(1i64, |n, size| n.saturating_mul((*size).max(0)));
                    let shape: String = sizes.iter().map(|size| format!("[{size}]")).collect();
                    let bytes = elements.saturating_mul(ty.elem.bytes() as i64);
                    format!("a block of its own, row-major {shape}{}, {bytes} bytes", ty.elem)
                }
                None => format!("a block of its own, row-major, of {}", ty.elem),
            };
            plan.decide(Decision::Fresh(*var), reason);
        }
    }
}

impl Choice {
    /// Counts an access, and gives its operations for a vector.
    fn count(&mut self, class: Class, lanes: u64) -> u64 {
        let (counter, operations) = match class {
            Class::Unit => (&mut self.unit, 1),
            // Loaded as one, then turned around.
            Class::UnitReversed => (&mut self.unit, 2),
            Class::Broadcast => (&mut self.same, 1),
            Class::Gather(_) | Class::Tile(_) | Class::Data => (&mut self.far, lanes),
        };
        *counter += 1;
        operations
    }
}

fn is_flat(body: &Body) -> bool {
    let mut flat = true;
    body.visit_stms(&mut |stm| flat &= stm.rhs.parallel_axes().is_empty());
    flat
}

fn choose_unchecked(region: &CheckedRegion, bounds: &Bounds, plan: &mut Plan) {
    let proven = bounds.proven();
    if proven.is_empty() {
        return;
    }
    let code = region.region();
    let mut told: Vec<String> = Vec::new();
    for read in &proven {
        let Some(Some(facts)) = bounds.reads.get(read.index()) else { continue };
        let ranges: Vec<String> = facts.dims.iter().map(|(range, _)| range.to_string()).collect();
        let extents: String = facts.dims.iter().map(|(_, extent)| format!("[{extent}]")).collect();
        let line = format!("{}[{}] inside {extents}", code.name_of(facts.array), ranges.join(", "));
        if !told.contains(&line) {
            told.push(line);
        }
    }
    let more = told.len().saturating_sub(TOLD);
    told.truncate(TOLD);
    let mut reason = told.join("; ");
    if more > 0 {
        let _ = write!(reason, "; {more} more");
    }
    plan.decide(Decision::Unchecked(proven), reason);
}

fn choose_contained(region: &CheckedRegion, bounds: &Bounds, plan: &mut Plan) {
    let contained = bounds.contained();
    if contained.is_empty() {
        return;
    }
    let (all, code) = (bounds.updates.len(), region.region());
    let names: Vec<&str> = contained.iter().take(TOLD).map(|made| code.name_of(*made)).collect();
    let more = if contained.len() > TOLD { ", .." } else { "" };
    let reason =
        format!("{} of {all} updates write inside their arrays: {}{more}", contained.len(), names.join(", "));
    plan.decide(Decision::Contained(contained), reason);
}
